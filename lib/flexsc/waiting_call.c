// SPDX-License-Identifier: MIT
#include "waiting_call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <termios.h>

#include <ferry_flexsc.h>

#include "flexsc.h"
#include "here.h"
#include "post.h"
#include "spin.h"
#include "waiting_many.h"

/* Attempts that found a descriptor not ready though an event said so.  Then a runner waits. */
#define MOST_FALSE_EVENTS 2

/* A receiver of datagrams learns of it from a call that waits only. */
#define THE_END (EPOLLRDHUP | EPOLLHUP)

/* Once reported, no event follows: no call waits, or a read has ended before urgent data. */
#define NO_EVENT_FOLLOWS (THE_END | EPOLLERR | EPOLLPRI)

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
	bool is_emptied;    /* a read from a TCP socket has left nothing */
	unsigned int events_seen;
	bool is_final;	    /* the attempt was the plain call, so -EAGAIN is its result */
	unsigned int forks; /* when the call began */
	long began;	    /* waiting with a time limit, ns; 0: not yet */
	long until;	    /* of recvmmsg(), ns; 0: not known yet */
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

/* The number may mean another file by now, for which this kernel thread would wait. */
static bool is_still_memory_device(struct descriptor *d, int fd)
{
	if (!d->never_waits)
		return false;
	if (ferry__poller_never_waits(fd))
		return true;
	d->never_waits = false;
	d->kind = UNKNOWN;
	return false;
}

static long make_plainly(const struct waiting *w)
{
	struct descriptor *d = w->descriptor;

	/* sendfile() also reads a file, which may be on a disk. */
	if (!w->s->eager && d && w->nr != SYS_sendfile &&
	    (is_still_memory_device(d, w->fd) || is_still_nonblocking(d, w->fd))) {
		w->s->made++;
		return make_here(w->s, w->nr, w->arg);
	}
	return ferry__post(w->s, w->nr, w->arg);
}

/* A terminal whose reads return without data: poll() never reports them. */
static bool reads_nothing(int fd)
{
	struct termios mode;
	int before = errno;
	bool is_terminal = !tcgetattr(fd, &mode);

	errno = before;
	return is_terminal && !(mode.c_lflag & ICANON) && !mode.c_cc[VMIN];
}

/* A pipe with a name: poll() does not report that nobody has opened it for writing yet. */
static bool has_name(int fd)
{
	struct statfs system = { 0 };

	ferry_rawcall(SYS_fstatfs, fd, (long)&system, 0, 0, 0, 0);
	return system.f_type != PIPEFS_MAGIC;
}

