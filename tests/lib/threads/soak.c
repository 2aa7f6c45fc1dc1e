// SPDX-License-Identifier: MIT
/*
 * soak SECONDS: a server and its clients, all of them threads of one process, use the same
 * descriptor numbers again and again.  It prints "right", or ends with a status when an answer
 * belongs to another connection, or when nothing has moved for a while.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 24
#define ACCEPTORS 3
#define MOST_MESSAGES 60
#define STACK (64 << 10)
#define PATIENCE 30 /* seconds without an answer: looks of main(), so that a stop counts little */

struct message {
	unsigned int client, connection, number, pad[5];
};

static struct sockaddr_in address = { .sin_family = AF_INET };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t accepted = PTHREAD_COND_INITIALIZER;
static int waiting[CLIENTS * 2], waiters; /* connections that nobody serves yet */
static unsigned long answers;
static int over, ended;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "soak: %s\n", what);
	_exit(1);
}

static void start(void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, run, argument))
		fail("a thread could not be created");
	pthread_attr_destroy(&attributes);
}

/* ---- the server ---- */

static void *serve(void *argument)
{
	const int fd = (int)(long)argument;
	struct message message;

	while (recv(fd, &message, sizeof(message), MSG_WAITALL) == sizeof(message))
		if (send(fd, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
			break;
	close(fd);
	return NULL;
}

static void *hand_out(void *argument)
{
	int fd;

	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!waiters)
			pthread_cond_wait(&accepted, &mutex);
		fd = waiting[--waiters];
		pthread_mutex_unlock(&mutex);
		start(serve, (void *)(long)fd);
	}
	return argument;
}

static void *accept_all(void *argument)
{
	for (;;) {
		const int fd = accept((int)(long)argument, NULL, NULL);

		if (fd < 0)
			continue;
		pthread_mutex_lock(&mutex);
		if (waiters == CLIENTS * 2)
			fail("more connections than clients");
		waiting[waiters++] = fd;
		pthread_cond_signal(&accepted);
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

/* ---- a client ---- */

static void receive(int fd, unsigned int *seed, struct message *message)
{
	struct pollfd poll_for = { fd, POLLIN, 0 };
	size_t got = 0;
	ssize_t count;

	if (rand_r(seed) % 2 && poll(&poll_for, 1, -1) != 1)
		fail("poll() without a time limit returned without an event");
	for (; got < sizeof(*message); got += (size_t)count) {
		count = read(fd, (char *)message + got, sizeof(*message) - got);
		if (count <= 0)
			fail("a connection ended");
	}
}

static void talk(int fd, unsigned int client, unsigned int connection, unsigned int *seed)
{
	const unsigned int messages = rand_r(seed) % MOST_MESSAGES;
	struct message sent, received;
	unsigned int i;

	memset(&sent, 0, sizeof(sent));
	for (i = 0; i < messages; i++) {
		sent = (struct message){ .client = client, .connection = connection, .number = i };
		if (write(fd, &sent, sizeof(sent)) != sizeof(sent))
			fail("a message was not sent as a whole");
		receive(fd, seed, &received);
		if (memcmp(&sent, &received, sizeof(sent)) != 0)
			fail("an answer belongs to another message");
		__atomic_fetch_add(&answers, 1, __ATOMIC_RELAXED);
		if (rand_r(seed) % 64 == 0)
			usleep(1000);
	}
}

static void *connect_often(void *argument)
{
	const unsigned int client = (unsigned int)(long)argument;
	unsigned int seed = client, connection;

	for (connection = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); connection++) {
		const int fd = socket(AF_INET, SOCK_STREAM, 0);
		const struct linger reset = { 1, 0 }; /* ports are free at once */

		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
			fail("a client could not connect");
		talk(fd, client, connection, &seed);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(fd);
	}
	__atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* ---- all of it ---- */

static int listen_somewhere(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		fail("no port");
	return fd;
}

static void watch(int seconds)
{
	unsigned long before = 0, now;
	int second, still = 0;

	for (second = 0; second < seconds || __atomic_load_n(&ended, __ATOMIC_SEQ_CST) < CLIENTS;
	     second++) {
		sleep(1);
		if (second >= seconds)
			__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
		now = __atomic_load_n(&answers, __ATOMIC_RELAXED);
		still = now == before ? still + 1 : 0;
		before = now;
		if (still == PATIENCE)
			fail("nothing moves");
	}
}

int main(int argc, char *argv[])
{
	const int seconds = argc == 2 ? atoi(argv[1]) : 1;
	const int fd = listen_somewhere();
	long i;

	for (i = 0; i < ACCEPTORS; i++)
		start(accept_all, (void *)(long)fd);
	start(hand_out, NULL);
	for (i = 0; i < CLIENTS; i++)
		start(connect_often, (void *)i);
	watch(seconds);
	fprintf(stderr, "soak: %lu answers\n", answers);
	puts("right");
	return 0;
}
