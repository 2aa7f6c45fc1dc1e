// SPDX-License-Identifier: MIT
#include "waiting_many.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>

#include <ferry/rawcall.h>

#include "here.h"
#include "post.h"
#include "spin.h"

/* Descriptors of a poll() that need no memory of their own. */
#define FEW 16

long ferry__poll_now(const struct pollfd *fds, unsigned long count)
{
	return ferry_rawcall(SYS_ppoll, (long)fds, (long)count, (long)&(struct timespec){ 0 }, 0, 0,
			     0);
}

long ferry__wait_for_events(struct scheduler *s, struct interest interests[], unsigned int count,
			    bool takes, long until)
{
	struct wait wait = { s->current, interests, count, .takes = takes };
	int error = ferry__poller_enlist(s, &wait);

	if (error)
		return error;
	ferry__scheduler_wait_until(s, until);
	if (wait.over)
		return wait.result;
	ferry__poller_end_wait(&s->poller, &wait, 0);
	return -ETIMEDOUT;
}

bool ferry__cannot_be_polled(long error)
{
	return error == -EPERM || error == -ELOOP || error == -ENOSPC || error == -ENOMEM;
}

/* ---- the caller's memory, which the kernel reports if it is none ---- */

/* Asks for a change of the signal mask that does not exist, after it has been read. */
static bool is_readable_word(const void *word)
{
	return ferry_rawcall(SYS_rt_sigprocmask, -1, (long)word, 0, sizeof(long), 0, 0) != -EFAULT;
}

/* Of at most a page, and of a long or more; NULL can be left out. */
static bool is_readable(const void *memory, size_t size)
{
	return !memory || !size ||
	       (is_readable_word(memory) &&
		is_readable_word((const char *)memory + size - sizeof(long)));
}

/* Whether there is room for a struct timespec, which is overwritten. */
static bool is_writable_time(void *time)
{
	return !ferry_rawcall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)time, 0, 0, 0, 0);
}

/* ---- poll ---- */

static long until_of(long milliseconds)
{
	return milliseconds < 0 ? LONG_MAX : clock_ns() + milliseconds * 1000000L;
}

static unsigned int interests_of(const struct pollfd *fds, unsigned long count,
				 struct interest interests[])
{
	unsigned int used = 0;
	unsigned long i;

	for (i = 0; i < count; i++) {
		if (fds[i].fd < 0)
			continue;
		interests[used].fd = fds[i].fd;
		interests[used].events = (unsigned short)fds[i].events | EPOLLERR | EPOLLHUP;
		used++;
	}
	return used;
}

/*
 * poll() and select() report themselves what was closed, for which a wait ends with EBADF, and
 * O_NONBLOCK, for which it ends with EAGAIN, does not concern them.
 */
static bool is_to_look_again(long result)
{
	return !result || result == -EBADF || result == -EAGAIN;
}

static long poll_and_wait(struct scheduler *s, const struct pollfd *fds, unsigned long count,
			  struct interest interests[], long until)
{
	unsigned int used;
	long result;

	while (!(result = ferry__poll_now(fds, count))) {
		used = interests_of(fds, count, interests);
		result = ferry__wait_for_events(s, interests, used, false, until);
		if (result == -ETIMEDOUT)
			return 0;
		if (!is_to_look_again(result))
			return result;
	}
	ferry__scheduler_took_turn(s);
	return result;
}

static long poll_until(struct scheduler *s, struct pollfd *fds, unsigned long count, long until)
{
	struct interest few[FEW], *interests = few;
	long result;

	result = ferry__poll_now(fds, count);
	if (result || until <= clock_ns())
		return result;
	if (count > FEW)
		interests = malloc(count * sizeof(*interests));
	if (!interests)
		return -ENOMEM;
	result = poll_and_wait(s, fds, count, interests, until);
	if (interests != few)
		free(interests);
	return result;
}

static bool is_possible(const struct timespec *limit)
{
	return !limit ||
	       (limit->tv_sec >= 0 && limit->tv_nsec >= 0 && limit->tv_nsec < 1000000000L);
}

