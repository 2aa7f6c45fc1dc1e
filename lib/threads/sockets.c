// SPDX-License-Identifier: MIT
/* Reading from and writing to sockets, pipes and what is like them; accept(). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "export.h"
#include "home.h"
#include "io.h"
#include "real.h"

/* Calls whose meaning over several tries is not imitated. */
static bool is_unusual(int flags)
{
	return flags & MSG_ERRQUEUE ||
	       (flags & MSG_WAITALL && flags & (MSG_PEEK | MSG_OOB | MSG_TRUNC));
}

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

/* Waits with libc's function: at home if the caller is carried. */
#define IN_LIBC(reason, call)                           \
	({                                              \
		__typeof__(call) result_;               \
                                                        \
		home_enter(reason);                     \
		result_ = (call);                       \
		if (result_ >= 0)                       \
			count_work(CALL_OF_DESCRIPTOR); \
		home_leave();                           \
		result_;                                \
	})

/* ---- attempts ---- */

static long try_recvfrom(struct io *io)
{
	return raw6(SYS_recvfrom, io->fd, (long)io->data, (long)io->size, io->flags | MSG_DONTWAIT,
		    (long)io->address, (long)io->length);
}

static long try_recvmsg(struct io *io)
{
	return raw3(SYS_recvmsg, io->fd, (long)io->data, io->flags | MSG_DONTWAIT);
}

/* The kernel's SIGPIPE would come to the carrier: see io_finish(). */
static long try_sendto(struct io *io)
{
	return raw6(SYS_sendto, io->fd, (long)io->data, (long)io->size,
		    io->flags | MSG_DONTWAIT | MSG_NOSIGNAL, (long)io->address, (long)io->length);
}

