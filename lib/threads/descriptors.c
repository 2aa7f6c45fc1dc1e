// SPDX-License-Identifier: MIT
/* Where descriptors are born, end or change their settings. */
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "binds.h"
#include "export.h"
#include "home.h"
#include "real.h"
#include "watch.h"

/* A child of vfork() has the parent's memory and descriptors of its own. */
static bool is_of_vfork(void)
{
	struct thread *thread = &ferry_self;

	if (__builtin_expect(!thread->vforked, 1))
		return false;
	if (raw3(SYS_getpid, 0, 0, 0) != thread->vforked)
		return true;
	thread->vforked = 0;
	return false;
}

static int born(int fd)
{
	if (fd >= 0 && !is_of_vfork())
		watch_forget(fd);
	return fd;
}

static int born_pair(int result, const int *fds)
{
	if (!result) {
		born(fds[0]);
		born(fds[1]);
	}
	return result;
}

/* ---- births ---- */

#define BIRTHS(X)                                                                 \
	X(socket, (int domain, int type, int protocol), (domain, type, protocol)) \
	X(dup, (int fd), (fd))                                                    \
	X(eventfd, (unsigned int value, int flags), (value, flags))               \
	X(epoll_create, (int size), (size))                                       \
	X(epoll_create1, (int flags), (flags))                                    \
	X(timerfd_create, (clockid_t clock, int flags), (clock, flags))           \
	X(inotify_init, (void), ())                                               \
	X(inotify_init1, (int flags), (flags))                                    \
	X(signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))

/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
#define X(name, parameters, arguments)             \
	EXPORT int name parameters                 \
	{                                          \
		return born(LIBC(name) arguments); \
	}
BIRTHS(X)
#undef X
/* NOLINTEND(bugprone-macro-parentheses) */

EXPORT int pipe(int fds[2])
{
	return born_pair(LIBC(pipe)(fds), fds);
}

EXPORT int pipe2(int fds[2], int flags)
{
	return born_pair(LIBC(pipe2)(fds, flags), fds);
}

EXPORT int socketpair(int domain, int type, int protocol, int fds[2])
{
	return born_pair(LIBC(socketpair)(domain, type, protocol, fds), fds);
}

static mode_t mode_of(int flags, va_list list)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

/* A FIFO is waited for here: that holds a carrier until the monitor replaces it. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
#define OPEN(name, parameters, arguments)          \
	EXPORT int name parameters                 \
	{                                          \
		va_list list;                      \
		mode_t mode;                       \
                                                   \
		va_start(list, flags);             \
		mode = mode_of(flags, list);       \
		va_end(list);                      \
		return born(LIBC(name) arguments); \
	}
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- ends ---- */

/* The layer's own descriptors are not the program's to close. */
EXPORT int close(int fd)
{
	if (is_of_vfork())
		return (int)as_libc(raw3(SYS_close, fd, 0, 0));
	if (watch_is_own(fd)) {
		errno = EBADF;
		return -1;
	}
	watch_close(fd);
	return (int)as_libc(raw3(SYS_close, fd, 0, 0));
}

EXPORT int fclose(FILE *stream)
{
	const int fd = fileno(stream);

	if (fd >= 0 && !is_of_vfork())
		watch_close(fd);
	return real()->fclose(stream);
}

static long duplicate(int from, int to, int flags)
{
	int error;

	if (from != to && !is_of_vfork()) {
		error = watch_is_own(to) ? watch_move_own(to) : 0;
		if (error)
			return as_libc(error);
		watch_close(to);
	}
	return as_libc(raw3(SYS_dup3, from, to, flags));
}

EXPORT int dup2(int from, int to)
{
	if (from != to)
		return (int)duplicate(from, to, 0);
	return as_libc(raw3(SYS_fcntl, from, F_GETFD, 0)) < 0 ? -1 : to;
}

EXPORT int dup3(int from, int to, int flags)
{
	return (int)duplicate(from, to, flags);
}

static int close_span(unsigned int first, unsigned int last, int flags)
{
	unsigned int fd;
	long result;

	if (first > last)
		return 0;
	for (fd = first; fd <= last && fd < MOST_DESCRIPTORS && !flags; fd++)
		watch_close((int)fd);
	result = raw3(SYS_close_range, first, last, flags);
	return (int)as_libc(result);
}

/* All but the layer's own. */
EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int next = first, own, least;
	int i, result;

	if (flags & CLOSE_RANGE_UNSHARE)
		binds_self("unshare");
	if (is_of_vfork() || first > last || flags & ~(int)CLOSE_RANGE_CLOEXEC)
		return (int)as_libc(raw3(SYS_close_range, first, last, flags));
	for (;;) {
		least = ~0U;
		for (i = 0; i < watch_own_count(); i++) {
			own = (unsigned int)watch_own(i);
			if (own >= next && own <= last && own < least)
				least = own;
		}
		if (least == ~0U)
			return close_span(next, last, flags);
		result = least > next ? close_span(next, least - 1, flags) : 0;
		if (result || least == last)
			return result;
		next = least + 1;
	}
}

EXPORT void closefrom(int first)
{
	close_range(first < 0 ? 0 : (unsigned int)first, ~0U, 0);
}

/* ---- settings ---- */

EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	const int result =
		(int)as_libc(raw6(SYS_setsockopt, fd, level, option, (long)value, length, 0));

	if (!result && level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
		watch_settings_changed(true);
	return result;
}

static bool waits_for_lock(int command)
{
	return command == F_SETLKW || command == F_OFD_SETLKW;
}

static int control(int fd, int command, long argument)
{
	long result;

	if (waits_for_lock(command))
		home_enter("a lock of a file");
	/* A signal for the thread that is named comes to its kernel thread. */
	result = as_libc(raw3(SYS_fcntl, fd, command, argument));
	home_leave();
	if (result >= 0 && command == F_SETFL)
		watch_settings_changed(false);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		born((int)result);
	return (int)result;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define FCNTL(name)                                    \
	EXPORT int name(int fd, int command, ...)      \
	{                                              \
		va_list list;                          \
		long argument;                         \
                                                       \
		va_start(list, command);               \
		argument = va_arg(list, long);         \
		va_end(list);                          \
		return control(fd, command, argument); \
	}
FCNTL(fcntl)
FCNTL(fcntl64)
/* NOLINTEND(bugprone-macro-parentheses) */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	long argument, result;

	va_start(list, request);
	argument = va_arg(list, long);
	va_end(list);
	result = as_libc(raw3(SYS_ioctl, fd, (long)request, argument));
	if (!result && request == FIONBIO)
		watch_settings_changed(false);
	return (int)result;
}
