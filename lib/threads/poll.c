// SPDX-License-Identifier: MIT
/* poll() and its like, and sleeping. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "export.h"
#include "home.h"
#include "io.h"
#include "real.h"
#include "rest.h"
#include "untried.h"

#define MOST_POLLED 32	   /* more descriptors go home */
#define LOOPS_TO_SETTLE 64 /* waits for many descriptors: the thread is an event loop */

static int64_t deadline_after(const struct timespec *span)
{
	return span ? now_ns() + ns_of(span) : -1;
}

/* An event loop has little to gain, and its own way of waiting: it is left native. */
static void count_loop(void)
{
	if (is_untried(&ferry_self) && ++ferry_self.loops >= LOOPS_TO_SETTLE)
		home_bind("an event loop");
}

/* ---- poll ---- */

static bool wants_in(const struct pollfd *poll)
{
	return poll->events & ~POLLOUT || !poll->events;
}

/* Prepares waits for what POLLS name, before the try.  Returns how many; -1: some are too high. */
static int prepare(const struct pollfd *polls, nfds_t count, struct wait *waits)
{
	int prepared = 0;
	nfds_t i;

	for (i = 0; i < count; i++) {
		struct descriptor *descriptor = watch_descriptor(polls[i].fd);

		if (polls[i].fd < 0)
			continue;
		if (!descriptor)
			return -1;
		if (wants_in(&polls[i]))
			watch_prepare(&waits[prepared++], descriptor, DIRECTION_IN,
				      wait_seq(&descriptor->edges[DIRECTION_IN]));
		if (polls[i].events & POLLOUT)
			watch_prepare(&waits[prepared++], descriptor, DIRECTION_OUT,
				      wait_seq(&descriptor->edges[DIRECTION_OUT]));
	}
	return prepared;
}

/* 0, or -errno if something cannot be waited for on a carrier. */
static int register_all(const struct pollfd *polls, nfds_t count)
{
	nfds_t i;
	int error = 0;

	for (i = 0; i < count && !error; i++) {
		struct descriptor *descriptor;

		if (polls[i].fd < 0)
			continue;
		descriptor = watch_descriptor(polls[i].fd);
		if (wants_in(&polls[i]))
			error = watch_register(polls[i].fd, descriptor, DIRECTION_IN);
		if (!error && polls[i].events & POLLOUT)
			error = watch_register(polls[i].fd, descriptor, DIRECTION_OUT);
	}
	return error;
}

/* True during a rest: libc waits, and events of POLLS wake no carrier. */
static bool polls_rest(const struct pollfd *polls, nfds_t count)
{
	nfds_t i;

	if (!is_rest() || home_depart())
		return false;
	for (i = 0; i < count; i++)
		if (polls[i].fd >= 0 && watch_descriptor(polls[i].fd))
			watch_unregister(polls[i].fd, watch_descriptor(polls[i].fd));
	return true;
}

/* ASK says how many of POLLS are ready, without waiting. */
static long poll_until(struct pollfd *polls, nfds_t count, int64_t deadline,
		       long (*ask)(struct pollfd *polls, nfds_t count, void *data), void *data)
{
	struct wait waits[2 * MOST_POLLED];
	enum wait_state why;
	int prepared;
	long ready;

	for (;;) {
		if (polls_rest(polls, count))
			return IO_IN_LIBC;
		prepared = prepare(polls, count, waits);
		if (prepared < 0)
			return IO_IN_LIBC;
		ready = ask(polls, count, data);
		if (ready || (deadline >= 0 && deadline <= now_ns()))
			return ready;
		if (!home_depart() || register_all(polls, count))
			return IO_IN_LIBC;
		why = wait_for(waits, prepared, deadline);
		if (why == WAIT_CALLED && home_answer(false, true))
			return -EINTR;
	}
}

static long ask_poll(struct pollfd *polls, nfds_t count, void *data)
{
	(void)data;
	return poll_now(polls, count);
}

/*
 * recv() has just said EAGAIN, poll() follows: the edges since that try are known, and an event of
 * the carrier's is as good as poll()'s answer.  0: ask poll() itself.
 */
static long poll_known(struct pollfd *poll, int64_t deadline)
{
	struct thread *thread = &ferry_self;
	struct descriptor *descriptor;
	enum wait_state why;
	struct wait wait;

	if (poll->fd <= 0 || poll->fd != thread->again_fd || !is_carried() ||
	    poll->events & POLLOUT || !(poll->events & POLLIN))
		return 0;
	thread->again_fd = 0;
	descriptor = watch_descriptor(poll->fd);
	if (watch_register(poll->fd, descriptor, DIRECTION_IN))
		return 0;
	watch_prepare(&wait, descriptor, DIRECTION_IN, thread->again_seq);
	why = wait_for(&wait, 1, deadline);
	if (why == WAIT_CALLED)
		return home_answer(false, true);
	if (why != WAIT_FIRED || !(wait.fired & EPOLLIN) ||
	    wait.fired & ~(unsigned int)(EPOLLIN | EPOLLOUT))
		return 0;
	poll->revents = POLLIN;
	return 1;
}