static long try_sendmsg(struct io *io)
{
	return raw3(SYS_sendmsg, io->fd, (long)io->data, io->flags | MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool is_ready(const struct io *io)
{
	struct pollfd poll = { .fd = io->fd,
			       .events = io->direction == DIRECTION_OUT ? POLLOUT : POLLIN };

	return poll_now(&poll, 1) != 0;
}

/* Of a file that knows RWF_NOWAIT, a pipe for one, this is one call; others are asked first. */
static long try_vector(struct io *io, int nowait, int plain)
{
	struct descriptor *descriptor = watch_descriptor(io->fd);
	long result;

	if (!descriptor->no_nowait) {
		result = raw6(nowait, io->fd, (long)io->data, (long)io->size, -1, -1, RWF_NOWAIT);
		if (result != -EOPNOTSUPP && result != -ESPIPE && result != -ENOSYS)
			return result;
		descriptor->no_nowait = true;
	}
	if (!watch_is_nonblocking(io->fd, descriptor) && !is_ready(io))
		return -EAGAIN;
	return raw3(plain, io->fd, (long)io->data, (long)io->size);
}

static long try_readv(struct io *io)
{
	return try_vector(io, SYS_preadv2, SYS_readv);
}

static long try_writev(struct io *io)
{
	return try_vector(io, SYS_pwritev2, SYS_writev);
}

/* accept() has no flag for this call alone. */
static long try_accept(struct io *io)
{
	if (!watch_is_nonblocking(io->fd, watch_descriptor(io->fd)) && !is_ready(io))
		return -EAGAIN;
	return raw6(SYS_accept4, io->fd, (long)io->address, (long)io->length, io->flags, 0, 0);
}

/* ---- all of it ---- */

/* A call that may wait sends all, or what it could until an error. */
static long send_all(struct io *io)
{
	const bool waits = !io->no_wait;
	const char *data = io->data;
	size_t sent = 0;
	long result;

	for (;;) {
		io->data = (void *)(data + sent);
		result = io_run(io);
		if (result < 0)
			return sent ? (long)sent : result;
		sent += (size_t)result;
		io->size -= (size_t)result;
		io->partly = true;
		if (!io->size || !waits || !result ||
		    watch_is_nonblocking(io->fd, watch_descriptor(io->fd)))
			return (long)sent;
	}
}

/* The rest of an array of buffers of which SENT bytes are gone. */
static long send_rest(const struct io *io, const struct iovec *buffers, size_t count, size_t sent)
{
	size_t skip = sent, i;
	long result;

	for (i = 0; i < count; i++) {
		struct io one = *io;

		if (skip >= buffers[i].iov_len) {
			skip -= buffers[i].iov_len;
			continue;
		}
		one.attempt = try_sendto;
		one.data = (char *)buffers[i].iov_base + skip;
		one.size = buffers[i].iov_len - skip;
		one.address = one.length = NULL;
		one.partly = true;
		skip = 0;
		result = send_all(&one);
		if (result < 0)
			break;
		sent += (size_t)result;
	}
	return (long)sent;
}

static size_t length_of(const struct iovec *buffers, size_t count)
{
	size_t length = 0, i;

	for (i = 0; i < count; i++)
		length += buffers[i].iov_len;
	return length;
}

static long send_message(struct io *io, const struct msghdr *message)
{
	const size_t length = length_of(message->msg_iov, message->msg_iovlen);
	const long result = io_run(io);

	if (result < 0 || (size_t)result >= length || io->no_wait ||
	    watch_is_nonblocking(io->fd, watch_descriptor(io->fd)))
		return result;
	return send_rest(io, message->msg_iov, message->msg_iovlen, (size_t)result);
}

/* ---- sockets ---- */

static bool is_stream(int fd)
{
	int type = 0;
	socklen_t length = sizeof(type);

	return !raw6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&length, 0) &&
	       type == SOCK_STREAM;
}

/* MSG_WAITALL: receives all, or what came until the end or an error. */
static long recv_all(struct io *io)
{
	const size_t size = io->size;
	size_t received = 0;
	long result;

	for (;;) {
		result = io_run(io);
		if (result <= 0)
			return received ? (long)received : result;
		received += (size_t)result;
		if (received == size || io->no_wait || (!io->partly && !is_stream(io->fd)) ||
		    watch_is_nonblocking(io->fd, watch_descriptor(io->fd)))
			return (long)received;
		io->data = (char *)io->data + result;
		io->size -= (size_t)result;
		io->partly = true;
	}
}

EXPORT ssize_t recvfrom(int fd, void *data, size_t size, int flags,
			struct sockaddr *__restrict address, socklen_t *__restrict length)
{
	struct io io = { try_recvfrom,	  fd,
			 DIRECTION_IN,	  .no_wait = flags & MSG_DONTWAIT,
			 .flags = flags,  .data = data,
			 .size = size,	  .address = address,
			 .length = length };
	long result;

	if (!is_watched())
		return real()->recvfrom(fd, data, size, flags, address, length);
	if (is_unusual(flags))
		result = IO_IN_LIBC;
	else
		result = flags & MSG_WAITALL ? recv_all(&io) : io_run(&io);
	if (result == IO_IN_LIBC)
		return IN_LIBC("recv", real()->recvfrom(fd, data, size, flags, address, length));
	return as_libc(result);
}

EXPORT ssize_t recv(int fd, void *data, size_t size, int flags)
{
	return recvfrom(fd, data, size, flags, NULL, NULL);
}

/* Descriptors that came with a message. */
static void forget_received(struct msghdr *message)
{
	struct cmsghdr *control;
	size_t size, i;
	int fd;

	for (control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control)) {
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		size = control->cmsg_len - CMSG_LEN(0);
		for (i = 0; i + sizeof(fd) <= size; i += sizeof(fd)) {
			memcpy(&fd, CMSG_DATA(control) + i, sizeof(fd));
			watch_forget(fd);
		}
	}
}

static ssize_t receive_message(int fd, struct msghdr *message, int flags)
{
	struct io io = { try_recvmsg,	 fd,
			 DIRECTION_IN,	 .no_wait = flags & MSG_DONTWAIT,
			 .flags = flags, .data = message };
	long result;

	if (!is_watched())
		return real()->recvmsg(fd, message, flags);
	result = is_unusual(flags) || flags & MSG_WAITALL ? IO_IN_LIBC : io_run(&io);
	if (result == IO_IN_LIBC)
		return IN_LIBC("recvmsg", real()->recvmsg(fd, message, flags));
	return as_libc(result);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	const ssize_t result = receive_message(fd, message, flags);

	if (result >= 0)
		forget_received(message);
	return result;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags,
		    struct timespec *limit)
{
	int received, i;

