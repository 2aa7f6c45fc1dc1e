// SPDX-License-Identifier: MIT
/*
 * Short programs whose threads once hung or starved.  `trials PART SEED` runs one, with sizes and
 * delays that the seed chooses; hangs.py runs each many times.
 *
 *	lost		a call is done while earlier ones in its ring still block
 *	blocked		many calls block, until one that was posted last is made
 *	echo		a server with a thread per connection, of which some are busy
 *	sleep		a thread sleeps while others call
 *	held-up		a thread reads what a kernel thread writes while others call
 *	standins	calls that do not block take no other runners
 *	polled		calls behind one that blocks, which are polled
 *	connect		threads connect to one that accepts late
 *
 * Exit status 0, or 1 after a sentence on standard error.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#define MOST 200

static struct ferry_flexsc *flexsc;
static uint64_t state;

/* From 0 to LIMIT - 1. */
static long choose(long limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (long)(state >> 33) % limit;
}

static void start(unsigned int flags, unsigned int runners)
{
	struct ferry_flexsc_options options = { .flags = flags, .runners = runners };

	if (ferry_flexsc_start(&flexsc, &options))
		errx(1, "flexsc does not start");
}

static struct ferry_thread *spawn(void *(*function)(void *), void *argument)
{
	struct ferry_thread *thread;

	if (ferry_thread_spawn(&thread, flexsc, function, argument))
		errx(1, "no user-level thread");
	return thread;
}

static void expect(long result, long expected)
{
	if (result != expected)
		errx(1, "a call returned %ld instead of %ld", result, expected);
}

static void pause_us(long us)
{
	const struct timespec time = { 0, us * 1000 };

	nanosleep(&time, NULL);
}

static int open_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		err(1, "no pipe");
	return fds[0];
}

/* ---- calls that block, in a runner or not ---- */

/* What a thread waits for: a byte in a pipe, or a lock, which cannot be polled. */
struct obstacle {
	int fds[2];
	int is_lock;
};

static void put_up(struct obstacle *obstacle, int is_lock)
{
	char path[] = "/tmp/ferry-trial-XXXXXX";

	obstacle->is_lock = is_lock;
	if (!is_lock) {
		open_pipe(obstacle->fds);
		return;
	}
	obstacle->fds[1] = mkstemp(path);
	obstacle->fds[0] = open(path, O_RDWR | O_CLOEXEC);
	if (obstacle->fds[0] < 0 || flock(obstacle->fds[1], LOCK_EX))
		err(1, "no lock");
	unlink(path);
}

static void *wait_at(void *argument)
{
	const struct obstacle *obstacle = argument;
	char byte;

	if (obstacle->is_lock)
		expect(ferry_thread_call3(SYS_flock, obstacle->fds[0], LOCK_SH, 0), 0);
	else
		expect(ferry_read(obstacle->fds[0], &byte, 1), 1);
	return NULL;
}

static void *remove_it(void *argument)
{
	const struct obstacle *obstacle = argument;

	expect(ferry_getpid(), getpid());
	if (obstacle->is_lock)
		expect(ferry_thread_call3(SYS_flock, obstacle->fds[1], LOCK_UN, 0), 0);
	else
		expect(ferry_write(obstacle->fds[1], "x", 1), 1);
	return NULL;
}

static void lost(void)
{
	struct ferry_thread *first, *second, *third, *other;
	struct obstacle obstacle[3];
	int i;

	start(FERRY_FLEXSC_POST_ALL, 1);
	for (i = 0; i < 3; i++)
		put_up(&obstacle[i], (int)choose(2));
	first = spawn(wait_at, &obstacle[0]);
	other = spawn(remove_it, &obstacle[0]);
	ferry_thread_join(other, NULL);
	ferry_thread_join(first, NULL);
	pause_us(choose(2000));
	second = spawn(wait_at, &obstacle[1]);
	third = spawn(wait_at, &obstacle[2]);
	other = spawn(remove_it, &obstacle[2]);
	ferry_thread_join(other, NULL);
	ferry_thread_join(third, NULL);
	other = spawn(remove_it, &obstacle[1]);
	ferry_thread_join(other, NULL);
	ferry_thread_join(second, NULL);
}