bool ferry__is_limit(const struct timespec *limit)
{
	return is_readable(limit, sizeof(*limit)) && is_possible(limit);
}

/* Decades count as no limit: so many nanoseconds might not fit a long. */
long ferry__until_limit(const struct timespec *limit)
{
	return limit && limit->tv_sec <= INT_MAX ? clock_ns() + ns_of(limit) : LONG_MAX;
}

struct timespec ferry__rest_until(long until)
{
	long left = until - clock_ns();

	return timespec_of(left > 0 ? left : 0);
}

void ferry__store_rest(struct timespec *limit, long until)
{
	if (limit && is_writable_time(limit))
		*limit = ferry__rest_until(until);
}

/* Without a signal mask it is poll() with another limit, in which it stores the time left. */
static long poll_with_timespec(struct scheduler *s, const __s64 arg[])
{
	struct timespec *limit = (struct timespec *)arg[2];
	long result, until;

	if (arg[3] || !ferry__is_limit(limit))
		return ferry__call_here(SYS_ppoll, arg);
	until = ferry__until_limit(limit);
	result = poll_until(s, (struct pollfd *)arg[0], (unsigned int)arg[1], until);
	ferry__store_rest(limit, until);
	return result;
}

static long wait_for_epoll(struct scheduler *s, long nr, const __s64 arg[])
{
	const __s64 now[] = { arg[0], arg[1], arg[2], 0, 0, 0 };
	long result, until = until_of((int)arg[3]);
	struct interest interest;

	if (nr == SYS_epoll_pwait && arg[4])
		return ferry__call_here(SYS_epoll_pwait, arg);
	while (!(result = ferry__call_here(SYS_epoll_pwait, now)) && (int)arg[3]) {
		interest = (struct interest){ .fd = (int)arg[0], .events = EPOLLIN };
		result = ferry__wait_for_events(s, &interest, 1, false, until);
		if (result)
			return result == -ETIMEDOUT ? 0 : result;
	}
	ferry__scheduler_took_turn(s);
	return result;
}

/* ---- select ---- */

#define SETS 3 /* to read, to write, exceptions */
#define BITS (8 * sizeof(long))

struct select {
	long count;		  /* of descriptors, from 0 on */
	unsigned long *set[SETS]; /* the caller's; any may be NULL */
	unsigned long asked[SETS][FD_SETSIZE / BITS];
};

static size_t bytes_of_sets(const struct select *select)
{
	return ((size_t)select->count + BITS - 1) / BITS * sizeof(long);
}

/* Copies the caller's sets: false if there are too many descriptors, or no memory. */
static bool note_sets(struct select *select, const __s64 arg[])
{
	int i;

	select->count = (int)arg[0];
	if (select->count < 0 || select->count > FD_SETSIZE)
		return false;
	for (i = 0; i < SETS; i++) {
		select->set[i] = (unsigned long *)arg[1 + i];
		if (!is_readable(select->set[i], bytes_of_sets(select)))
			return false;
		if (select->set[i])
			memcpy(select->asked[i], select->set[i], bytes_of_sets(select));
	}
	return true;
}

/* Stores in the caller's sets what it has asked for. */
static void restore_sets(struct select *select)
{
	int i;

	for (i = 0; i < SETS; i++)
		if (select->set[i])
			memcpy(select->set[i], select->asked[i], bytes_of_sets(select));
}

/* Stores the answer in the caller's sets. */
static long select_now(struct select *select)
{
	struct timespec none = { 0 };

	return ferry_rawcall(SYS_pselect6, select->count, (long)select->set[0],
			     (long)select->set[1], (long)select->set[2], (long)&none, 0);
}

static unsigned int events_asked(const struct select *select, unsigned long fd)
{
	static const unsigned int events[SETS] = { EPOLLIN, EPOLLOUT, EPOLLPRI };
	unsigned int asked = 0;
	int i;

	for (i = 0; i < SETS; i++)
		if (select->asked[i][fd / BITS] >> fd % BITS & 1)
			asked |= events[i];
	return asked;
}