	home_check_signals();
	home_enter("recvmmsg");
	received = LIBC(recvmmsg)(fd, messages, count, flags, limit);
	home_leave();
	for (i = 0; i < received; i++)
		forget_received(&messages[i].msg_hdr);
	return received;
}

EXPORT ssize_t sendto(int fd, const void *data, size_t size, int flags,
		      const struct sockaddr *address, socklen_t length)
{
	struct io io = { try_sendto,
			 fd,
			 DIRECTION_OUT,
			 .no_wait = flags & MSG_DONTWAIT,
			 .flags = flags,
			 .data = (void *)data,
			 .size = size,
			 .address = (void *)address,
			 .length = (void *)(unsigned long)length };
	long result;

	if (!is_watched())
		return real()->sendto(fd, data, size, flags, address, length);
	result = send_all(&io);
	if (result == IO_IN_LIBC)
		return IN_LIBC("send", real()->sendto(fd, data, size, flags, address, length));
	return as_libc(io_finish(result, flags));
}

EXPORT ssize_t send(int fd, const void *data, size_t size, int flags)
{
	return sendto(fd, data, size, flags, NULL, 0);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct io io = { try_sendmsg,	 fd,
			 DIRECTION_OUT,	 .no_wait = flags & MSG_DONTWAIT,
			 .flags = flags, .data = (void *)message };
	long result;

	if (!is_watched())
		return real()->sendmsg(fd, message, flags);
	result = send_message(&io, message);
	if (result == IO_IN_LIBC)
		return IN_LIBC("sendmsg", real()->sendmsg(fd, message, flags));
	return as_libc(io_finish(result, flags));
}

/* One event may stand for several connections: each that is taken has the next waiter try. */
static void pass_on(int fd)
{
	struct descriptor *descriptor = watch_descriptor(fd);

	if (descriptor && descriptor->watched)
		wait_wake(&descriptor->edges[DIRECTION_IN], NULL, 1, 1, POLLIN);
}

EXPORT int accept4(int fd, struct sockaddr *__restrict address, socklen_t *__restrict length,
		   int flags)
{
	struct io io = { try_accept,	  fd,
			 DIRECTION_IN,	  .exclusive = true,
			 .flags = flags,  .address = address,
			 .length = length };
	long result;

	if (!is_watched()) {
		result = real()->accept4(fd, address, length, flags);
	} else {
		result = io_run(&io);
		result = result == IO_IN_LIBC ?
				 IN_LIBC("accept", real()->accept4(fd, address, length, flags)) :
				 as_libc(result);
		if (result >= 0)
			pass_on(fd);
	}
	if (result >= 0)
		watch_forget((int)result);
	return (int)result;
}

EXPORT int accept(int fd, struct sockaddr *__restrict address, socklen_t *__restrict length)
{
	return accept4(fd, address, length, 0);
}

/* ---- read() and write() ---- */

/* How a call on FD is tried: KIND_FILE also for what is not watched. */
static enum kind kind_of(int fd, size_t size)
{
	const enum kind kind = size && is_watched() ? watch_kind(fd) : KIND_FILE;

	return kind == KIND_UNKNOWN ? KIND_FILE : kind;
}

EXPORT ssize_t readv(int fd, const struct iovec *buffers, int count)
{
	struct msghdr message = { .msg_iov = (void *)buffers, .msg_iovlen = (size_t)count };
	struct io io = { .fd = fd, .direction = DIRECTION_IN };
	long result;

	switch (kind_of(fd, count > 0)) {
	case KIND_SOCKET:
		io.attempt = try_recvmsg;
		io.data = &message;
		break;
	case KIND_OTHER:
		io.attempt = try_readv;
		io.data = (void *)buffers;
		io.size = (size_t)count;
		break;
	default:
		return real()->readv(fd, buffers, count);
	}
	result = io_run(&io);
	if (result == IO_IN_LIBC || result == -ENOTSOCK)
		return IN_LIBC("read", real()->readv(fd, buffers, count));
	return as_libc(result);
}

