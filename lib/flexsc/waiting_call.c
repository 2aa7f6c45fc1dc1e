// SPDX-License-Identifier: MIT
#include "waiting_call.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <ferry_flexsc.h>

#include "flexsc.h"
#include "here.h"
#include "post.h"
#include "spin.h"

/* Attempts that found a descriptor not ready though an event said so.  Then a runner waits. */
#define MOST_FALSE_EVENTS 2

/* Descriptors of a poll() that need no memory of their own. */
#define FEW 16

/* A call that waits for one descriptor, and its state. */
struct waiting {
	struct scheduler *s;
	struct descriptor *descriptor;
	const __s64 *arg;
	long nr;
	int fd;
	unsigned int events;

	/* Makes the call so that it does not wait: its result, or -EAGAIN. */
	long (*attempt)(struct waiting *);
	unsigned long done; /* bytes of a call that goes on until all are done */
	bool is_emptied;    /* the next attempt has to wait for an event */
	unsigned int events_seen;
	unsigned int forks; /* when the call began */
	long until;	    /* ns; 0: not known yet */
};

/* ---- making calls ---- */

static long make_here(struct scheduler *s, long nr, const __s64 arg[])
{
	long result = ferry__call_here(nr, arg);

	ferry__scheduler_took_turn(s);
	return result;
}

/*
 * A call that does not block is made here, because that takes less time than having a runner wake
 * up for it; except where crossings take long and other threads can use the time.
 */
static long make(struct scheduler *s, long nr, const __s64 arg[])
{
	if (s->flexsc->crossings_are_slow && !ferry__scheduler_is_alone(s))
		return ferry__post(s, nr, arg);
	return make_here(s, nr, arg);
}

/* Flags may be changed behind the library's back: then the kind of FD is looked up again. */
static bool is_still_nonblocking(struct descriptor *d, int fd)
{
	if (!d->is_nonblocking)
		return false;
	if (ferry__poller_settle(d, fd))
		return true;
	d->is_nonblocking = false;
	d->kind = UNKNOWN;
	return false;
}

static long make_plainly(const struct waiting *w)
{
	struct descriptor *d = w->descriptor;

	if (!w->s->eager && d && (d->never_waits || is_still_nonblocking(d, w->fd))) {
		w->s->made++;
		return make_here(w->s, w->nr, w->arg);
	}
	return ferry__post(w->s, w->nr, w->arg);
}

static long poll_now(const struct pollfd *fds, unsigned long count)
{
	return ferry_rawcall(SYS_ppoll, (long)fds, (long)count, (long)&(struct timespec){ 0 }, 0, 0,
			     0);
}

/*
 * For calls that have no form which does not wait.  A runner blocks if another process is faster;
 * another thread of this one cannot be.
 */
static long make_if_ready(struct waiting *w)
{
	struct pollfd fd = { .fd = w->fd, .events = (short)w->events };
	long result;

	if (w->descriptor->claimed & w->events || !poll_now(&fd, 1))
		return -EAGAIN;
	w->descriptor->claimed |= w->events;
	result = make_plainly(w);
	w->descriptor->claimed &= ~w->events;
	return result;
}