static unsigned int interests_of_select(const struct select *select, struct interest interests[])
{
	unsigned int used = 0, asked;
	long fd;

	for (fd = 0; fd < select->count; fd++) {
		asked = events_asked(select, (unsigned long)fd);
		if (!asked)
			continue;
		interests[used].fd = (int)fd;
		interests[used].events = asked | EPOLLERR | EPOLLHUP;
		used++;
	}
	return used;
}

static long select_and_wait(struct scheduler *s, struct select *select, long until)
{
	struct interest *interests = calloc((size_t)select->count + 1, sizeof(*interests));
	unsigned int count;
	long result;

	if (!interests)
		return -ENOMEM;
	count = interests_of_select(select, interests);
	do {
		result = ferry__wait_for_events(s, interests, count, false, until);
		if (result == -ETIMEDOUT)
			break;
		restore_sets(select);
		if (is_to_look_again(result))
			result = select_now(select);
	} while (!result);
	free(interests);
	ferry__scheduler_took_turn(s);
	return result == -ETIMEDOUT ? 0 : result;
}

/* After a time limit the sets are empty, as select_now() has left them. */
static long select_until(struct scheduler *s, long nr, const __s64 arg[], long until)
{
	struct select select = { 0 };
	long result;

	if (!note_sets(&select, arg))
		return ferry__post(s, nr, arg);
	result = select_now(&select);
	if (result || until <= clock_ns())
		return result;
	return select_and_wait(s, &select, until);
}

static long wait_in_pselect(struct scheduler *s, const __s64 arg[])
{
	struct timespec *limit = (struct timespec *)arg[4];
	const long *mask = (const long *)arg[5];
	long result, until;

	if (!is_readable(mask, sizeof(*mask)) || (mask && *mask) || !ferry__is_limit(limit))
		return ferry__call_here(SYS_pselect6, arg);
	until = ferry__until_limit(limit);
	result = select_until(s, SYS_pselect6, arg, until);
	ferry__store_rest(limit, until);
	return result;
}

#ifdef SYS_select
static long wait_in_select(struct scheduler *s, const __s64 arg[])
{
	struct timeval *limit = (struct timeval *)arg[4];
	struct timespec left = { 0 };
	long result, until;

	if (!is_readable(limit, sizeof(*limit)))
		return ferry__post(s, SYS_select, arg);
	if (limit)
		left = (struct timespec){ limit->tv_sec, limit->tv_usec * 1000 };
	if (!is_possible(&left))
		return ferry__post(s, SYS_select, arg);
	until = ferry__until_limit(limit ? &left : NULL);
	result = select_until(s, SYS_select, arg, until);
	left = ferry__rest_until(until);
	if (limit && is_writable_time(limit))
		*limit = (struct timeval){ left.tv_sec, left.tv_nsec / 1000 };
	return result;
}
#endif

/* ---- splice, tee, vmsplice ---- */

/* The descriptors that the call reads and writes: how many. */
static int ends_of(long nr, const __s64 arg[], struct pollfd ends[])
{
	long flags = ferry_rawcall(SYS_fcntl, arg[0], F_GETFL, 0, 0, 0, 0);

	ends[0] = (struct pollfd){ .fd = (int)arg[0], .events = POLLIN };
	if (nr == SYS_vmsplice) {
		if ((flags & O_ACCMODE) != O_RDONLY)
			ends[0].events = POLLOUT;
		return 1;
	}
	ends[1] = (struct pollfd){ .fd = (int)arg[nr == SYS_tee ? 1 : 2], .events = POLLOUT };
	return 2;
}

static bool is_pipe(long fd)
{
	return ferry_rawcall(SYS_fcntl, fd, F_GETPIPE_SZ, 0, 0, 0, 0) >= 0;
}

/* Whether the call may wait: not if it moves nothing or is refused. */
static bool may_wait(long nr, const __s64 arg[])
{
	bool from = is_pipe(arg[0]), to = nr != SYS_vmsplice && is_pipe(arg[nr == SYS_tee ? 1 : 2]);

	if (nr != SYS_splice)
		return arg[2] && from && (to || nr == SYS_vmsplice);
	return arg[4] && (from || to) && !(from && arg[1]) && !(to && arg[3]);
}