static long poll_carried(struct pollfd *polls, nfds_t count, int64_t deadline)
{
	long result = 0;

	home_check();
	io_spend();
	if (count == 1)
		result = poll_known(polls, deadline);
	return result ? result : poll_until(polls, count, deadline, ask_poll, NULL);
}

static int in_libc(struct pollfd *polls, nfds_t count, int64_t deadline)
{
	const int64_t left = deadline < 0 ? -1 : deadline - now_ns();
	struct timespec span = { left / NS_PER_S, left % NS_PER_S };
	int result;

	if (deadline >= 0 && left < 0)
		span = (struct timespec){ 0 };
	home_enter("poll");
	result = real()->ppoll(polls, count, deadline < 0 ? NULL : &span, NULL);
	home_leave();
	return result;
}

static int poll_either(struct pollfd *polls, nfds_t count, int64_t deadline)
{
	long result = IO_IN_LIBC;

	if (count <= MOST_POLLED)
		result = poll_carried(polls, count, deadline);
	return result == IO_IN_LIBC ? in_libc(polls, count, deadline) : (int)as_libc(result);
}

EXPORT int poll(struct pollfd *polls, nfds_t count, int ms)
{
	const struct timespec span = { ms / 1000, ms % 1000 * 1000000L };

	if (ms && count > 1)
		count_loop();
	if (!is_watched() || !ms || !count || polls_rest(polls, count) || is_early())
		return real()->poll(polls, count, ms);
	return poll_either(polls, count, ms < 0 ? -1 : deadline_after(&span));
}

EXPORT int ppoll(struct pollfd *polls, nfds_t count, const struct timespec *span,
		 const sigset_t *mask)
{
	int result;

	if (count > 1)
		count_loop();
	if (is_watched() && !mask && count && !is_early() &&
	    (!span || (ns_of(span) > 0 && (unsigned long)span->tv_nsec < NS_PER_S)))
		return poll_either(polls, count, deadline_after(span));
	home_enter("ppoll");
	result = real()->ppoll(polls, count, span, mask);
	home_leave();
	return result;
}

EXPORT int __poll_chk(struct pollfd *polls, nfds_t count, int ms, size_t room)
{
	if (room / sizeof(*polls) < count)
		abort();
	return poll(polls, count, ms);
}

EXPORT int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *span,
		       const sigset_t *mask, size_t room)
{
	if (room / sizeof(*polls) < count)
		abort();
	return ppoll(polls, count, span, mask);
}

/* ---- select ---- */

struct selection {
	int count;
	fd_set *sets[3], asked[3];
	bool has[3];
};

static long ask_select(struct pollfd *polls, nfds_t count, void *data)
{
	struct selection *selection = data;
	struct timespec none = { 0 };
	int i;

	(void)polls;
	(void)count;
	for (i = 0; i < 3; i++)
		if (selection->sets[i])
			*selection->sets[i] = selection->asked[i];
	return raw6(SYS_pselect6, selection->count, (long)selection->sets[0],
		    (long)selection->sets[1], (long)selection->sets[2], (long)&none, 0);
}

/* As polls; -1: too many. */
static int as_polls(const struct selection *selection, struct pollfd *polls)
{
	static const short events[3] = { POLLIN, POLLOUT, POLLPRI };
	int count = 0, fd, i;
	short wanted;

	for (fd = 0; fd < selection->count; fd++) {
		wanted = 0;
		for (i = 0; i < 3; i++)
			if (selection->sets[i] && FD_ISSET(fd, &selection->asked[i]))
				wanted |= events[i];
		if (!wanted)
			continue;
		if (count == MOST_POLLED)
			return -1;
		polls[count++] = (struct pollfd){ .fd = fd, .events = wanted };
	}
	return count;
}

