// SPDX-License-Identifier: MIT
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- cancellation ---- */

static void note_cleanup(void *argument)
{
	(void)argument;
	add_hits(1);
}

static void *receive_for_ever(void *argument)
{
	char byte;

	pthread_cleanup_push(note_cleanup, NULL);
	flag = 1;
	for (;;)
		recv(pair[0], &byte, 1, 0);
	pthread_cleanup_pop(0);
	return argument;
}

static void unlock(void *argument)
{
	pthread_mutex_unlock(argument);
	add_hits(1);
}

static void *wait_for_ever(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	flag = 1;
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return argument;
}

static void *sleep_for_ever(void *argument)
{
	flag = 1;
	sleep(1000);
	return argument;
}

static void cancel(routine *run)
{
	pthread_t thread = start(run, NULL);
	long result;

	while (!flag)
		nap();
	nap();
	pthread_cancel(thread);
	result = join(thread);
	printf("%d %d\n", result == (long)PTHREAD_CANCELED, hits);
}

void cancel_in_recv(void)
{
	cancel(receive_for_ever);
}

void cancel_in_condition(void)
{
	cancel(wait_for_ever);
	printf("%d\n", pthread_mutex_trylock(&mutex));
}

/* Inside of libc, on a carrier. */
static void *print_for_ever(void *argument)
{
	FILE *nowhere = fopen("/dev/null", "w");

	setvbuf(nowhere, NULL, _IONBF, 0);
	pthread_cleanup_push(note_cleanup, NULL);
	flag = 1;
	for (;;)
		fputs("word", nowhere);
	pthread_cleanup_pop(0);
	return argument;
}

void cancel_in_a_stream(void)
{
	cancel(print_for_ever);
}

/* It is free. */
static void *take_semaphore(void *argument)
{
	static sem_t semaphore;
	const struct timespec until = { .tv_sec = 1L << 32 };
	int old;

	sem_init(&semaphore, 0, 1);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	flag = 1;
	while (flag < 2)
		nap();
	pthread_setcancelstate(old, NULL);
	sem_timedwait(&semaphore, &until);
	return argument;
}

void cancel_before_a_wait(void)
{
	pthread_t thread = start(take_semaphore, NULL);

	while (!flag)
		nap();
	pthread_cancel(thread);
	flag = 2;
	printf("%d\n", join(thread) == (long)PTHREAD_CANCELED);
}

void cancel_in_sleep(void)
{
	cancel(sleep_for_ever);
}

static void *defer(void *argument)
{
	int old;

	(void)argument;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	flag = 1;
	while (flag < 2)
		nap();
	hits = 1;
	pthread_setcancelstate(old, NULL);
	pthread_testcancel();
	hits = 2;
	return NULL;
}

void cancel_when_enabled(void)
{
	pthread_t thread = start(defer, NULL);
	long result;

	while (!flag)
		nap();
	pthread_cancel(thread);
	flag = 2;
	result = join(thread);
	printf("%d %d\n", result == (long)PTHREAD_CANCELED, hits);
}

/* ---- cancellation in calls that carried threads make at home ---- */

static void wait_in_pause(void)
{
	pause();
}

static void wait_in_sigwait(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &signal);
}

static void wait_in_join(void)
{
	pthread_join(start(sleep_for_ever, NULL), NULL);
}

static void wait_in_msgrcv(void)
{
	const int queue = msgget(IPC_PRIVATE, 0600);
	struct {
		long type;
		char text[8];
	} message;

	flag = 2 + queue;
	msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static void wait_in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	pselect(pair[1] + 1, &set, NULL, NULL, NULL, NULL);
}

static void wait_in_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, pair[1], &event);
	epoll_wait(epoll, &event, 1, -1);
}

static void wait_in_recvmmsg(void)
{
	char byte;
	struct iovec buffer = { &byte, 1 };
	struct mmsghdr message = { { .msg_iov = &buffer, .msg_iovlen = 1 }, 0 };

	recvmmsg(pair[1], &message, 1, 0, NULL);
}