/* Whether the plain call may return although poll() finds nothing. */
static bool may_return_anyway(const struct waiting *w)
{
	if (w->nr == SYS_read || w->nr == SYS_readv)
		return w->descriptor->is_stream ? has_name(w->fd) : reads_nothing(w->fd);
	if (w->nr == SYS_sendfile) /* a pipe's end to read is never ready to be written */
		return (ferry_rawcall(SYS_fcntl, w->fd, F_GETFL, 0, 0, 0, 0) & O_ACCMODE) ==
		       O_RDONLY;
	if (w->nr == SYS_accept4 && w->arg[3] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return true;
	return w->events == EPOLLIN && !ferry__socket_option(w->fd, SO_ACCEPTCONN);
}

/*
 * For calls that have no form which does not wait.  A runner blocks if another process is faster;
 * another thread of this one cannot be.
 */
static long make_if_ready(struct waiting *w)
{
	struct pollfd fd = { .fd = w->fd, .events = (short)w->events };
	long result;

	if (w->descriptor->claimed & w->events)
		return -EAGAIN;
	if (!ferry__poll_now(&fd, 1))
		return may_return_anyway(w) ? make_plainly(w) : -EAGAIN;
	w->descriptor->claimed |= w->events;
	result = make_plainly(w);
	w->descriptor->claimed &= ~w->events;
	return result;
}

static bool lacks_number(const struct waiting *w)
{
	long copy = ferry_rawcall(SYS_fcntl, w->fd, F_DUPFD_CLOEXEC, 0, 0, 0, 0);

	if (copy >= 0)
		ferry_rawcall(SYS_close, copy, 0, 0, 0, 0, 0);
	return copy == -EMFILE;
}

/* A plain accept() fails at once if there is no number for the connection that it waits for. */
static long attempt_accept(struct waiting *w)
{
	long result = make_if_ready(w);

	return result == -EAGAIN && !w->events_seen && lacks_number(w) ? -EMFILE : result;
}

/* Waits until an attempt is worth it: 0, or the call's result. */
static long wait_for_event(struct waiting *w)
{
	struct descriptor *d = w->descriptor;
	struct interest interest = { .fd = w->fd, .events = w->events };
	long limit, until = LONG_MAX, error = ferry__poller_settle(d, w->fd);

	if (w->forks != w->s->poller.forks)
		return -ECANCELED;
	if (error)
		return error;
	limit = w->events & EPOLLIN ? d->receive_ns : d->send_ns;
	if (limit && !w->began)
		w->began = clock_ns();
	if (limit)
		until = w->began + limit;
	w->events_seen++;
	error = ferry__wait_for_events(w->s, &interest, 1, true, until);
	return error == -ETIMEDOUT ? -EAGAIN : error;
}

/* After a part of its bytes, a call returns their number whatever happens to the others. */
static long result_of(const struct waiting *w, long result)
{
	return result <= 0 && w->done ? (long)w->done : result;
}

/*
 * Whether a socket is past use after a part of the bytes.  Then the next call gets its error and
 * its SIGPIPE, as it would if a single call had moved that part.
 */
static bool is_broken(const struct waiting *w)
{
	struct pollfd fd = { .fd = w->fd };
	bool is_pipe = w->descriptor->kind != STREAM && w->descriptor->is_stream;
	int left = 0;

	if (!w->done || is_pipe || !ferry__poll_now(&fd, 1))
		return false;
	if (w->descriptor->kind == STREAM && w->events & EPOLLIN)
		ferry_rawcall(SYS_ioctl, w->fd, FIONREAD, (long)&left, 0, 0, 0);
	return !left;
}

/* Whether an attempt would find nothing.  A read of no bytes returns at once. */
static bool has_to_wait(const struct waiting *w)
{
	return w->descriptor->is_emptied && w->arg[2] &&
	       (w->nr == SYS_read || w->nr == SYS_recvfrom);
}

static long wait_and_make(struct waiting *w)
{
	struct descriptor *d = w->descriptor;
	long result;

	if (!has_to_wait(w))
		d->ready |= w->events;
	for (;;) {
		if (d->ready & w->events) {
			d->ready &= ~w->events;
			d->is_emptied = false;
			if (is_broken(w))
				return result_of(w, 0);
			result = w->attempt(w);
			if (result != -EAGAIN || w->is_final)
				break;
			if (d->ready & w->events) /* for more, or again while others ran */
				continue;
		}
		if (w->events & EPOLLOUT ? w->events_seen > MOST_FALSE_EVENTS && !w->done :
					   d->ready & THE_END) {
			d->ready &= ~THE_END;
			return w->done ? (long)w->done : make_plainly(w);
		}
		result = wait_for_event(w);
		if (ferry__cannot_be_polled(result) && !w->done) {
			d->kind = PLAIN;
			return make_plainly(w);
		}
		if (result)
			return result_of(w, result);
	}
	d->is_emptied = w->is_emptied && !(d->ready & NO_EVENT_FOLLOWS);
	if (!d->is_emptied)
		ferry__poller_ready(w->s, d, w->events);
	return result_of(w, result);
}

/* The kernel moves no more in one call. */
#define MOST_BYTES 0x7ffff000UL

static size_t at_most(size_t size, size_t most)
{
	return size < most ? size : most;
}

/* Other sizes, none or too many, mean something else in other forms of the call. */
static bool has_usual_size(const struct waiting *w)
{
	return w->arg[2] > 0;
}

/*
 * Adds the RESULT of a part to what is done: a call that waits returns only once all TOTAL bytes
 * are.  Whether the rest has to wait is for the next attempt to find out.
 */
static long add(struct waiting *w, long result, size_t total)
{
	if (result < 0)
		return result;
	w->done += (size_t)result;
	if (!w->descriptor->is_stream || w->done >= at_most(total, MOST_BYTES) || !result)
		return (long)w->done;
	w->descriptor->ready |= w->events;
	return -EAGAIN;
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

/* From a stream it receives until as many bytes are done as the plain call would wait for. */
static long receive(struct waiting *w, long flags)
{
	const struct descriptor *d = w->descriptor;
	size_t whole = at_most((size_t)w->arg[2], MOST_BYTES), size = whole - w->done;
	size_t least = flags & MSG_WAITALL ? whole : d->least;
	const __s64 arg[] = { w->fd,
			      w->arg[1] + (long)w->done,
			      (long)size,
			      (flags & ~MSG_WAITALL) | MSG_DONTWAIT,
			      w->nr == SYS_recvfrom ? w->arg[4] : 0,
			      w->nr == SYS_recvfrom ? w->arg[5] : 0 };
	long result = make(w->s, SYS_recvfrom, arg);

	w->is_emptied = d->is_tcp && !flags && result > 0 && result < (long)size;
	if (result < 0 || !d->is_stream || flags & MSG_PEEK)
		return result;
	return add(w, result, at_most(least, whole));
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

	if (!has_usual_size(w))
		return make_plainly(w);
	if (w->descriptor->kind == STREAM) {
		result = receive(w, 0);
		return !w->done && is_changed(w, result) ? make_plainly(w) : result;
	}
	return move_vector(w, SYS_preadv2, &whole, 1);
}

static long attempt_readv(struct waiting *w)
{
	return move_vector(w, SYS_preadv2, (const struct iovec *)w->arg[1],
			   (unsigned long)w->arg[2]);
}

static size_t size_of(const struct iovec *parts, unsigned long count)
{
	size_t size = 0;

	while (count--)
		size += parts[count].iov_len;
	return size;
}

/* What a receive of no bytes returns after its time limit depends on the kind of socket. */
static long receive_in_time(struct waiting *w, size_t size, long result)
{
	struct descriptor *d = w->descriptor;

	if (result != -EAGAIN || size || ferry__poller_settle(d, w->fd) || !d->receive_ns)
		return result;
	w->is_final = true;
	return make_plainly(w);
}

/* The kernel could read the message if nothing was there to receive. */
static long receive_message_in_time(struct waiting *w, const struct msghdr *message, long result)
{
	if (result != -EAGAIN)
		return result;
	return receive_in_time(w, size_of(message->msg_iov, message->msg_iovlen), result);
}

static long attempt_recvfrom(struct waiting *w)
{
	return receive_in_time(w, (size_t)w->arg[2], receive(w, w->arg[3]));
}

static long attempt_recvmsg(struct waiting *w)
{
	long result = make(w->s, SYS_recvmsg,
			   (const __s64[]){ w->fd, w->arg[1], w->arg[2] | MSG_DONTWAIT, 0, 0, 0 });

	return receive_message_in_time(w, (const struct msghdr *)w->arg[1], result);
}

/* Receives or sends messages after those that are done, as far as that does not wait. */
static long make_for_rest(struct waiting *w, long nr, struct timespec *limit)
{
	const __s64 arg[] = { w->fd,
			      (long)((struct mmsghdr *)w->arg[1] + w->done),
			      w->arg[2] - (long)w->done,
			      w->arg[3] | MSG_DONTWAIT,
			      (long)limit,
			      0 };

	return make(w->s, nr, arg);
}

/*
 * Receives until there are as many messages as asked for; without MSG_WAITFORONE, it waits for all.
 * The kernel looks at the time limit after a message only.
 */
static long attempt_recvmmsg(struct waiting *w)
{
	struct timespec *limit = (struct timespec *)w->arg[4], left;
	long result;

	if (!ferry__is_limit(limit))
		return make_plainly(w);
	if (!w->until)
		w->until = ferry__until_limit(limit);
	left = ferry__rest_until(w->until);
	result = make_for_rest(w, SYS_recvmmsg, limit ? &left : NULL);
	if (!w->done)
		result = receive_message_in_time(w, (const struct msghdr *)w->arg[1], result);
	if (result < 0 || w->is_final)
		return result;
	w->done += (unsigned long)result;
	ferry__store_rest(limit, w->until);
	if (!result || w->arg[3] & MSG_WAITFORONE || (long)w->done >= w->arg[2] ||
	    (!left.tv_sec && !left.tv_nsec))
		return (long)w->done;
	return -EAGAIN;
}

/* ---- writing ---- */

/* The flags of a part: only the first raises SIGPIPE, as one call would. */
static long flags_of(const struct waiting *w, long flags)
{
	return flags | MSG_DONTWAIT | (w->done ? MSG_NOSIGNAL : 0);
}

static long attempt_write(struct waiting *w)
{
	size_t size = at_most((size_t)w->arg[2], MOST_BYTES);
	struct iovec rest = { (char *)w->arg[1] + w->done, size - w->done };
	long result;

	if (!has_usual_size(w))
		return make_plainly(w);
	if (w->descriptor->kind == STREAM) {
		result = make(w->s, SYS_sendto,
			      (const __s64[]){ w->fd, (long)rest.iov_base, (long)rest.iov_len,
					       flags_of(w, 0), 0, 0 });
		if (is_changed(w, result) && !w->done)
			return make_plainly(w);
	} else {
		result = move_vector(w, SYS_pwritev2, &rest, 1);
	}
	return add(w, result, size);
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
	size_t size = at_most((size_t)w->arg[2], MOST_BYTES);
	const __s64 arg[] = { w->fd,
			      w->arg[1] + (long)w->done,
			      (long)(size - w->done),
			      flags_of(w, w->arg[3]),
			      w->arg[4],
			      w->arg[5] };

	return add(w, make(w->s, SYS_sendto, arg), size);
}

/* Control data goes with the first part. */
static long attempt_sendmsg(struct waiting *w)
{
	const struct msghdr *whole = (const struct msghdr *)w->arg[1];
	__s64 arg[] = { w->fd, (long)whole, flags_of(w, w->arg[2]), 0, 0, 0 };
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

/* Of datagrams, each of which is sent as a whole. */
static long attempt_sendmmsg(struct waiting *w)
{
	long result = make_for_rest(w, SYS_sendmmsg, NULL);

	if (result < 0)
		return result;
	w->done += (unsigned long)result;
	if (!result || (long)w->done >= w->arg[2])
		return (long)w->done;
	w->descriptor->ready |= w->events;
	return -EAGAIN;
}

/* What is read of a file and sent at a time. */
#define PIECE 65536

/* Where sendfile() reads next. */
static long position(const struct waiting *w)
{
	const long *offset = (const long *)w->arg[2];

	return offset ? *offset : ferry_rawcall(SYS_lseek, w->arg[1], 0, SEEK_CUR, 0, 0, 0);
}

static void set_position(const struct waiting *w, long position)
{
	long *offset = (long *)w->arg[2];

	if (offset)
		*offset = position;
	else
		ferry_rawcall(SYS_lseek, w->arg[1], position, SEEK_SET, 0, 0, 0);
}

/* What cannot be read is left to sendfile(). */
static long read_and_send(struct waiting *w, char *piece)
{
	size_t size = at_most((size_t)w->arg[3], MOST_BYTES);
	long at = position(w), length, result;

	length = ferry__post(w->s, SYS_pread64,
			     (const __s64[]){ w->arg[1], (long)piece,
					      (long)at_most(size - w->done, PIECE), at, 0, 0 });
	if (length <= 0)
		return w->done ? (long)w->done : make_plainly(w);
	result = make(w->s, SYS_sendto,
		      (const __s64[]){ w->fd, (long)piece, length, flags_of(w, 0), 0, 0 });
	if (is_changed(w, result) && !w->done)
		return make_plainly(w);
	if (result > 0)
		set_position(w, at + result);
	return add(w, result, size);
}

/* Whether its arguments are right: without bytes to send, the kernel looks at nothing else. */
static bool can_send_file(const struct waiting *w)
{
	if (w->done)
		return true;
	return w->arg[3] > 0 && !ferry_rawcall(SYS_sendfile, w->fd, w->arg[1], w->arg[2], 0, 0, 0);
}

/* For a socket there is no form that does not wait, so the data is read and sent. */
static long attempt_sendfile(struct waiting *w)
{
	char *piece;
	long result;

	if (w->descriptor->kind != STREAM)
		return make_if_ready(w);
	if (!can_send_file(w))
		return make_plainly(w);
	piece = malloc(PIECE);
	result = piece ? read_and_send(w, piece) : -ENOMEM;
	free(piece);
	return result;
}

/* ---- one descriptor ---- */

/* Flags of calls that do not wait, or wait for something else. */
#define UNUSUAL_RECEIVE (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)
#define UNUSUAL_SEND (MSG_DONTWAIT | MSG_OOB | MSG_FASTOPEN)

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
	{ SYS_recvmsg, EPOLLIN, attempt_recvmsg, 2, UNUSUAL_RECEIVE },
	{ SYS_recvmmsg, EPOLLIN, attempt_recvmmsg, 3, UNUSUAL_RECEIVE },
	{ SYS_accept4, EPOLLIN, attempt_accept, 0, 0 },
	{ SYS_accept, EPOLLIN, attempt_accept, 0, 0 },
	{ SYS_sendfile, EPOLLOUT, attempt_sendfile, 0, 0 },
	{ SYS_write, EPOLLOUT, attempt_write, 0, 0 },
	{ SYS_writev, EPOLLOUT, attempt_writev, 0, 0 },
	{ SYS_sendto, EPOLLOUT, attempt_sendto, 3, UNUSUAL_SEND },
	{ SYS_sendmsg, EPOLLOUT, attempt_sendmsg, 2, UNUSUAL_SEND },
	{ SYS_sendmmsg, EPOLLOUT, attempt_sendmmsg, 3, UNUSUAL_SEND },
};

static const struct kind_of_call *find(long nr)
{
	const struct kind_of_call *call = waiting_calls;

	while (call->nr != nr)
		call++;
	return call;
}

/* Whether a receive waits for more than some bytes, in a form that cannot go on after a part. */
static bool waits_as_a_whole(const struct waiting *w, long flags)
{
	if (w->descriptor->kind != STREAM || (w->descriptor->least <= 1 && !(flags & MSG_WAITALL)))
		return false;
	return w->nr == SYS_readv || w->nr == SYS_recvmsg || w->nr == SYS_recvmmsg ||
	       (w->nr == SYS_recvfrom && flags & MSG_PEEK);
}

static long wait_for_one(struct scheduler *s, long nr, const __s64 arg[])
{
	const struct kind_of_call *call = find(nr);
	struct descriptor *d = ferry__poller_find(&s->poller, (int)arg[0]);
	struct waiting w = {
		s, d, arg, nr, (int)arg[0], call->events, call->attempt, .forks = s->poller.forks
	};
	long flags = call->flags_arg ? arg[call->flags_arg] : 0;

	if (d && d->kind == UNKNOWN)
		ferry__poller_classify(&s->poller, d, w.fd);
	if (!d || d->kind == UNKNOWN || d->kind == PLAIN || flags & call->unusual ||
	    waits_as_a_whole(&w, flags))
		return make_plainly(&w);
	return wait_and_make(&w);
}

/* Of a stream each message may have to wait several times. */
static long send_one_by_one(struct scheduler *s, const __s64 arg[])
{
	struct mmsghdr *messages = (struct mmsghdr *)arg[1];
	unsigned int i, count = (unsigned int)arg[2];
	__s64 one[] = { arg[0], 0, arg[3], 0, 0, 0 };
	long result;

	for (i = 0; i < count; i++) {
		one[1] = (long)&messages[i].msg_hdr;
		result = wait_for_one(s, SYS_sendmsg, one);
		if (result < 0)
			return i ? i : result;
		messages[i].msg_len = (unsigned int)result;
	}
	return count;
}

static bool is_stream(struct scheduler *s, long fd)
{
	struct descriptor *d = ferry__poller_find(&s->poller, fd);

	if (d && d->kind == UNKNOWN)
		ferry__poller_classify(&s->poller, d, (int)fd);
	return d && d->kind == STREAM;
}

/* ---- connecting ---- */

/* How often a thread looks that waits until it may start a helper. */
#define RETRY_NS 1000000L

/* Other sockets connect at once. */
static bool may_wait_to_connect(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	if (ferry_rawcall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&size, 0) ||
	    (type != SOCK_STREAM && type != SOCK_SEQPACKET))
		return false;
	return !(ferry_rawcall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK);
}

/*
 * There is no form that does not wait, and everybody who shares the socket would see O_NONBLOCK.
 */
static long connect_socket(struct scheduler *s, const __s64 arg[])
{
	struct helper helper = { .nr = SYS_connect, .arg = arg };

	if (!may_wait_to_connect((int)arg[0]) || post_would_be_alone(s))
		return ferry__call_here(SYS_connect, arg);
	while (s->helper_count >= s->flexsc->standins)
		ferry__scheduler_wait_until(s, clock_ns() + RETRY_NS);
	if (ferry__helper_start(s, &helper))
		return ferry__call_here(SYS_connect, arg);
	scheduler_hurry(s);
	ferry__scheduler_wait(s);
	return helper.result;
}

/* ---- changes ---- */

/* Threads that wait for FD see what has happened so far, such as a shutdown(). */
static void let_see(struct scheduler *s, long fd)
{
	struct descriptor *d = fd < 0 ? NULL : ferry__poller_find(&s->poller, fd);

	if (d && d->first) {
		ferry__poller_look(s, 0);
		queue_put(&s->ready, s->current);
		ferry__scheduler_wait(s);
	}
}

#ifdef SYS_dup2
#define IS_DUP2(nr) ((nr) == SYS_dup2)
#else
#define IS_DUP2(nr) false
#endif

static long change(struct scheduler *s, long nr, const __s64 arg[])
{
	struct descriptor *d;
	long result;

	if (nr == SYS_close) {
		let_see(s, arg[0]);
		ferry__poller_forget(s, (int)arg[0]);
	}
	if (IS_DUP2(nr) && arg[0] == arg[1])
		return ferry__post(s, nr, arg);
	if (IS_DUP2(nr) || nr == SYS_dup3)
		let_see(s, arg[1]);
	result = ferry__post(s, nr, arg);
	switch (nr) {
	case SYS_close:
		break;
	case SYS_shutdown: /* not all sockets report it to a writer */
		d = ferry__poller_find(&s->poller, (int)arg[0]);
		if (d)
			ferry__poller_ready(s, d, EPOLLIN | EPOLLOUT);
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
	SYS_close,	   SYS_dup3,	       SYS_fcntl,     SYS_ioctl, SYS_setsockopt,
	SYS_shutdown,	   SYS_openat,	       SYS_socket,    SYS_dup,	 SYS_eventfd2,
	SYS_epoll_create1, SYS_timerfd_create, SYS_signalfd4,
#ifdef SYS_dup2
	SYS_dup2,	   SYS_open,
#endif
};

static const short many[] = {
	SYS_ppoll, SYS_pselect6, SYS_splice,	 SYS_tee, SYS_vmsplice, SYS_epoll_pwait,
#ifdef SYS_poll
	SYS_poll,  SYS_select,	 SYS_epoll_wait,
#endif
};

void ferry__fill_in_ways(void)
{
	size_t i;

	for (i = 0; i < FERRY_BLOCKED_LIMIT; i++)
		ferry__way[i] =
			ferry__calls[i].who < CALLER_ONLY ? ferry__calls[i].who : CALLER_ONLY;
	for (i = 0; i < sizeof(waiting_calls) / sizeof(waiting_calls[0]); i++)
		ferry__way[waiting_calls[i].nr] = WAITS_FOR_FD;
	ferry__way[SYS_connect] = CONNECTS;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		ferry__way[changes[i]] = CHANGES_FDS;
	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		ferry__way[many[i]] = WAITS_FOR_FDS;
}

long ferry__waiting_call(struct scheduler *s, long nr, const __s64 arg[])
{
	long result;

	switch (ferry__way[nr]) {
	case CONNECTS:
		return connect_socket(s, arg);
	case WAITS_FOR_FD:
		if (nr == SYS_sendmmsg && is_stream(s, (int)arg[0]))
			return send_one_by_one(s, arg);
		result = wait_for_one(s, nr, arg);
		if ((nr == SYS_accept4 || nr == SYS_accept) && result >= 0)
			ferry__poller_forget(s, (int)result);
		return result;
	case WAITS_FOR_FDS:
		return ferry__wait_for_many(s, nr, arg);
	default:
		return change(s, nr, arg);
	}
}