static void blocked(void)
{
	static struct obstacle obstacle[MOST];
	struct ferry_thread *waiting[MOST], *removing[MOST];
	long count = 1 + choose(MOST), i;

	start(choose(2) ? FERRY_FLEXSC_POST_ALL : 0, 1 + (unsigned int)choose(2));
	for (i = 0; i < count; i++) {
		put_up(&obstacle[i], !choose(4));
		waiting[i] = spawn(wait_at, &obstacle[i]);
	}
	for (i = 0; i < count; i++)
		removing[i] = spawn(remove_it, &obstacle[i]);
	for (i = 0; i < count; i++) {
		ferry_thread_join(removing[i], NULL);
		ferry_thread_join(waiting[i], NULL);
	}
}

static void polled(void)
{
	struct obstacle obstacle;
	long tickets[20], lock, result, i, left = 1 + choose(20), count = left;

	start(0, 1);
	put_up(&obstacle, 1);
	lock = ferry_flexsc_post(flexsc, SYS_flock, (const long[]){ obstacle.fds[0], LOCK_SH }, 2);
	for (i = 0; i < count; i++)
		tickets[i] = ferry_flexsc_post(flexsc, SYS_getpid, NULL, 0);
	while (left) {
		i = choose(count);
		if (tickets[i] < 0 || !ferry_flexsc_poll(flexsc, tickets[i], &result))
			continue;
		expect(result, getpid());
		tickets[i] = -1;
		left--;
	}
	flock(obstacle.fds[1], LOCK_UN);
	expect(ferry_flexsc_wait(flexsc, lock), 0);
}

/* ---- connections ---- */

#define REQUESTS 300

struct connection {
	int fds[2];
};

static void *serve(void *argument)
{
	const struct connection *connection = argument;
	char data[64];
	long length;

	while ((length = ferry_read(connection->fds[1], data, sizeof(data))) > 0)
		expect(ferry_write(connection->fds[1], data, (size_t)length), length);
	return NULL;
}

/* One request at a time, or one on each connection. */
static struct client {
	struct connection connections[MOST];
	long count, busy;
} client;

static void *make_requests(void *unused)
{
	char data[64];
	long i, k;

	for (i = 0; i < REQUESTS / client.busy; i++) {
		for (k = 0; k < client.busy; k++)
			expect(write(client.connections[k].fds[0], "request", 7), 7);
		for (k = 0; k < client.busy; k++)
			expect(read(client.connections[k].fds[0], data, sizeof(data)), 7);
	}
	for (k = 0; k < client.count; k++)
		close(client.connections[k].fds[0]);
	return unused;
}

static void echo(void)
{
	struct ferry_thread *servers[MOST];
	const long count = 1 + choose(64);
	pthread_t thread;
	long i;

	client.count = count;
	client.busy = choose(2) ? 1 : 1 + choose(count);
	start(choose(2) ? FERRY_FLEXSC_POST_ALL : 0, 1 + (unsigned int)choose(2));
	for (i = 0; i < count; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, client.connections[i].fds))
			err(1, "no sockets");
		servers[i] = spawn(serve, &client.connections[i]);
	}
	pthread_create(&thread, NULL, make_requests, NULL);
	for (i = 0; i < count; i++)
		ferry_thread_join(servers[i], NULL);
	pthread_join(thread, NULL);
}

static struct sockaddr_un address;
static int listener;