EXPORT int select(int count, fd_set *__restrict in, fd_set *__restrict out,
		  fd_set *__restrict except, struct timeval *__restrict limit)
{
	struct selection selection = { .count = count, .sets = { in, out, except } };
	struct pollfd polls[MOST_POLLED];
	struct timespec span = { 0 };
	int64_t deadline, left;
	int polled, i, result;
	long carried;

	if (limit)
		span = (struct timespec){ limit->tv_sec, limit->tv_usec * 1000 };
	if (!is_watched() || count > FD_SETSIZE ||
	    (limit && (ns_of(&span) <= 0 || limit->tv_usec < 0)))
		return real()->select(count, in, out, except, limit);
	for (i = 0; i < 3; i++)
		if (selection.sets[i])
			selection.asked[i] = *selection.sets[i];
	deadline = deadline_after(limit ? &span : NULL);
	polled = as_polls(&selection, polls);
	if (polled > 1)
		count_loop();
	if (polled < 0 || !is_watched() || is_early() || (!polled && !is_carried())) {
		home_enter("select");
		result = real()->select(count, in, out, except, limit);
		home_leave();
		return result;
	}
	home_check();
	io_spend();
	carried = poll_until(polls, (nfds_t)polled, deadline, ask_select, &selection);
	if (carried == IO_IN_LIBC) {
		for (i = 0; i < 3; i++)
			if (selection.sets[i])
				*selection.sets[i] = selection.asked[i];
		home_enter("select");
		result = real()->select(count, in, out, except, limit);
		home_leave();
		return result;
	}
	if (limit) { /* as Linux does: what is left of it */
		left = deadline - now_ns();
		limit->tv_sec = left > 0 ? left / NS_PER_S : 0;
		limit->tv_usec = left > 0 ? left % NS_PER_S / 1000 : 0;
	}
	return (int)as_libc(carried);
}

/* ---- epoll ---- */

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
	int result;

	if (ms)
		count_loop();
	if (is_carried() && ms) {
		home_check();
		home_enter("epoll_wait");
	}
	result = real()->epoll_pwait(fd, events, most, ms, mask);
	home_leave();
	return result;
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	return epoll_pwait(fd, events, most, ms, NULL);
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *span,
			const sigset_t *mask)
{
	int result;

	count_loop();
	home_enter("epoll_wait");
	result = LIBC(epoll_pwait2)(fd, events, most, span, mask);
	home_leave();
	return result;
}

/* ---- sleeping ---- */

static int sleep_until(int64_t deadline)
{
	enum wait_state why;

	home_check();
	for (;;) {
		why = wait_for(NULL, 0, deadline);
		if (why == WAIT_TIMEOUT)
			return 0;
		if (home_answer(false, true))
			return EINTR;
	}
}

static int sleep_absolute(clockid_t clock, const struct timespec *until)
{
	int64_t left;

	/* The clock may be set meanwhile. */
	while ((left = ns_of(until) - clock_ns(clock)) > 0)
		if (sleep_until(now_ns() + left))
			return EINTR;
	return 0;
}

static int sleep_relative(const struct timespec *span, struct timespec *left)
{
	const int64_t deadline = now_ns() + ns_of(span);
	int64_t rest;

	if (!sleep_until(deadline))
		return 0;
	rest = deadline - now_ns();
	if (rest < 0)
		rest = 0;
	if (left)
		*left = (struct timespec){ rest / NS_PER_S, rest % NS_PER_S };
	return EINTR;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span,
			   struct timespec *left)
{
	const bool usual =
		clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;

	if (!is_carried() || !usual || span->tv_sec < 0 || span->tv_nsec < 0 ||
	    span->tv_nsec >= NS_PER_S) {
		int result;

		home_enter("clock_nanosleep");
		result = real()->clock_nanosleep(clock, flags, span, left);
		home_leave();
		return result;
	}
	if (flags & TIMER_ABSTIME)
		return sleep_absolute(clock, span);
	return sleep_relative(span, left);
}

EXPORT int nanosleep(const struct timespec *span, struct timespec *left)
{
	return (int)as_libc(-clock_nanosleep(CLOCK_REALTIME, 0, span, left));
}

EXPORT int usleep(__useconds_t us)
{
	const struct timespec span = { us / 1000000, us % 1000000 * 1000L };

	return nanosleep(&span, NULL);
}

EXPORT unsigned int sleep(unsigned int seconds)
{
	const int saved = errno;
	struct timespec span = { seconds, 0 };

	if (nanosleep(&span, &span))
		return (unsigned int)span.tv_sec + (span.tv_nsec >= NS_PER_S / 2);
	errno = saved;
	return 0;
}

EXPORT int thrd_sleep(const struct timespec *span, struct timespec *left)
{
	const int error = clock_nanosleep(CLOCK_REALTIME, 0, span, left);

	return error == EINTR ? -1 : error ? -2 : 0;
}

EXPORT int sched_yield(void)
{
	home_check_signals(); /* after which it may be at home */
	if (is_carried()) {
		wait_yield();
		return 0;
	}
	return (int)as_libc(raw3(SYS_sched_yield, 0, 0, 0));
}
