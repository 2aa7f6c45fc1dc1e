/* SPDX-License-Identifier: MIT */
/* libc's functions behind the ones of this library that have their names. */
#ifndef THREADS_REAL_H
#define THREADS_REAL_H

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"

/* Functions that more than their wrappers call, or that a handler may be the first to call. */
/* clang-format off */
#define REAL_FUNCTIONS(X) \
	X(accept4) \
	X(close) \
	X(clock_nanosleep) \
	X(epoll_pwait) \
	X(fclose) \
	X(poll) \
	X(ppoll) \
	X(pthread_cancel) \
	X(pthread_cond_broadcast) \
	X(pthread_cond_clockwait) \
	X(pthread_cond_signal) \
	X(pthread_cond_timedwait) \
	X(pthread_cond_wait) \
	X(pthread_create) \
	X(pthread_join) \
	X(pthread_tryjoin_np) \
	X(pthread_kill) \
	X(pthread_mutex_clocklock) \
	X(pthread_rwlock_clockrdlock) \
	X(pthread_rwlock_clockwrlock) \
	X(pthread_sigmask) \
	X(pthread_sigqueue) \
	X(read) \
	X(readv) \
	X(recvfrom) \
	X(recvmsg) \
	X(select) \
	X(sem_clockwait) \
	X(sem_post) \
	X(sem_trywait) \
	X(sem_wait) \
	X(sendmsg) \
	X(sendto) \
	X(sigaction) \
	X(signal) \
	X(ssignal) \
	X(sysv_signal) \
	X(write) \
	X(writev)
/* clang-format on */

/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
struct real {
#define X(name) __typeof__(&name) name;
	REAL_FUNCTIONS(X)
#undef X
};
/* NOLINTEND(bugprone-macro-parentheses) */

extern struct real real_functions __attribute__((visibility("hidden")));
extern bool real_found __attribute__((visibility("hidden")));
void real_find(void);

/* Also before constructors have run. */
static inline const struct real *real(void)
{
	if (__builtin_expect(!__atomic_load_n(&real_found, __ATOMIC_ACQUIRE), 0))
		real_find();
	return &real_functions;
}

/* The function NAME of the libraries after this one; ends the process if there is none. */
void *real_function(const char *name);

/*
 * Under names that this library does not define, so that they need no look-up: an allocator that
 * takes a lock during dlsym() would come back here.
 */
int real_mutex_lock(pthread_mutex_t *mutex);
int real_mutex_trylock(pthread_mutex_t *mutex);
int real_mutex_unlock(pthread_mutex_t *mutex);
int real_rwlock_rdlock(pthread_rwlock_t *lock);
int real_rwlock_wrlock(pthread_rwlock_t *lock);
int real_rwlock_unlock(pthread_rwlock_t *lock);
__asm__(".symver real_mutex_lock,__pthread_mutex_lock@" LIBC_VERSION "\n"
	".symver real_mutex_trylock,__pthread_mutex_trylock@" LIBC_VERSION "\n"
	".symver real_mutex_unlock,__pthread_mutex_unlock@" LIBC_VERSION "\n"
	".symver real_rwlock_rdlock,__pthread_rwlock_rdlock@" LIBC_VERSION "\n"
	".symver real_rwlock_wrlock,__pthread_rwlock_wrlock@" LIBC_VERSION "\n"
	".symver real_rwlock_unlock,__pthread_rwlock_unlock@" LIBC_VERSION "\n");

#endif /* THREADS_REAL_H */