/* Returns 0 after an event, -ETIMEDOUT, or another error of the wait. */
static long wait_until(struct scheduler *s, struct interest interests[], unsigned int count,
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

/* Waits until an attempt is worth it: 0, or the call's result. */
static long wait_for_event(struct waiting *w)
{
	struct descriptor *d = w->descriptor;
	struct interest interest = { .fd = w->fd, .events = w->events };
	long limit, error = ferry__poller_settle(d, w->fd);

	if (w->forks != w->s->poller.forks)
		return -ECANCELED;
	if (error)
		return error;
	if (!w->until) {
		limit = w->events & EPOLLIN ? d->receive_ns : d->send_ns;
		w->until = limit ? clock_ns() + limit : LONG_MAX;
	}
	w->events_seen++;
	error = wait_until(w->s, &interest, 1, true, w->until);
	return error == -ETIMEDOUT ? -EAGAIN : error;
}

static bool cannot_be_polled(long error)
{
	return error == -EPERM || error == -ELOOP || error == -ENOSPC || error == -ENOMEM;
}

/* After a part of its bytes, a call returns their number whatever happens to the others. */
static long result_of(const struct waiting *w, long result)
{
	return result < 0 && w->done ? (long)w->done : result;
}

static long wait_and_make(struct waiting *w)
{
	struct descriptor *d = w->descriptor;
	long result;

	for (;;) {
		if (d->ready & w->events) {
			d->ready &= ~w->events;
			result = w->attempt(w);
			if (result != -EAGAIN)
				break;
		}
		if (w->events & EPOLLOUT && w->events_seen > MOST_FALSE_EVENTS && !w->done)
			return make_plainly(w);
		result = wait_for_event(w);
		if (cannot_be_polled(result)) {
			d->kind = PLAIN;
			return make_plainly(w);
		}
		if (result)
			return result_of(w, result);
	}
	if (!w->is_emptied)
		ferry__poller_ready(w->s, d, w->events);
	return result_of(w, result);
}

/* ---- reading ---- */

/* The descriptor was a socket, and is another file now. */
static bool is_changed(struct waiting *w, long result)
{
	if (result != -ENOTSOCK)
		return false;
	w->descriptor->kind = UNKNOWN;
	return true;
}

static long receive(struct waiting *w, void *data, size_t size, long flags)
{
	const __s64 arg[] = { w->fd,
			      (long)data,
			      (long)size,
			      flags | MSG_DONTWAIT,
			      w->nr == SYS_recvfrom ? w->arg[4] : 0,
			      w->nr == SYS_recvfrom ? w->arg[5] : 0 };

	return make(w->s, SYS_recvfrom, arg);
}

/* With RWF_NOWAIT, which not all files and kernels know. */
static long move_vector(struct waiting *w, long nr, const struct iovec *parts, unsigned long count)
{
	const __s64 arg[] = { w->fd, (long)parts, (long)count, -1, -1, RWF_NOWAIT };
	long result = make(w->s, nr, arg);

	return result == -EOPNOTSUPP && !w->done ? make_if_ready(w) : result;
}

static long attempt_read(struct waiting *w)
{
	struct iovec whole = { (void *)w->arg[1], (size_t)w->arg[2] };
	long result;

	if (w->descriptor->kind == STREAM && whole.iov_len) {
		result = receive(w, whole.iov_base, whole.iov_len, 0);
		if (is_changed(w, result))
			return make_plainly(w);
	} else {
		result = move_vector(w, SYS_preadv2, &whole, 1);
	}
	w->is_emptied = w->descriptor->is_stream && result > 0 && result < w->arg[2];
	return result;
}

static long attempt_readv(struct waiting *w)
{
	return move_vector(w, SYS_preadv2, (const struct iovec *)w->arg[1],
			   (unsigned long)w->arg[2]);
}

static long attempt_recvfrom(struct waiting *w)
{
	bool all = w->arg[3] & MSG_WAITALL && w->descriptor->is_stream && !(w->arg[3] & MSG_PEEK);
	size_t size = (size_t)w->arg[2] - w->done;
	long result = receive(w, (char *)w->arg[1] + w->done, size, w->arg[3] & ~MSG_WAITALL);

	if (result > 0)
		w->is_emptied = w->descriptor->is_stream && !w->arg[3] && result < (long)size;
	if (!all || result < 0)
		return result;
	w->done += (unsigned long)result;
	return result && w->done < (size_t)w->arg[2] ? -EAGAIN : (long)w->done;
}

static long attempt_recvmsg(struct waiting *w)
{
	return make(w->s, SYS_recvmsg,
		    (const __s64[]){ w->fd, w->arg[1], w->arg[2] | MSG_DONTWAIT, 0, 0, 0 });
}

/* Receives until there are as many messages as asked for; without MSG_WAITFORONE, it waits for all.
 */
static long attempt_recvmmsg(struct waiting *w)
{
	const __s64 arg[] = { w->fd,
			      (long)((struct mmsghdr *)w->arg[1] + w->done),
			      w->arg[2] - (long)w->done,
			      w->arg[3] | MSG_DONTWAIT,
			      0,
			      0 };
	long result;

	if (w->arg[4]) /* its limit is looked at after each message only */
		return make_plainly(w);
	result = make(w->s, SYS_recvmmsg, arg);
	if (result < 0)
		return result;
	w->done += (unsigned long)result;
	if (!result || w->arg[3] & MSG_WAITFORONE || (long)w->done >= w->arg[2])
		return (long)w->done;
	return -EAGAIN;
}

/* ---- connecting ---- */

/* How often to retry a connection that a full queue has refused: no event reports room. */
#define RETRY_NS 1000000L

static bool is_late(const struct waiting *w, long start)
{
	return w->descriptor->send_ns && clock_ns() - start >= w->descriptor->send_ns;
}

/*
 * connect() takes no flag.  Other users of the socket may see O_NONBLOCK for a moment, but none can
 * use it before it is connected.
 */
static long connect_without_waiting(const struct waiting *w, long flags)
{
	long result;

	ferry_rawcall(SYS_fcntl, w->fd, F_SETFL, flags | O_NONBLOCK, 0, 0, 0);
	result = ferry__call_here(SYS_connect, w->arg);
	ferry_rawcall(SYS_fcntl, w->fd, F_SETFL, flags, 0, 0, 0);
	return result;
}

static long attempt_connect(struct waiting *w)
{
	long flags = ferry_rawcall(SYS_fcntl, w->fd, F_GETFL, 0, 0, 0, 0);
	long result, start = clock_ns();

	if (flags < 0 || flags & O_NONBLOCK || w->descriptor->kind != STREAM)
		return ferry__call_here(SYS_connect, w->arg);
	ferry__poller_settle(w->descriptor, w->fd);
	while ((result = connect_without_waiting(w, flags)) == -EAGAIN && !is_late(w, start))
		ferry__scheduler_wait_until(w->s, clock_ns() + RETRY_NS);
	return result == -EINPROGRESS || result == -EALREADY ? -EAGAIN : result;
}

/* ---- writing ---- */

/*
 * Adds the RESULT of a part to what is done: a call that waits returns only once all TOTAL bytes
 * are.  Whether the rest has to wait is for the next attempt to find out.
 */
static long add(struct waiting *w, long result, size_t total)
{
	if (result < 0)
		return result;
	w->done += (size_t)result;
	if (!w->descriptor->is_stream || w->done >= total || !result)
		return (long)w->done;
	w->descriptor->ready |= w->events;
	return -EAGAIN;
}

static long attempt_write(struct waiting *w)
{
	size_t size = (size_t)w->arg[2];
	struct iovec rest = { (char *)w->arg[1] + w->done, size - w->done };
	long result;

	if (w->descriptor->kind == STREAM && size) {
		result = make(w->s, SYS_sendto,
			      (const __s64[]){ w->fd, (long)rest.iov_base, (long)rest.iov_len,
					       MSG_DONTWAIT, 0, 0 });
		if (is_changed(w, result) && !w->done)
			return make_plainly(w);
	} else {
		result = move_vector(w, SYS_pwritev2, &rest, 1);
	}
	return add(w, result, size);
}

static size_t size_of(const struct iovec *parts, unsigned long count)
{
	size_t size = 0;

	while (count--)
		size += parts[count].iov_len;
	return size;
}

/* Leaves out the first DONE bytes.  REST holds the rest of a part that is done in part. */
static const struct iovec *skip(const struct iovec *parts, unsigned long *count, size_t done,
				struct iovec *rest)
{
	while (done && done >= parts->iov_len) {
		done -= parts->iov_len;
		parts++;
		--*count;
	}
	if (!done)
		return parts;
	*rest = (struct iovec){ (char *)parts->iov_base + done, parts->iov_len - done };
	*count = 1;
	return rest;
}

static long attempt_writev(struct waiting *w)
{
	const struct iovec *all = (const struct iovec *)w->arg[1], *parts;
	unsigned long count = (unsigned long)w->arg[2];
	struct iovec rest;
	long result;

	parts = skip(all, &count, w->done, &rest);
	result = move_vector(w, SYS_pwritev2, parts, count);
	return result > 0 ? add(w, result, size_of(all, (unsigned long)w->arg[2])) :
			    add(w, result, 0);
}

static long attempt_sendto(struct waiting *w)
{
	const __s64 arg[] = { w->fd,
			      w->arg[1] + (long)w->done,
			      w->arg[2] - (long)w->done,
			      w->arg[3] | MSG_DONTWAIT,
			      w->arg[4],
			      w->arg[5] };

	return add(w, make(w->s, SYS_sendto, arg), (size_t)w->arg[2]);
}

/* Control data goes with the first part. */
static long attempt_sendmsg(struct waiting *w)
{
	const struct msghdr *whole = (const struct msghdr *)w->arg[1];
	__s64 arg[] = { w->fd, (long)whole, w->arg[2] | MSG_DONTWAIT, 0, 0, 0 };
	struct msghdr part;
	unsigned long count;
	struct iovec rest;
	long result;

	if (w->done) {
		part = *whole;
		count = whole->msg_iovlen;
		part.msg_iov = (struct iovec *)skip(whole->msg_iov, &count, w->done, &rest);
		part.msg_iovlen = count;
		part.msg_control = NULL;
		part.msg_controllen = 0;
		arg[1] = (long)&part;
	}
	result = make(w->s, SYS_sendmsg, arg);
	return result > 0 ? add(w, result, size_of(whole->msg_iov, whole->msg_iovlen)) :
			    add(w, result, 0);
}

/* ---- one descriptor ---- */

/* Flags of calls that do not wait, or wait for something else. */
#define UNUSUAL_RECEIVE (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)

static const struct kind_of_call {
	long nr;
	unsigned int events;
	long (*attempt)(struct waiting *);
	int flags_arg; /* 0: none */
	long unusual;
} waiting_calls[] = {
	{ SYS_read, EPOLLIN, attempt_read, 0, 0 },
	{ SYS_readv, EPOLLIN, attempt_readv, 0, 0 },
	{ SYS_recvfrom, EPOLLIN, attempt_recvfrom, 3, UNUSUAL_RECEIVE },
	{ SYS_recvmsg, EPOLLIN, attempt_recvmsg, 2, UNUSUAL_RECEIVE | MSG_WAITALL },
	{ SYS_recvmmsg, EPOLLIN, attempt_recvmmsg, 3, UNUSUAL_RECEIVE },
	{ SYS_connect, EPOLLOUT, attempt_connect, 0, 0 },
	{ SYS_accept4, EPOLLIN, make_if_ready, 0, 0 },
	{ SYS_accept, EPOLLIN, make_if_ready, 0, 0 },
	{ SYS_write, EPOLLOUT, attempt_write, 0, 0 },
	{ SYS_writev, EPOLLOUT, attempt_writev, 0, 0 },
	{ SYS_sendto, EPOLLOUT, attempt_sendto, 3, MSG_DONTWAIT | MSG_OOB },
	{ SYS_sendmsg, EPOLLOUT, attempt_sendmsg, 2, MSG_DONTWAIT | MSG_OOB },
};

static const struct kind_of_call *find(long nr)
{
	const struct kind_of_call *call = waiting_calls;

	while (call->nr != nr)
		call++;
	return call;
}

static long wait_for_one(struct scheduler *s, long nr, const __s64 arg[])
{
	const struct kind_of_call *call = find(nr);
	struct descriptor *d = ferry__poller_find(&s->poller, (int)arg[0]);
	struct waiting w = {
		s, d, arg, nr, (int)arg[0], call->events, call->attempt, .forks = s->poller.forks
	};
	long result;

	if (d && d->kind == UNKNOWN)
		ferry__poller_classify(&s->poller, d, w.fd);
	if (!d || d->kind == UNKNOWN || d->kind == PLAIN ||
	    (call->flags_arg && arg[call->flags_arg] & call->unusual))
		return make_plainly(&w);
	result = wait_and_make(&w);
	/* A plain connect() that has waited as long as SO_SNDTIMEO allows. */
	return nr == SYS_connect && result == -EAGAIN && w.events_seen ? -EINPROGRESS : result;
}

/* ---- several descriptors ---- */

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

/* EBADF: poll() itself reports what was closed. */
static long poll_and_wait(struct scheduler *s, const struct pollfd *fds, unsigned long count,
			  struct interest interests[], long until)
{
	unsigned int used;
	long result;

	while (!(result = poll_now(fds, count))) {
		used = interests_of(fds, count, interests);
		result = wait_until(s, interests, used, false, until);
		if (result == -ETIMEDOUT)
			return 0;
		if (result && result != -EBADF)
			return result;
	}
	ferry__scheduler_took_turn(s);
	return result;
}

static long poll_until(struct scheduler *s, struct pollfd *fds, unsigned long count, long until)
{
	struct interest few[FEW], *interests = few;
	long result;

	result = poll_now(fds, count);
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

/* Without a signal mask it is poll() with another limit, in which it stores the time left. */
static long poll_with_timespec(struct scheduler *s, const __s64 arg[])
{
	struct timespec *limit = (struct timespec *)arg[2];
	long result, left, until = LONG_MAX;

	if (arg[3] || (limit && (limit->tv_sec < 0 || limit->tv_sec > INT_MAX ||
				 limit->tv_nsec < 0 || limit->tv_nsec >= 1000000000L)))
		return ferry__call_here(SYS_ppoll, arg);
	if (limit)
		until = clock_ns() + ns_of(limit);
	result = poll_until(s, (struct pollfd *)arg[0], (unsigned int)arg[1], until);
	if (limit) {
		left = until - clock_ns();
		*limit = timespec_of(left > 0 ? left : 0);
	}
	return result;
}

#ifdef SYS_epoll_wait
static long wait_for_epoll(struct scheduler *s, const __s64 arg[])
{
	const __s64 now[] = { arg[0], arg[1], arg[2], 0, 0, 0 };
	long result, until = until_of((int)arg[3]);
	struct interest interest;

	while (!(result = ferry__call_here(SYS_epoll_wait, now)) && (int)arg[3]) {
		interest = (struct interest){ .fd = (int)arg[0], .events = EPOLLIN };
		result = wait_until(s, &interest, 1, false, until);
		if (result)
			return result == -ETIMEDOUT ? 0 : result;
	}
	ferry__scheduler_took_turn(s);
	return result;
}
#endif

static long wait_for_many(struct scheduler *s, long nr, const __s64 arg[])
{
#ifdef SYS_epoll_wait
	if (nr == SYS_epoll_wait)
		return wait_for_epoll(s, arg);
#endif
	if (nr == SYS_ppoll)
		return poll_with_timespec(s, arg);
	return poll_until(s, (struct pollfd *)arg[0], (unsigned int)arg[1], until_of((int)arg[2]));
}

/* ---- changes ---- */

/* Threads that wait for FD see what has happened so far, such as a shutdown(). */
static void let_go(struct scheduler *s, long fd)
{
	struct descriptor *d = fd < 0 ? NULL : ferry__poller_find(&s->poller, fd);

	if (d && d->first) {
		ferry__poller_look(s, 0);
		queue_put(&s->ready, s->current);
		ferry__scheduler_wait(s);
	}
	ferry__poller_forget(s, (int)fd);
}

static long change(struct scheduler *s, long nr, const __s64 arg[])
{
	struct descriptor *d;
	long result;

	if (nr == SYS_close)
		let_go(s, arg[0]);
#ifdef SYS_dup2
	if (nr == SYS_dup2 && arg[0] != arg[1])
		let_go(s, arg[1]);
#endif
	if (nr == SYS_dup3)
		let_go(s, arg[1]);
	result = ferry__post(s, nr, arg);
	switch (nr) {
	case SYS_close:
		break;
	case SYS_fcntl:
	case SYS_ioctl:
	case SYS_setsockopt:
		d = ferry__poller_find(&s->poller, (int)arg[0]);
		if (d) {
			d->kind = UNKNOWN;
			d->is_settled = false;
		}
		break;
	default:
		if (result >= 0)
			ferry__poller_forget(s, (int)result);
	}
	return result;
}

/* ---- ways ---- */

unsigned char ferry__way[FERRY_BLOCKED_LIMIT];

static const short changes[] = {
	SYS_close,  SYS_dup3, SYS_fcntl,    SYS_ioctl,	       SYS_setsockopt,	   SYS_openat,
	SYS_socket, SYS_dup,  SYS_eventfd2, SYS_epoll_create1, SYS_timerfd_create, SYS_signalfd4,
#ifdef SYS_dup2
	SYS_dup2,   SYS_open,
#endif
};

void ferry__fill_in_ways(void)
{
	size_t i;

	for (i = 0; i < FERRY_BLOCKED_LIMIT; i++)
		ferry__way[i] = ferry__who[i];
	for (i = 0; i < sizeof(waiting_calls) / sizeof(waiting_calls[0]); i++)
		ferry__way[waiting_calls[i].nr] = WAITS_FOR_FD;
	ferry__way[SYS_connect] = CONNECTS;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		ferry__way[changes[i]] = CHANGES_FDS;
	ferry__way[SYS_ppoll] = WAITS_FOR_FDS;
#ifdef SYS_poll
	ferry__way[SYS_poll] = WAITS_FOR_FDS;
	ferry__way[SYS_epoll_wait] = WAITS_FOR_FDS;
#endif
}

long ferry__waiting_call(struct scheduler *s, long nr, const __s64 arg[])
{
	long result;

	switch (ferry__way[nr]) {
	case WAITS_FOR_FD:
	case CONNECTS:
		result = wait_for_one(s, nr, arg);
		if ((nr == SYS_accept4 || nr == SYS_accept) && result >= 0)
			ferry__poller_forget(s, (int)result);
		return result;
	case WAITS_FOR_FDS:
		return wait_for_many(s, nr, arg);
	default:
		return change(s, nr, arg);
	}
}
