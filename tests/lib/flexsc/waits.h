/* SPDX-License-Identifier: MIT */
/* What the tests of threads that wait share.  Include <cmocka.h> before. */
#ifndef WAITS_H
#define WAITS_H

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ferry_flexsc.h>

/* ThreadSanitizer reports false races in a forked child of several stacks. */
#if defined(__SANITIZE_THREAD__)
#define SKIP_IF_FORKS_CONFUSE skip()
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SKIP_IF_FORKS_CONFUSE skip()
#endif
#endif
#ifndef SKIP_IF_FORKS_CONFUSE
#define SKIP_IF_FORKS_CONFUSE (void)0
#endif

static inline int kernel_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int count = -2; /* "." and ".." */

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static inline struct ferry_thread *spawn(void **state, void *(*start)(void *), void *argument)
{
	struct ferry_thread *thread;

	assert_int_equal(ferry_thread_spawn(&thread, *state, start, argument), 0);
	return thread;
}

static inline long result_of(struct ferry_thread *thread)
{
	void *result;

	assert_int_equal(ferry_thread_join(thread, &result), 0);
	return (long)result;
}

static inline void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static inline void stream_pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static inline int listen_on(struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	assert_int_equal(bind(fd, (struct sockaddr *)address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
	assert_int_equal(listen(fd, 100), 0);
	return fd;
}

#endif /* WAITS_H */
