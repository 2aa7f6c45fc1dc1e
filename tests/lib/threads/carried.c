// SPDX-License-Identifier: MIT
/* What only `ferry threads` does: one case a run. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MANY 2000
#define STACK PTHREAD_STACK_MIN
#define WAITS 40 /* more than a thread needs to be carried */

static int pair[2];
static volatile int started;

static bool own_stacks;

static pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (own_stacks)
		pthread_attr_setstack(&attributes, aligned_alloc(4096, STACK), STACK);
	if (pthread_create(&thread, &attributes, run, argument))
		exit(2);
	return thread;
}

/* ---- a descriptor is closed while a thread waits for it ---- */

static void *receive(void *argument)
{
	char byte;
	ssize_t count;

	(void)argument;
	started = 1;
	count = recv(pair[0], &byte, 1, 0);
	printf("%zd %s\n", count, strerror(errno));
	return NULL;
}

static void close_it(void)
{
	pthread_t thread = start(receive, NULL);

	while (!started)
		usleep(1000);
	usleep(50000);
	close(pair[0]);
	pthread_join(thread, NULL);
}

/* ---- many threads wait at a time, and each is answered ---- */

static int sockets[MANY][2];

static void *echo(void *argument)
{
	const int fd = sockets[(long)argument][0];
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		send(fd, &byte, 1, 0);
	return NULL;
}

static void many(void)
{
	static pthread_t threads[MANY];
	long i;
	int round;
	char byte;

	for (i = 0; i < MANY; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]))
			exit(2);
	for (i = 0; i < MANY; i++)
		threads[i] = start(echo, (void *)i);
	for (round = 0; round < WAITS; round++) {
		for (i = 0; i < MANY; i++)
			send(sockets[i][1], "x", 1, 0);
		for (i = 0; i < MANY; i++)
			if (recv(sockets[i][1], &byte, 1, 0) != 1)
				exit(2);
	}
	for (i = 0; i < MANY; i++)
		shutdown(sockets[i][1], SHUT_RDWR);
	for (i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
}

/* ---- a thread that is alone gains nothing on a carrier ---- */

#define REQUESTS 4000 /* more than it takes to see that */

static void *answer(void *argument)
{
	char byte;

	while (recv(pair[0], &byte, 1, 0) == 1)
		send(pair[0], &byte, 1, 0);
	return argument;
}

static void alone(void)
{
	pthread_t thread = start(answer, NULL);
	char byte;
	int i;

	for (i = 0; i < REQUESTS; i++) {
		send(pair[1], "x", 1, 0);
		if (recv(pair[1], &byte, 1, 0) != 1)
			exit(2);
	}
	shutdown(pair[1], SHUT_RDWR);
	pthread_join(thread, NULL);
}

/* ---- a thread asks for its CPU clock, and creates one ---- */

static void *sleep_often(void *argument)
{
	int i;

	for (i = 0; i < WAITS; i++)
		usleep(10);
	return argument;
}

static void *ask_for_clock(void *argument)
{
	clockid_t clock;

	if (pthread_getcpuclockid(pthread_self(), &clock))
		exit(2);
	pthread_join(start(sleep_often, NULL), NULL);
	return argument;
}

/* ---- threads that are left native ---- */

static void *loop(void *argument)
{
	const int epoll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	char byte;
	int i;

	epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
	for (i = 0; i < 4 * WAITS; i++) {
		epoll_wait(epoll, &event, 1, -1);
		recv(pair[0], &byte, 1, 0);
		send(pair[0], &byte, 1, 0);
	}
	return argument;
}

static long cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000L +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000L;
}

/* Before each answer, or for longer before one. */
static void *compute(void *once)
{
	char byte;
	int i;

	for (i = 0; i < 4 * WAITS; i++) {
		long end;

		recv(pair[0], &byte, 1, 0);
		end = cpu_ns() + (!once ? 1000000 : i == 12 ? 10000000 : 0);
		while (cpu_ns() < end)
			;
		send(pair[0], &byte, 1, 0);
	}
	return NULL;
}

/* For long before some answers, once it is carried. */
static void *compute_often(void *argument)
{
	char byte;
	int i;

	for (i = 0; i < 4 * WAITS; i++) {
		long end;

		recv(pair[0], &byte, 1, 0);
		end = cpu_ns() + (i > 2 * WAITS && i % 8 == 0 ? 15000000 : 0);
		while (cpu_ns() < end)
			;
		send(pair[0], &byte, 1, 0);
	}
	return argument;
}

static void *compute_once(void *argument)
{
	(void)argument;
	return compute("once");
}

static void ask(void *(*run)(void *))
{
	pthread_t thread = start(run, NULL);
	char byte;
	int i;

	for (i = 0; i < 4 * WAITS; i++) {
		usleep(1000); /* so that it waits */
		send(pair[1], "x", 1, 0);
		if (recv(pair[1], &byte, 1, 0) != 1)
			exit(2);
	}
	pthread_join(thread, NULL);
}

/* ---- a server on its standard input, whose main thread blocks SIGTERM ---- */

static void *serve(void *argument)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1)
		if (write(STDOUT_FILENO, &byte, 1) != 1)
			exit(2);
	return argument;
}

static void serve_until_sigterm(void)
{
	pthread_t thread = start(serve, NULL);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char *argv[])
{
	if (argc != 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	own_stacks = !strcmp(argv[1], "own_stacks");
	if (!strcmp(argv[1], "close"))
		close_it();
	else if (!strcmp(argv[1], "many"))
		many();
	else if (!strcmp(argv[1], "alone"))
		alone();
	else if (!strcmp(argv[1], "event_loop"))
		ask(loop);
	else if (!strcmp(argv[1], "serve"))
		serve_until_sigterm();
	else if (!strcmp(argv[1], "clock"))
		pthread_join(start(ask_for_clock, NULL), NULL);
	else if (!strcmp(argv[1], "busy"))
		ask(compute);
	else if (!strcmp(argv[1], "busy_often"))
		ask(compute_often);
	else if (!strcmp(argv[1], "busy_once"))
		ask(compute_once);
	return 0;
}
