// SPDX-License-Identifier: MIT
/* Programs that waste time, one kind for each argument: test_findings.py names them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[65536];
static int turns = 2000;
static bool cured; /* the same work without the waste */
static const char *directory;

static void check(bool good)
{
	if (good)
		return;
	perror("waste");
	exit(1);
}

static char *path_in(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int new_file(const char *name)
{
	int file = open(path_in(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(file >= 0);
	return file;
}

/* ---- the same again ---- */

static void ask_again(void)
{
	const int times = cured ? 1 : turns;
	struct stat status;
	int i;

	for (i = 0; i < times; i++)
		check(!stat("/etc/passwd", &status));
}

static void search_path(void)
{
	char path[256];
	int i, k;

	for (i = 0; i < turns / 20; i++)
		for (k = cured ? 19 : 0; k < 20; k++) {
			snprintf(path, sizeof(path), "/usr/share/directory%d/module%d.py", k, i);
			check(open(path, O_RDONLY | O_CLOEXEC) < 0);
		}
}

static void read_again(void)
{
	const int times = cured ? 1 : turns;
	int i;

	for (i = 0; i < times; i++) {
		int file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

		check(file >= 0);
		while (read(file, buffer, sizeof(buffer)) > 0)
			;
		close(file);
	}
}

static void ask_value(void)
{
	const int times = cured ? 1 : 50 * turns;
	int i;

	for (i = 0; i < times; i++) {
		syscall(SYS_getpid);
		syscall(SYS_fcntl, 1, F_GETFL);
	}
}

static void ask_time(void)
{
	struct timespec now;
	int i;

	for (i = 0; i < 50 * turns; i++)
		if (cured)
			clock_gettime(CLOCK_MONOTONIC, &now);
		else
			syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

/* ---- transfers ---- */

static void write_bytes(void)
{
	const int size = cured ? (int)sizeof(buffer) : 1;
	int file = new_file("bytes"), left;

	for (left = 50 * turns; left > 0; left -= size)
		check(write(file, buffer, (size_t)(left < size ? left : size)) > 0);
}

static int connection(int *listener)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	check(!bind(*listener, (struct sockaddr *)&address, size) && !listen(*listener, 8));
	check(!getsockname(*listener, (struct sockaddr *)&address, &size));
	check(!connect(client, (struct sockaddr *)&address, size));
	return client;
}

static void *answer(void *listener)
{
	int peer = accept(*(int *)listener, NULL, NULL);

	while (recv(peer, buffer, 24, MSG_WAITALL) == 24)
		check(send(peer, buffer, 8, 0) == 8);
	close(peer);
	return NULL;
}

/* The head and the body of a request: TCP holds the body back until the head is acknowledged. */
static void write_write_read(void)
{
	int listener, client = connection(&listener), i;
	struct iovec parts[] = { { buffer, 8 }, { buffer + 8, 16 } };
	pthread_t thread;

	check(!pthread_create(&thread, NULL, answer, &listener));
	for (i = 0; i < turns / 40; i++) {
		if (cured) {
			check(writev(client, parts, 2) == 24);
		} else {
			check(write(client, buffer, 8) == 8);
			check(write(client, buffer + 8, 16) == 16);
		}
		check(recv(client, buffer, 8, MSG_WAITALL) == 8);
	}
	close(client);
	pthread_join(thread, NULL);
}

/* ---- memory ---- */

/* By its own copy, as allocators without mremap() do. */
static void grow(void)
{
	size_t size = 65536, more, most = size + (size_t)turns / 4 * 4096;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory != MAP_FAILED);
	memset(memory, 1, size);
	while (size < most) {
		char *larger;

		more = cured ? 2 * size : size + 4096;
		larger = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
		check(larger != MAP_FAILED);
		memcpy(larger, memory, size);
		memset(larger + size, 1, 4096);
		munmap(memory, size);
		memory = larger;
		size = more;
	}
}

static void touch(void)
{
	const size_t size = (size_t)turns * 4 * 4096;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | (cured ? MAP_POPULATE : 0), -1, 0);
	size_t i;

	check(memory != MAP_FAILED);
	for (i = 0; i < size; i += 4096)
		((volatile char *)memory)[i] = 1;
}

/* ---- waiting ---- */

static void sync_rows(void)
{
	int file = new_file("rows"), i;

	for (i = 0; i < turns / 20; i++) {
		check(write(file, buffer, 100) == 100);
		if (!cured || i + 1 == turns / 20)
			check(!fdatasync(file));
	}
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work_in_lock(void *unused)
{
	const struct timespec nap = { .tv_nsec = 500000 };
	int i;

	for (i = 0; i < turns / 20; i++) {
		if (!cured)
			pthread_mutex_lock(&mutex);
		nanosleep(&nap, NULL);
		if (!cured)
			pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void share_lock(void)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		check(!pthread_create(&threads[i], NULL, work_in_lock, NULL));
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Two threads take turns, each waiting for the other for microseconds. */
static int there[2], back[2];

static void *send_back(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1)
		check(write(back[1], &byte, 1) == 1);
	return unused;
}

static void take_turns(void)
{
	pthread_t thread;
	char byte = 0;
	int i;

	check(!pipe2(there, O_CLOEXEC) && !pipe2(back, O_CLOEXEC));
	check(!pthread_create(&thread, NULL, send_back, NULL));
	for (i = 0; i < (cured ? 1 : 5 * turns); i++) {
		check(write(there[1], &byte, 1) == 1);
		check(read(back[0], &byte, 1) == 1);
	}
	close(there[1]);
	pthread_join(thread, NULL);
}

/* A server that takes a millisecond for each of several connections at a time. */
static void *serve_one(void *peer)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	char byte;

	if (read((int)(intptr_t)peer, &byte, 1) == 1) {
		nanosleep(&nap, NULL);
		check(write((int)(intptr_t)peer, &byte, 1) == 1);
	}
	close((int)(intptr_t)peer);
	return NULL;
}

static _Noreturn void serve(int listener)
{
	for (;;) {
		int peer = accept(listener, NULL, NULL);
		pthread_t thread;

		check(peer >= 0);
		check(!pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)peer));
		pthread_detach(thread);
	}
}

