// SPDX-License-Identifier: MIT
#include "io.h"

#include <signal.h>

#include "carrier.h"
#include "home.h"
#include "signals.h"

#define CALLS_TO_SETTLE 2000 /* of a thread that is new */
#define FEW_WAITS 64	     /* one in so many calls: it is an event loop, or computes */

static void count_new(struct thread *thread)
{
	if (++thread->calls < CALLS_TO_SETTLE)
		return;
	if (thread->blocks < CALLS_TO_SETTLE / FEW_WAITS)
		home_bind("waits seldom");
	thread->calls = 0;
}

void io_spend(void)
{
	struct thread *thread = &ferry_self;

	if (thread->place == PLACE_NEW)
		count_new(thread);
	else if (--thread->budget < 0)
		wait_yield();
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

long io_run(struct io *io)
{
	struct descriptor *descriptor = watch_descriptor(io->fd);
	int64_t deadline = 0; /* not known */
	unsigned int seq, births;
	enum wait_state why;
	long result;

	home_check();
	if (!descriptor)
		return IO_IN_LIBC;
	io_spend();
	births = descriptor->births;
	for (;;) {
		seq = wait_seq(&descriptor->edges[io->direction]);
		result = io->attempt(io);
		if (result != -EAGAIN)
			return result;
		if (io->no_wait || watch_is_nonblocking(io->fd, descriptor))
			return say_again(io, seq);
		if (!home_depart())
			return IO_IN_LIBC;
		if (!deadline)
			deadline = deadline_of(io, descriptor);
		if (watch_register(io->fd, descriptor, io->direction))
			return IO_IN_LIBC;
		why = wait_ready(io, descriptor, seq, deadline);
		if (why == WAIT_TIMEOUT)
			return -EAGAIN;
		/* A time limit ends a call that handlers would restart. */
		if (why == WAIT_CALLED && home_answer(deadline < 0, true))
			return -EINTR;
		if (descriptor->births != births)
			return -EBADF;
	}
}
