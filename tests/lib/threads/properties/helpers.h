/* SPDX-License-Identifier: MIT */
/* What the properties share. */
#ifndef PROPERTIES_HELPERS_H
#define PROPERTIES_HELPERS_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define STACK (128 << 10)

typedef void *routine(void *argument);

extern int pair[2];
extern volatile int flag, hits;
extern pthread_t handled_by;
extern pthread_mutex_t mutex;
extern pthread_cond_t condition;
extern sem_t turn, answer; /* for the property to initialize */

/* Ends the process unless ERROR is 0. */
void check(int error, const char *what);

pthread_t start(routine *run, const void *argument);
long join(pthread_t thread);
long in_thread(routine *run, const void *argument);

/* Several threads count, on several carriers. */
void add_hits(int number);
void count_signal(int signal);
void handle(int signal, int flags);

/* Interrupts it by SIGUSR1 until it ends: it may not wait yet.  Its result. */
long interrupt(pthread_t thread);
void accept_signal(void); /* SIGUSR1 */

/* A routine: spins until flag is set; with an argument, it yields. */
void *spin(void *argument);

void nap(void);
struct timespec soon(clockid_t clock);

/* Of the kernel thread that runs the caller, whatever wraps libc's functions. */
long inline_call(long number, long a, long b, long c);
long status_of_runner(const char *key);

#endif /* PROPERTIES_HELPERS_H */