static void *connect_and_read(void *argument)
{
	int fd = (int)ferry_thread_call3(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	char byte;

	expect(ferry_connect(fd, (struct sockaddr *)&address, sizeof(sa_family_t) + 6), 0);
	expect(ferry_read(fd, &byte, 1), 1);
	ferry_close(fd);
	return argument;
}

static void *accept_all(void *count)
{
	long i, fd;

	ferry_thread_sleep(choose(3000000));
	for (i = 0; i < (long)count; i++) {
		fd = ferry_accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		expect(ferry_write((int)fd, "x", 1), 1);
		ferry_close((int)fd);
	}
	return NULL;
}

static void connect_many(void)
{
	struct ferry_thread *clients[MOST], *server;
	socklen_t size = sizeof(address);
	long count = 1 + choose(20), i;

	start(choose(2) ? FERRY_FLEXSC_UNCONFINED : 0, 1);
	address.sun_family = AF_UNIX;
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) ||
	    listen(listener, (int)choose(3)))
		err(1, "no listener");
	for (i = 0; i < count; i++)
		clients[i] = spawn(connect_and_read, NULL);
	server = spawn(accept_all, (void *)count);
	for (i = 0; i < count; i++)
		ferry_thread_join(clients[i], NULL);
	ferry_thread_join(server, NULL);
}

/* ---- threads that are held up while others call ---- */

static long work_ns;
static int is_over;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *call_until_over(void *argument)
{
	long end;

	while (!is_over) {
		for (end = now_ns() + work_ns; now_ns() < end;)
			;
		expect(ferry_getpid(), getpid());
	}
	return argument;
}

static void run_with_callers(void *(*function)(void *), void *argument)
{
	struct ferry_thread *callers[64], *thread;
	long count = 1 + choose(64), i;

	work_ns = choose(2) * choose(50000);
	start(choose(2) ? FERRY_FLEXSC_POST_ALL : 0, 1);
	thread = spawn(function, argument);
	for (i = 0; i < count; i++)
		callers[i] = spawn(call_until_over, NULL);
	for (i = 0; i < count; i++)
		ferry_thread_join(callers[i], NULL);
	ferry_thread_join(thread, NULL);
}

static void *sleep_thrice(void *argument)
{
	int i;

	for (i = 0; i < 3; i++)
		ferry_thread_sleep(choose(3000000));
	is_over = 1;
	return argument;
}

static void sleeper(void)
{
	run_with_callers(sleep_thrice, NULL);
}

static void *wait_and_end(void *obstacle)
{
	wait_at(obstacle);
	is_over = 1;
	return NULL;
}

static void *remove_later(void *argument)
{
	const struct obstacle *obstacle = argument;

	pause_us(3000);
	if (obstacle->is_lock ? flock(obstacle->fds[1], LOCK_UN) :
				write(obstacle->fds[1], "x", 1) != 1)
		err(1, "nothing removed");
	return NULL;
}

static void held_up(void)
{
	struct obstacle obstacle;
	pthread_t thread;

	put_up(&obstacle, (int)choose(2));
	pthread_create(&thread, NULL, remove_later, &obstacle);
	run_with_callers(wait_and_end, &obstacle);
	pthread_join(thread, NULL);
}

static void standins(void)
{
	DIR *folder;
	int tasks = -2; /* "." and ".." */

	run_with_callers(sleep_thrice, NULL);
	folder = opendir("/proc/self/task");
	while (folder && readdir(folder))
		tasks++;
	if (folder)
		closedir(folder);
	if (tasks > 2)
		errx(1, "%d kernel threads, although no call blocks", tasks);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "lost", lost },     { "blocked", blocked },	   { "echo", echo },
	{ "sleep", sleeper }, { "held-up", held_up },	   { "standins", standins },
	{ "polled", polled }, { "connect", connect_many },
};

int main(int argc, char *argv[])
{
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && argc == 3; i++) {
		if (strcmp(parts[i].name, argv[1]) != 0)
			continue;
		state = strtoull(argv[2], NULL, 10);
		parts[i].run();
		if (ferry_flexsc_stop(flexsc))
			errx(1, "flexsc does not stop");
		return 0;
	}
	fprintf(stderr, "Usage: trials PART SEED\n");
	return 2;
}
