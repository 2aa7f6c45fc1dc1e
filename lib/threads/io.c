// SPDX-License-Identifier: MIT
#include "io.h"

#include <poll.h>
#include <signal.h>

#include "carrier.h"
#include "home.h"
#include "real.h"
#include "rest.h"
#include "signals.h"
#include "untried.h"

void io_spend(void)
{
	struct thread *thread = &ferry_self;

	if (thread->place == PLACE_CARRIED && --thread->budget < 0)
		wait_yield();
}

bool io_rests(int fd)
{
	if (!is_rest() || home_depart())
		return false;
	watch_unregister(fd, watch_descriptor(fd));
	return true;
}

static int64_t deadline_of(const struct io *io, const struct descriptor *descriptor)
{
	const int64_t limit = descriptor->limit[io->direction];

	return limit ? now_ns() + limit : -1;
}

static enum wait_state wait_ready(struct io *io, struct descriptor *descriptor, unsigned int seq,
				  int64_t deadline)
{
	struct wait wait;

	watch_prepare(&wait, descriptor, io->direction, seq);
	wait.exclusive = io->exclusive;
	return wait_for(&wait, 1, deadline);
}

/* A call that would wait, and that the caller does not want to wait. */
static long say_again(const struct io *io, unsigned int seq)
{
	if (io->direction == DIRECTION_IN) {
		ferry_self.again_fd = io->fd;
		ferry_self.again_seq = seq;
	}
	return -EAGAIN;
}

long io_finish(long result, int flags)
{
	if (result == -EPIPE && !(flags & MSG_NOSIGNAL))
		signals_raise(SIGPIPE);
	return result;
}

/*
 * A handler ends a call once a part is through, but the kernel would restart the rest of it: poll()
 * is never restarted.
 */
static bool poll_at_home(const struct io *io, int64_t deadline)
{
	const int64_t left = deadline < 0 ? 0 : deadline - now_ns();
	const struct timespec span = { left > 0 ? left / NS_PER_S : 0,
				       left > 0 ? left % NS_PER_S : 0 };
	struct pollfd poll = { io->fd, io->direction == DIRECTION_IN ? POLLIN : POLLOUT, 0 };
	int ready;

	home_enter("the rest of a call");
	ready = real()->ppoll(&poll, 1, deadline < 0 ? NULL : &span, NULL);
	home_leave();
	return ready > 0;
}

static bool can_wait(const struct io *io, struct descriptor *descriptor)
{
	return !io_rests(io->fd) && home_depart() &&
	       !watch_register(io->fd, descriptor, io->direction);
}

long io_run(struct io *io)
{
	struct descriptor *descriptor = watch_descriptor(io->fd);
	int64_t deadline = 0; /* not known */
	unsigned int seq, births;
	enum wait_state why;
	long result;

	home_check();
	if (!descriptor || (!io->partly && (io_rests(io->fd) || is_early())))
		return IO_IN_LIBC;
	io_spend();
	births = descriptor->births;
	for (;;) {
		seq = wait_seq(&descriptor->edges[io->direction]);
		result = io->attempt(io);
		if (result >= 0)
			count_work(CALL_OF_DESCRIPTOR);
		if (result != -EAGAIN)
			return result;
		if (io->no_wait || watch_is_nonblocking(io->fd, descriptor))
			return say_again(io, seq);
		if (!deadline)
			deadline = deadline_of(io, descriptor);
		if (!can_wait(io, descriptor)) {
			if (!io->partly)
				return IO_IN_LIBC;
			if (!poll_at_home(io, deadline))
				return -EINTR;
			continue;
		}
		why = wait_ready(io, descriptor, seq, deadline);
		if (why == WAIT_TIMEOUT)
			return -EAGAIN;
		/* A time limit ends a call that handlers would restart. */
		if (why == WAIT_CALLED && home_answer(deadline < 0 && !io->partly, true))
			return -EINTR;
		if (descriptor->births != births)
			return -EBADF;
	}
}