EXPORT ssize_t read(int fd, void *data, size_t size)
{
	struct iovec buffer = { data, size };
	struct io io = { .fd = fd, .direction = DIRECTION_IN };
	long result;

	switch (kind_of(fd, size)) {
	case KIND_SOCKET:
		io.attempt = try_recvfrom;
		io.data = data;
		io.size = size;
		break;
	case KIND_OTHER:
		io.attempt = try_readv;
		io.data = &buffer;
		io.size = 1;
		break;
	default:
		return real()->read(fd, data, size);
	}
	result = io_run(&io);
	if (result == IO_IN_LIBC || result == -ENOTSOCK)
		return IN_LIBC("read", real()->read(fd, data, size));
	return as_libc(result);
}

static ssize_t write_socket(int fd, const struct iovec *buffers, int count)
{
	struct msghdr message = { .msg_iov = (void *)buffers, .msg_iovlen = (size_t)count };
	struct io io = { try_sendmsg, fd, DIRECTION_OUT, .data = &message };

	return send_message(&io, &message);
}

/* Returns how much of REST went through. */
static size_t write_rest(int fd, struct iovec rest)
{
	const size_t size = rest.iov_len;
	long result;

	while (rest.iov_len) {
		struct io io = { try_writev,	fd,	  DIRECTION_OUT, .partly = true,
				 .data = &rest, .size = 1 };

		result = io_run(&io);
		if (result <= 0)
			break;
		rest.iov_base = (char *)rest.iov_base + result;
		rest.iov_len -= (size_t)result;
	}
	return size - rest.iov_len;
}

/* Of what takes a part only, a pipe for one, a call that may wait writes the rest as well. */
static ssize_t write_other(int fd, const struct iovec *buffers, int count)
{
	struct io io = { try_writev, fd, DIRECTION_OUT, .data = (void *)buffers,
			 .size = (size_t)count };
	const size_t length = length_of(buffers, (size_t)count);
	const long result = io_run(&io);
	size_t skip, i, sent;
	size_t more;

	if (result < 0 || (size_t)result >= length ||
	    watch_is_nonblocking(fd, watch_descriptor(fd)))
		return result;
	sent = skip = (size_t)result;
	for (i = 0; i < (size_t)count; i++) {
		struct iovec rest = buffers[i];

		if (skip >= rest.iov_len) {
			skip -= rest.iov_len;
			continue;
		}
		rest.iov_base = (char *)rest.iov_base + skip;
		rest.iov_len -= skip;
		skip = 0;
		more = write_rest(fd, rest);
		sent += more;
		if (more < rest.iov_len)
			break;
	}
	return (ssize_t)sent;
}

EXPORT ssize_t writev(int fd, const struct iovec *buffers, int count)
{
	const enum kind kind = kind_of(fd, count > 0);
	long result;

	if (kind == KIND_FILE)
		return real()->writev(fd, buffers, count);
	result = kind == KIND_SOCKET ? write_socket(fd, buffers, count) :
				       write_other(fd, buffers, count);
	if (result == IO_IN_LIBC || result == -ENOTSOCK)
		return IN_LIBC("write", real()->writev(fd, buffers, count));
	return as_libc(kind == KIND_SOCKET ? io_finish(result, 0) : result);
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
	const struct iovec buffer = { (void *)data, size };
	const enum kind kind = kind_of(fd, size);
	struct io io = { try_sendto, fd, DIRECTION_OUT, .data = (void *)data, .size = size };
	long result;

	if (kind == KIND_FILE)
		return real()->write(fd, data, size);
	result = kind == KIND_SOCKET ? send_all(&io) : write_other(fd, &buffer, 1);
	if (result == IO_IN_LIBC || result == -ENOTSOCK)
		return IN_LIBC("write", real()->write(fd, data, size));
	return as_libc(kind == KIND_SOCKET ? io_finish(result, 0) : result);
}

/* ---- what _FORTIFY_SOURCE makes of them ---- */

EXPORT ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
	if (size > room)
		abort();
	return read(fd, data, size);
}

EXPORT ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags)
{
	if (size > room)
		abort();
	return recv(fd, data, size, flags);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *data, size_t size, size_t room, int flags,
			      struct sockaddr *address, socklen_t *length)
{
	if (size > room)
		abort();
	return recvfrom(fd, data, size, flags, address, length);
}