#define AT_ONCE 10

static void ask_server(const struct sockaddr_un *address, int at_once)
{
	int sockets[AT_ONCE], i;
	char byte = 0;

	for (i = 0; i < at_once; i++) {
		sockets[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		check(!connect(sockets[i], (const struct sockaddr *)address, sizeof(*address)));
		check(write(sockets[i], &byte, 1) == 1);
	}
	for (i = 0; i < at_once; i++) {
		check(read(sockets[i], &byte, 1) == 1);
		close(sockets[i]);
	}
}

static struct sockaddr_un server_address(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = path_in("socket");

	check(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path));
	return address;
}

/* The server is a program of its own, which is not traced: "serve" and the same directory. */
static void connect_one_by_one(void)
{
	const struct sockaddr_un address = server_address();
	const int at_once = cured ? AT_ONCE : 1;
	int i;

	for (i = 0; i < turns / 20; i += at_once)
		ask_server(&address, at_once);
}

static void listen_for_clients(void)
{
	const struct sockaddr_un address = server_address();
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(!bind(listener, (const struct sockaddr *)&address, sizeof(address)));
	check(!listen(listener, AT_ONCE));
	puts("ready");
	fflush(stdout);
	serve(listener);
}

/* ---- processes ---- */

static void start_processes(void)
{
	int i;

	for (i = 0; i < turns / 20 && !cured; i++) {
		pid_t child = fork();

		if (!child) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		check(waitpid(child, NULL, 0) == child);
	}
}

int main(int argc, char *argv[])
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "question", ask_again },
		{ "search", search_path },
		{ "reopened", read_again },
		{ "value", ask_value },
		{ "clock", ask_time },
		{ "tiny", write_bytes },
		{ "split", write_write_read },
		{ "growth", grow },
		{ "faults", touch },
		{ "sync", sync_rows },
		{ "lock", share_lock },
		{ "switches", take_turns },
		{ "one-by-one", connect_one_by_one },
		{ "serve", listen_for_clients },
		{ "processes", start_processes },
	};
	size_t i;

	if (argc < 3)
		return 2;
	directory = argv[2];
	cured = argc > 3 && !strcmp(argv[3], "cured");
	if (argc > 3 && atoi(argv[3]) > 0)
		turns = atoi(argv[3]);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1])) {
			kinds[i].run();
			return 0;
		}
	return 2;
}
