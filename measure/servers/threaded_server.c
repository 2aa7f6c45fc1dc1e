// SPDX-License-Identifier: MIT
/*
 * A server with POSIX threads, for `ferry bench threads`, which runs it plainly and under `ferry
 * threads`.  Usage: threaded_server echo|queue|compute PORT|SOCKET
 *
 * Each connection has a thread, which answers a request with the same bytes:
 *
 * echo     at once
 * queue    once a worker has taken it from a queue with a mutex and conditions, and given it back
 * compute  once the thread has computed for a while
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST 32   /* bytes */
#define STACK 65536L /* bytes */
#define WORKERS 4
#define STEPS 25000 /* of a computation: some 50 us */

/* ---- a queue of requests ---- */

/* Of one connection, which waits until it is done. */
struct task {
	struct task *next;
	pthread_cond_t done;
	bool is_done;
	char data[REQUEST];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct task *first, **last;
} queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &queue.first };

static void *work(void *unused)
{
	struct task *task;

	(void)unused;
	pthread_mutex_lock(&queue.lock);
	for (;;) {
		while (!(task = queue.first))
			pthread_cond_wait(&queue.filled, &queue.lock);
		queue.first = task->next;
		if (!queue.first)
			queue.last = &queue.first;
		task->is_done = true;
		pthread_cond_signal(&task->done);
	}
	return NULL;
}

static void hand_over(struct task *task)
{
	pthread_mutex_lock(&queue.lock);
	task->next = NULL;
	task->is_done = false;
	*queue.last = task;
	queue.last = &task->next;
	pthread_cond_signal(&queue.filled);
	while (!task->is_done)
		pthread_cond_wait(&task->done, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
}

/* ---- what is done for a request ---- */

static void answer_at_once(struct task *task)
{
	(void)task;
}

/* Keeps the compiler from leaving out the steps. */
static void compute(struct task *task)
{
	volatile uint32_t state = (uint32_t)task->data[0] + 1;
	uint32_t x = state;
	long i;

	for (i = 0; i < STEPS; i++)
		x = x * 1664525U + 1013904223U + (x >> 16);
	state = x;
	(void)state;
}

static void (*answer)(struct task *task);

/* ---- connections ---- */

static void *serve(void *argument)
{
	int fd = (int)(intptr_t)argument;
	struct task task = { .done = PTHREAD_COND_INITIALIZER };

	/* The client sends a request at once and waits for the answer, so that none is split. */
	while (read(fd, task.data, REQUEST) == REQUEST) {
		answer(&task);
		if (write(fd, task.data, REQUEST) != REQUEST)
			break;
	}
	close(fd);
	pthread_cond_destroy(&task.done);
	return NULL;
}

static int bind_port(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -1 : fd;
}

static int bind_path(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -1 : fd;
}

static int listen_on(const char *where)
{
	/* NOLINTNEXTLINE(cert-err34-c): the bench gives a number */
	int fd = strchr(where, '/') ? bind_path(where) : bind_port(atoi(where));

	if (fd < 0 || listen(fd, SOMAXCONN)) {
		perror("threaded_server: cannot listen");
		exit(1);
	}
	return fd;
}

static void start_thread(void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, run, argument)) {
		fprintf(stderr, "threaded_server: no thread\n");
		exit(1);
	}
	pthread_attr_destroy(&attributes);
}

int main(int argc, char *argv[])
{
	static const struct {
		const char *name;
		void (*answer)(struct task *task);
	} kinds[] = { { "echo", answer_at_once }, { "queue", hand_over }, { "compute", compute } };
	int listener, fd, one = 1;
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			answer = kinds[i].answer;
	if (!answer) {
		fprintf(stderr, "Usage: threaded_server echo|queue|compute PORT|SOCKET\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	listener = listen_on(argv[2]);
	for (i = 0; answer == hand_over && i < WORKERS; i++)
		start_thread(work, NULL);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		start_thread(serve, (void *)(intptr_t)fd); /* NOLINT(performance-no-int-to-ptr) */
	}
	perror("threaded_server: cannot accept");
	return 1;
}
