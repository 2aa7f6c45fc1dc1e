// SPDX-License-Identifier: MIT
/* An echo server, which does nothing but wait: one process serves, another sends requests. */
#include "flexsc.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/messages.h"
#include "measure/harness/clock.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/machine.h"
#include "common/memory.h"
#include "measure/harness/random.h"
#include "sides.h"

#define MOST 64	     /* connections */
#define REQUEST 32   /* bytes */
#define STACK 65536L /* of a thread, bytes */

/* How many connections there are, and how many of them have a request under way at a time. */
static const struct plan {
	const char *name;
	size_t connections, active;
} plans[] = {
	{ "echo 1 of 8", 8, 1 },
	{ "echo 1 of 64", 64, 1 },
	{ "echo 64 of 64", 64, 64 },
};

/* What a request took, in ns. */
struct taken {
	double wall, cpu; /* of the client's clock, of all threads of the server */
};

struct echo {
	int cpus[2];
	long requests;
	struct side *sides;
	struct taken *taken; /* shared with the client, which measures it */
	int clients[MOST], servers[MOST];
};

/* ---- the client ---- */

static bool ask(int fd)
{
	char data[REQUEST] = { 0 };

	return write(fd, data, sizeof(data)) == sizeof(data);
}

static bool hear(int fd)
{
	char data[REQUEST];

	return recv(fd, data, sizeof(data), MSG_WAITALL) == sizeof(data);
}

/* One request at a time, each on any connection. */
static bool ask_in_turn(const struct echo *echo, size_t connections, long requests)
{
	struct random random = { 1 };
	long i;

	for (i = 0; i < requests && !interrupted(); i++) {
		int fd = echo->clients[random_below(&random, connections)];

		if (!ask(fd) || !hear(fd))
			return false;
	}
	return true;
}

static int watch(const int fds[], size_t count)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	size_t i;

	for (i = 0; i < count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fds[i] };

		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
	}
	return epoll;
}

static bool ask_all(const struct echo *echo, size_t connections, long requests)
{
	struct epoll_event events[MOST];
	int epoll = watch(echo->clients, connections), got, i;
	long sent = 0, heard = 0;

	for (; sent < (long)connections; sent++)
		if (!ask(echo->clients[sent]))
			return false;
	for (; heard < sent && !interrupted(); heard += got) {
		got = epoll_wait(epoll, events, MOST, -1);
		if (got < 0)
			return false;
		for (i = 0; i < got; i++) {
			if (!hear(events[i].data.fd))
				return false;
			if (sent < requests && !ask(events[i].data.fd))
				return false;
			sent += sent < requests;
		}
	}
	close(epoll);
	return true;
}

/* The CPU time of another process: that of a thread that runs is up to a tick old. */
static double server_cpu_ns(void)
{
	clockid_t clock;

	return clock_getcpuclockid(getppid(), &clock) ? 0 : clock_ns(clock);
}

/* The first requests warm up. */
static _Noreturn void be_client(const struct echo *echo, const struct plan *plan)
{
	bool (*run)(const struct echo *, size_t, long) = plan->active > 1 ? ask_all : ask_in_turn;
	struct taken start;

	if (!run(echo, plan->connections, echo->requests / 4))
		_exit(1);
	start = (struct taken){ now_ns(), server_cpu_ns() };
	if (!run(echo, plan->connections, echo->requests))
		_exit(1);
	echo->taken->wall = (now_ns() - start.wall) / (double)echo->requests;
	echo->taken->cpu = (server_cpu_ns() - start.cpu) / (double)echo->requests;
	_exit(0);
}

/* ---- the servers: until the client closes its end ---- */

static void *serve_plainly(void *argument)
{
	int fd = *(const int *)argument;
	char data[REQUEST];
	ssize_t length;

	while ((length = read(fd, data, sizeof(data))) > 0 &&
	       write(fd, data, (size_t)length) == length)
		;
	return NULL;
}

static bool serve_by_pthreads(struct echo *echo, size_t connections)
{
	pthread_t threads[MOST];
	pthread_attr_t attributes;
	size_t i;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (i = 0; i < connections; i++)
		if (pthread_create(&threads[i], &attributes, serve_plainly, &echo->servers[i]))
			return false;
	pthread_attr_destroy(&attributes);
	for (i = 0; i < connections; i++)
		pthread_join(threads[i], NULL);
	return true;
}

static bool serve_by_epoll(struct echo *echo, size_t connections)
{
	struct epoll_event events[MOST];
	int epoll = watch(echo->servers, connections), got, i;
	char data[REQUEST];
	size_t left;

	for (left = connections; left;) {
		got = epoll_wait(epoll, events, MOST, -1);
		for (i = 0; i < got; i++) {
			int fd = events[i].data.fd;
			ssize_t length = read(fd, data, sizeof(data));

			if (length > 0 && write(fd, data, (size_t)length) == length)
				continue;
			epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
			left--;
		}
	}
	close(epoll);
	return true;
}

/* ---- a trial ---- */

static void close_all(const int fds[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		close(fds[i]);
}

static bool connect_all(struct echo *echo, size_t count)
{
	int pair[2];
	size_t i;

	for (i = 0; i < count; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
			complain("bench: no socket: %s", strerror(errno));
			return false;
		}
		echo->clients[i] = pair[0];
		echo->servers[i] = pair[1];
	}
	return true;
}

static int run_trial(void *context, size_t index, size_t trial, double *ns)
{
	static bool (*const serve[BUILDS])(struct echo *, size_t) = { serve_by_pthreads,
								      serve_by_epoll };
	struct echo *echo = context;
	struct side *side = &echo->sides[index];
	const struct plan *plan = &plans[index / BUILDS];
	int status = -1;
	pid_t client;
	bool served;

	(void)trial;
	if (!connect_all(echo, plan->connections))
		return EXIT_FOUND;
	use_cpus(echo->cpus[0], echo->cpus[1]);
	client = fork();
	if (!client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_all(echo->servers, plan->connections);
		be_client(echo, plan);
	}
	close_all(echo->clients, plan->connections);
	served = client > 0 && serve[side->build](echo, plan->connections);
	close_all(echo->servers, plan->connections);
	if (client > 0)
		waitpid(client, &status, 0);
	if (!interrupted() && (!served || status))
		return failed("bench: %s failed", side->name);
	side->cpu += echo->taken->cpu;
	*ns = echo->taken->wall;
	return 0;
}

int echo_measure(struct run *run, struct side **sides, size_t *count)
{
	const char *names[COUNT_OF(plans)];
	struct echo echo = { .requests = 2 * flexsc_settings(run)->calls,
			     .taken = share(sizeof(struct taken)) };
	int *cpus, status;
	size_t i;

	for (i = 0; i < COUNT_OF(plans); i++)
		names[i] = plans[i].name;
	echo.cpus[1] = list_cpus(&cpus) > 1 ? cpus[0] : -1;
	echo.cpus[0] = sched_getcpu();
	*count = COUNT_OF(plans) * BUILDS;
	*sides = echo.sides = sides_of(names, COUNT_OF(plans));
	status = sides_measure(run, *sides, *count, run_trial, &echo);
	unshare_memory(echo.taken, sizeof(*echo.taken));
	return status;
}