static void wait_in_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t size = sizeof(sa_family_t); /* the kernel chooses a name */
	int i;

	if (bind(listener, (const struct sockaddr *)&address, size))
		exit(2);
	listen(listener, 0);
	size = sizeof(address);
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (i = 0; i < 3; i++)
		(void)!connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr *)&address,
			       size);
}

static void *wait_at_home(void *argument)
{
	void (*const wait)(void) = (void (*)(void))argument;

	pthread_cleanup_push(note_cleanup, NULL);
	nap();
	flag = 1;
	for (;;)
		wait();
	pthread_cleanup_pop(0);
	return NULL;
}

void cancel_in_calls_at_home(void)
{
	static void (*const waits[])(void) = { wait_in_pause,	 wait_in_sigwait, wait_in_join,
					       wait_in_msgrcv,	 wait_in_select,  wait_in_epoll,
					       wait_in_recvmmsg, wait_in_connect };
	size_t i;

	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		pthread_t thread;

		flag = 0;
		thread = start(wait_at_home, (const void *)waits[i]);
		while (!flag)
			nap();
		usleep(20000);
		pthread_cancel(thread);
		printf("%d ", join(thread) == (long)PTHREAD_CANCELED);
		printf("%d\n", hits);
		if (flag > 1)
			msgctl(flag - 2, IPC_RMID, NULL);
	}
}

static pthread_barrier_t alone;

/* Of these calls, only the last is a cancellation point. */
static void *call_while_cancelled(void *argument)
{
	char name[16];
	cpu_set_t set;

	pthread_barrier_init(&alone, NULL, 1);
	nap();
	flag = 1;
	while (flag < 2)
		;
	sched_yield();
	add_hits(1);
	kill(getpid(), 0);
	add_hits(1);
	pthread_barrier_wait(&alone);
	add_hits(1);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	sched_getaffinity(0, sizeof(set), &set);
	add_hits(1);
	syscall(SYS_sched_getscheduler, 0);
	add_hits(1);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	add_hits(1);
	if (setuid(getuid()))
		exit(2);
	add_hits(1);
	fsync(0);
	add_hits(1000);
	return argument;
}

void cancelled_threads_go_on_until_a_point(void)
{
	pthread_t thread = start(call_while_cancelled, NULL);

	while (!flag)
		nap();
	pthread_cancel(thread);
	flag = 2;
	printf("%d ", join(thread) == (long)PTHREAD_CANCELED);
	printf("%d\n", hits);
}

/* ---- threads that were cancelled are forgotten ---- */

/* Their stacks are too large for libc to keep: whoever still looks there ends by SIGSEGV. */
static void *take_signal(void *argument)
{
	accept_signal();
	while (!hits)
		sem_wait(&turn);
	return argument;
}

static pthread_t start_large(routine *run)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 48 << 20);
	check(pthread_create(&thread, &attributes, run, NULL), "pthread_create");
	pthread_attr_destroy(&attributes);
	return thread;
}

void cancelled_threads_are_forgotten(void)
{
	pthread_t threads[8], taker;
	sigset_t set;
	int i;

	sem_init(&turn, 0, 0);
	handle(SIGUSR1, 0);
	for (i = 0; i < 8; i++)
		threads[i] = start_large(wait_for_ever);
	nap();
	for (i = 0; i < 8; i++)
		pthread_cancel(threads[i]);
	for (i = 0; i < 8; i++)
		printf("%d\n", (void *)join(threads[i]) == PTHREAD_CANCELED);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	hits = 0; /* of clean-up handlers */
	taker = start(take_signal, NULL);
	/* As in interrupt(), but whoever is alive may take it. */
	do {
		kill(getpid(), SIGUSR1);
		nap();
	} while (pthread_tryjoin_np(taker, NULL));
	puts("taken");
}