/* Nor does it if an end is not open, or not for this. */
static bool is_waited_for(const struct pollfd *end)
{
	long flags = ferry_rawcall(SYS_fcntl, end->fd, F_GETFL, 0, 0, 0, 0);

	return !(flags & O_NONBLOCK) &&
	       (flags & O_ACCMODE) != (end->events & POLLIN ? O_WRONLY : O_RDONLY);
}

/* How long a call waits for one end at most. */
static long until_end(struct scheduler *s, const struct pollfd *end)
{
	struct descriptor *d = ferry__poller_find(&s->poller, end->fd);
	long limit = 0;

	if (d && !ferry__poller_settle(d, end->fd))
		limit = end->events & POLLIN ? d->receive_ns : d->send_ns;
	return limit ? clock_ns() + limit : LONG_MAX;
}

/* Waits until the end is ready: 0, or an error. */
static long wait_for_end(struct scheduler *s, struct pollfd *end)
{
	struct interest interest = { .fd = end->fd, .events = (unsigned short)end->events };
	long result, until = 0;

	while (!(result = ferry__poll_now(end, 1))) {
		until = until ? until : until_end(s, end);
		result = ferry__wait_for_events(s, &interest, 1, false, until);
		if (result)
			return result == -ETIMEDOUT ? -EAGAIN : result;
	}
	return result < 0 ? result : 0;
}

/* A call that does not wait for pipes is tried before they are ready: it may be refused. */
static long wait_for_ends(struct scheduler *s, struct pollfd ends[], int count, bool is_tried)
{
	long error;
	int i;

	for (i = 0; i < count; i++) {
		if (!is_tried && is_pipe(ends[i].fd))
			continue;
		error = wait_for_end(s, &ends[i]);
		if (error)
			return error;
	}
	return 0;
}

/*
 * With SPLICE_F_NONBLOCK it does not wait for a pipe.  For a socket that takes only a part of the
 * data a runner still waits.  What is seekable is not waited for: an offset is tried at once, too.
 */
static long wait_and_splice(struct scheduler *s, long nr, const __s64 arg[])
{
	__s64 now[] = { arg[0], arg[1], arg[2], arg[3], arg[4], arg[5] };
	struct pollfd ends[2] = { 0 };
	int count = ends_of(nr, arg, ends), flags = nr == SYS_splice ? 5 : 3;
	long result = 0, error = 0;

	if (now[flags] & ~(SPLICE_F_MOVE | SPLICE_F_MORE | SPLICE_F_GIFT) || !may_wait(nr, arg) ||
	    !is_waited_for(&ends[0]) || (count == 2 && !is_waited_for(&ends[1])))
		return ferry__post(s, nr, arg);
	now[flags] |= SPLICE_F_NONBLOCK;
	if (nr != SYS_splice || !(arg[1] || arg[3]))
		error = wait_for_ends(s, ends, count, false);
	while (!error && (result = ferry__post(s, nr, now)) == -EAGAIN)
		error = wait_for_ends(s, ends, count, true);
	if (ferry__cannot_be_polled(error))
		return ferry__post(s, nr, arg);
	return error ? error : result;
}

/* ---- all of them ---- */

static long wait_for_any(struct scheduler *s, long nr, const __s64 arg[])
{
	switch (nr) {
	case SYS_pselect6:
		return wait_in_pselect(s, arg);
	case SYS_ppoll:
		return poll_with_timespec(s, arg);
#ifdef SYS_epoll_wait
	case SYS_select:
		return wait_in_select(s, arg);
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		return wait_for_epoll(s, nr, arg);
	default:
		return poll_until(s, (struct pollfd *)arg[0], (unsigned int)arg[1],
				  until_of((int)arg[2]));
	}
}

long ferry__wait_for_many(struct scheduler *s, long nr, const __s64 arg[])
{
	long result;

	if (nr == SYS_splice || nr == SYS_tee || nr == SYS_vmsplice)
		return wait_and_splice(s, nr, arg);
	result = wait_for_any(s, nr, arg);
	return ferry__cannot_be_polled(result) ? ferry__post(s, nr, arg) : result;
}
