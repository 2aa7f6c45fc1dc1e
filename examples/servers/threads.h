/* SPDX-License-Identifier: MIT */
/*
 * What differs between the builds of a server: threads, locks, and who makes the calls.
 *
 *   SERVER_FLEXSC    user-level threads, whose calls are posted
 *   SERVER_PTHREADS  a kernel thread for each connection
 *   SERVER_EVENTS    a single thread
 *
 * Calls return -errno.
 */
#ifndef SERVERS_THREADS_H
#define SERVERS_THREADS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef SERVER_FLEXSC
#include <ferry_flexsc.h>

#define SERVER_CALL(nr, a, b, c, d) ferry_thread_call(nr, (long)(a), (long)(b), (long)(c), d, 0, 0)

struct thread {
	struct ferry_thread *it;
};

extern struct ferry_flexsc *server_flexsc; /* of connections.c */

static inline int thread_start(struct thread *thread, void *(*start)(void *), void *argument)
{
	int error = server_flexsc ? 0 : ferry_flexsc_start(&server_flexsc, NULL);

	return error ? error : ferry_thread_spawn(&thread->it, server_flexsc, start, argument);
}

static inline void thread_join(struct thread *thread)
{
	ferry_thread_join(thread->it, NULL);
}

static inline void thread_sleep_ms(long ms)
{
	ferry_thread_sleep(ms * 1000000);
}

#else

static inline long server_call(long nr, long a, long b, long c, long d)
{
	long result = syscall(nr, a, b, c, d, 0, 0);

	return result < 0 ? -errno : result;
}

#define SERVER_CALL(nr, a, b, c, d) server_call(nr, (long)(a), (long)(b), (long)(c), d)

struct thread {
	pthread_t it;
};

/* The stack is that of a user-level thread. */
static inline int thread_start(struct thread *thread, void *(*start)(void *), void *argument)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	error = pthread_create(&thread->it, &attributes, start, argument);
	pthread_attr_destroy(&attributes);
	return -error;
}

static inline void thread_join(struct thread *thread)
{
	pthread_join(thread->it, NULL);
}

static inline void thread_sleep_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

#endif

/* ---- locks: never held during a call ---- */

#ifdef SERVER_PTHREADS

struct lock {
	pthread_mutex_t it;
};
#define LOCK_INIT                         \
	{                                 \
		PTHREAD_MUTEX_INITIALIZER \
	}

static inline void lock(struct lock *lock)
{
	pthread_mutex_lock(&lock->it);
}

static inline void unlock(struct lock *lock)
{
	pthread_mutex_unlock(&lock->it);
}

#else

/* User-level threads of a kernel thread switch only in calls. */
struct lock {
	char unused;
};
#define LOCK_INIT \
	{         \
		0 \
	}

static inline void lock(struct lock *lock)
{
	(void)lock;
}

static inline void unlock(struct lock *lock)
{
	(void)lock;
}

#endif

/* ---- calls ---- */

static inline long call_accept(int listener, int flags)
{
	return SERVER_CALL(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | flags);
}

#ifdef SERVER_FLEXSC
#define call_receive(fd, data, size) ferry_recv(fd, data, size, 0)
#define call_send(fd, data, size) ferry_send(fd, data, size, MSG_NOSIGNAL)
#define call_close ferry_close
#else
static inline long call_receive(int fd, void *data, size_t size)
{
	ssize_t length = recv(fd, data, size, 0);

	return length < 0 ? -errno : length;
}

static inline long call_send(int fd, const void *data, size_t size)
{
	ssize_t length = send(fd, data, size, MSG_NOSIGNAL);

	return length < 0 ? -errno : length;
}
#define call_close close
#endif

static inline long call_pread(int fd, void *data, size_t size, off_t offset)
{
	return SERVER_CALL(SYS_pread64, fd, data, size, offset);
}

/* Opens PATH for reading unless it leads out of DIRECTORY; -EXDEV then. */
static inline long call_open_beneath(int directory, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	return SERVER_CALL(SYS_openat2, directory, path, &how, sizeof(how));
}

#endif /* SERVERS_THREADS_H */
