// SPDX-License-Identifier: MIT
/*
 * The uring engine: runs of reads and writes that io_uring completes inline go out in one
 * crossing, and the loop makes all other calls.
 *
 * The requests of a run are not linked, because a link costs as much as the crossing that it
 * saves.  So each request is issued even if the one before it fails.  The program must not
 * notice, so the engine takes only calls that leave no trace when they run twice, or run
 * after an earlier one fell short: writes to devices that discard them, reads of /dev/zero,
 * and reads of regular files at given offsets.  They are asked not to block.  The first one
 * that does not transfer its full length, and all after it, run again in the loop.
 *
 * One exception cannot be detected: a read into a shared mapping of the file that the run reads.
 * An earlier slot that runs again then finds what a later one has stored there.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine.h"
#include "shared_loop.h"
#include "uring_plan.h"
#include "uring_ring.h"
#include "uring_trial.h"

/* Longer ones gain nothing, and a run of them would delay signals: it is one crossing. */
#define MAX_TRANSFER 65536UL
#define MAX_PENALTY 64U
#define HOUSEKEEPING UINT64_MAX /* user_data of the requests that are no slot */
#define OWN_POSITION UINT64_MAX /* offset of a request at the file's own position */

/* A run that is being sent. */
struct flight {
	struct uring_run run;
	long nr;
	int fd;
	bool silent;	     /* requests complete within the submission and report only failures */
	unsigned int tail;   /* where its first request is in the ring */
	unsigned long whole; /* leading slots that transferred their full length */
	int shortfall;	     /* the result of the slot behind these */
};

static bool overlaps(unsigned long start, unsigned long length, const void *array,
		     unsigned long size)
{
	return start < (unsigned long)array + size && (unsigned long)array < start + length;
}

static bool is_read(long nr)
{
	return nr == SYS_read || nr == SYS_pread64;
}

static bool has_offset(long nr)
{
	return nr == SYS_pread64 || nr == SYS_pwrite64;
}

/*
 * Whether io_uring does exactly what call NR does with these arguments.  A read into the
 * batch's own slots or results cannot be sent, because later slots have to see its effect.
 */
static bool can_be_sent(long nr, const __s64 args[], const long rets[],
			const struct ferry_slot calls[], unsigned long ncall)
{
	unsigned long buffer = args[1], length = args[2];

	if (length > MAX_TRANSFER || (has_offset(nr) && args[3] < 0))
		return false;
	if (!is_read(nr))
		return true;
	return !overlaps(buffer, length, calls, ncall * sizeof(*calls)) &&
	       !overlaps(buffer, length, rets, ncall * sizeof(*rets));
}

/* The arguments of SLOT, in STORE where operands are forwarded, or NULL when it must fail. */
static const __s64 *arguments(__s64 store[], const struct ferry_slot *slot, const long rets[],
			      const long *ret)
{
	if (slot->argc <= FERRY_MAX_ARGS)
		return slot->arg;
	return ferry_forward_args(store, slot, rets, ret) ? NULL : store;
}

static bool is_memory_device(const struct stat *st, unsigned int minor)
{
	const unsigned int mem_major = 1; /* Documentation/admin-guide/devices.txt */

	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(mem_major, minor);
}

static bool has_refused(const struct uring_ring *ring, dev_t device)
{
	unsigned int i;

	for (i = 0; i < URING_REFUSED_DEVICES; i++)
		if (ring->refused[i] == device)
			return true;
	return false;
}

static void remember_refusal(struct uring_ring *ring, dev_t device)
{
	ring->refused[ring->next_refused++ % URING_REFUSED_DEVICES] = device;
}

/* Whether calls NR on the file that ST describes may be issued out of turn, and twice. */
static bool leaves_no_trace(long nr, const struct stat *st)
{
	const unsigned int null = 3, zero = 5;

	if (is_memory_device(st, zero))
		return true;
	if (is_memory_device(st, null))
		return !is_read(nr);
	return nr == SYS_pread64 && S_ISREG(st->st_mode);
}

/* The ring is empty between submissions and has room for a run, so there always is one. */
static struct io_uring_sqe *next_sqe(struct io_uring *io)
{
	return &io->sq.sqes[io->sq.sqe_tail++ & io->sq.ring_mask];
}

/* A request that completes silently unless it fails; OP is about file slot 0 of the ring. */
static struct io_uring_sqe *add_housekeeping(struct io_uring *io, unsigned char op)
{
	struct io_uring_sqe *sqe = next_sqe(io);

	*sqe = (struct io_uring_sqe){
		.opcode = op,
		.flags = IOSQE_CQE_SKIP_SUCCESS,
		.user_data = HOUSEKEEPING,
	};
	return sqe;
}

static void add_open(struct io_uring *io, const int *fd)
{
	struct io_uring_sqe *sqe = add_housekeeping(io, IORING_OP_FILES_UPDATE);

	sqe->fd = -1;
	sqe->addr = (unsigned long)fd;
	sqe->len = 1;
}

static void add_close(struct io_uring *io)
{
	struct io_uring_sqe *sqe = add_housekeeping(io, IORING_OP_CLOSE);

	sqe->file_index = 1; /* slot 0: the kernel counts from 1 here, 0 means none */
}

/*
 * Writes the requests of FLIGHT, cutting its run short where a slot as it is now cannot
 * be sent.  The file is looked up once: a file slot of the ring holds it only while the run
 * is issued, so that a later close() of the descriptor closes the file.
 */
static void fill_ring(struct io_uring *io, struct flight *flight, const long rets[],
		      const struct ferry_slot calls[], unsigned long ncall)
{
	/* Copies, which stores through pointers cannot change: this loop dominates the cost. */
	const long nr = flight->nr;
	const int op = is_read(nr) ? IORING_OP_READ : IORING_OP_WRITE;
	const unsigned char flags =
		IOSQE_FIXED_FILE | (flight->silent ? IOSQE_CQE_SKIP_SUCCESS : 0);
	const unsigned long first = flight->run.first, length = flight->run.length;
	const struct io_uring_sq sq = io->sq;
	__s64 store[FERRY_MAX_ARGS];
	unsigned int tail;
	unsigned long k;

	add_open(io, &flight->fd);
	tail = io->sq.sqe_tail;
	for (k = 0; k < length; k++) {
		const struct ferry_slot *slot = &calls[first + k];
		const __s64 *args = arguments(store, slot, rets, &rets[first + k]);
		struct io_uring_sqe *sqe = &sq.sqes[(tail + k) & sq.ring_mask];

		if (!args || !can_be_sent(nr, args, rets, calls, ncall))
			break;
		io_uring_prep_rw(op, sqe, 0, (void *)args[1], args[2],
				 has_offset(nr) ? (unsigned long)args[3] : OWN_POSITION);
		sqe->flags = flags;
		sqe->rw_flags = RWF_NOWAIT;
		sqe->user_data = k;
	}
	io->sq.sqe_tail = tail + k;
	flight->tail = tail;
	flight->run.length = k;
	flight->whole = k;
	add_close(io);
}

/* Takes back the requests that were written and not submitted. */
static void discard(struct io_uring *io)
{
	io->sq.sqe_tail = io->sq.sqe_head;
}

/* What slot K of the run transfers at most. */
static unsigned int wanted_length(const struct io_uring *io, const struct flight *flight,
				  unsigned long k)
{
	return io->sq.sqes[(flight->tail + k) & io->sq.ring_mask].len;
}

/* Notes the completions that have arrived; returns for how many slots. */
static unsigned long reap(struct io_uring *io, struct flight *flight)
{
	unsigned int head = *io->cq.khead;
	unsigned int tail = io_uring_smp_load_acquire(io->cq.ktail);
	unsigned long slots = 0;

	for (; head != tail; head++) {
		const struct io_uring_cqe *cqe = &io->cq.cqes[head & io->cq.ring_mask];

		if (cqe->user_data == HOUSEKEEPING)
			continue;
		slots++;
		if (flight->whole <= cqe->user_data ||
		    cqe->res == (int)wanted_length(io, flight, cqe->user_data))
			continue;
		flight->whole = cqe->user_data;
		flight->shortfall = cqe->res;
	}
	io_uring_smp_store_release(io->cq.khead, tail);
	return slots;
}

/*
 * Issues the run and waits for all of it.  False when the ring cannot be used any more.  Reads that
 * bypass the page cache (O_DIRECT) do not complete within the submission.  They end in any order,
 * as those into one buffer must not, so none of them counts.
 */
static bool issue(struct io_uring *io, struct flight *flight)
{
	unsigned long completed;
	int result;

	while (io_uring_sq_ready(io)) {
		result = io_uring_submit(io);
		if (result <= 0 && result != -EINTR)
			return false;
	}
	completed = reap(io, flight);
	if (!flight->silent && completed < flight->run.length)
		flight->whole = 0;
	while (!flight->silent && completed < flight->run.length) {
		result = io_uring_submit_and_wait(io, 1);
		if (result < 0 && result != -EINTR)
			return false;
		completed += reap(io, flight);
	}
	return true;
}

/* After a run that fell short, the next ones go to the loop: more each time, up to a limit. */
static void adapt(struct uring_ring *ring, bool fell_short)
{
	if (!fell_short) {
		ring->penalty = 0;
		return;
	}
	ring->penalty = ring->penalty ? ring->penalty * 2 : 1;
	if (ring->penalty > MAX_PENALTY)
		ring->penalty = MAX_PENALTY;
	ring->runs_to_skip = ring->penalty;
}

/*
 * Submits the requests in the ring; returns how many slots of the run are done.  Their results are
 * stored after the calls: a handler or another thread may look at them meanwhile.
 */
static unsigned long send_flight(struct uring_ring *ring, struct flight *flight, dev_t device,
				 long rets[])
{
	bool fell_short;
	unsigned long k;

	if (!issue(&ring->io, flight)) {
		ferry__uring_ring_abandon(ring);
		return 0;
	}
	for (k = 0; k < flight->whole; k++)
		rets[flight->run.first + k] = wanted_length(&ring->io, flight, k);
	fell_short = flight->whole < flight->run.length;
	adapt(ring, fell_short);
	if (fell_short && flight->shortfall == -EOPNOTSUPP)
		remember_refusal(ring, device);
	ferry__uring_ring_release(ring);
	return flight->whole;
}

/* Whether earlier runs suggest not to use RING for one on DEVICE. */
static bool is_discouraged(struct uring_ring *ring, dev_t device)
{
	if (has_refused(ring, device))
		return true;
	if (!ring->runs_to_skip)
		return false;
	ring->runs_to_skip--;
	return true;
}

/*
 * Runs the slots of RUN in one crossing, if their file allows it and there is a ring.
 * Returns how many of them are done.
 */
static unsigned long try_run(struct uring_run run, int *refused_fd, long rets[],
			     const struct ferry_slot calls[], unsigned long ncall)
{
	struct flight flight;
	__s64 store[FERRY_MAX_ARGS];
	const __s64 *args = arguments(store, &calls[run.first], rets, &rets[run.first]);
	struct uring_ring *ring;
	struct stat st = { .st_mode = 0 };

	if (!args || (int)args[0] == *refused_fd)
		return 0;
	flight.run = run;
	flight.nr = calls[run.first].nr;
	flight.fd = (int)args[0];
	if (ferry_rawcall(SYS_fstat, flight.fd, (long)&st, 0, 0, 0, 0) ||
	    !leaves_no_trace(flight.nr, &st)) {
		*refused_fd = flight.fd;
		return 0;
	}
	flight.silent = S_ISCHR(st.st_mode);
	flight.shortfall = 0;
	ring = ferry__uring_ring_acquire();
	if (!ring)
		return 0;
	if (is_discouraged(ring, st.st_dev)) {
		ferry__uring_ring_release(ring);
		return 0;
	}
	fill_ring(&ring->io, &flight, rets, calls, ncall);
	if (flight.run.length < URING_MIN_RUN) {
		discard(&ring->io);
		ferry__uring_ring_release(ring);
		return 0;
	}
	return send_flight(ring, &flight, st.st_dev, rets);
}

/* Makes LENGTH slots from the cursor on known to be readable, or as many as there are. */
static unsigned long look_ahead(struct ferry_cursor *at, unsigned long length,
				const struct ferry_slot calls[], unsigned long ncall)
{
	unsigned long first = at->slot - calls;
	const struct ferry_slot *wanted = calls + (ncall - first < length ? ncall : first + length);
	const struct ferry_slot *from;

	if (at->readable < at->slot)
		at->readable = at->slot;
	while (at->readable < wanted) {
		from = at->readable;
		at->readable = ferry_readable_end(calls, from, ncall);
		if (at->readable <= from)
			break;
	}
	return at->readable - calls;
}

/* Runs RUN, which starts at the cursor: in one crossing as far as possible, then in the loop. */
static void take_run(struct ferry_cursor *at, struct uring_run run, int *refused_fd, long rets[],
		     const struct ferry_slot calls[], unsigned long ncall)
{
	unsigned long done = try_run(run, refused_fd, rets, calls, ncall);
	unsigned long head;

	at->slot += done;
	if (done < run.length) {
		ferry__loop_until(at, calls + run.first + run.length, rets, calls, ncall);
		return;
	}
	at->slot--;
	memcpy(&head, at->slot, sizeof(head));
	ferry_cursor_jump(at, calls, head, rets[at->slot - calls]);
}

/* The same for auto: whichever way has proved faster here. */
static void take_run_on_trial(struct ferry_cursor *at, struct uring_run run, int *refused_fd,
			      long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	const bool reads = is_read(calls[run.first].nr);
	enum uring_way way = ferry__uring_trial_way(reads);
	long start = ferry__uring_trial_start(reads);
	int refused_before = *refused_fd;

	if (way == URING_BY_RING)
		take_run(at, run, refused_fd, rets, calls, ncall);
	else
		ferry__loop_until(at, calls + run.first + run.length, rets, calls, ncall);
	/* Calls that fail at once, and files that cannot go through a ring, prove nothing. */
	if (start && rets[run.first] >= 0 && *refused_fd == refused_before)
		ferry__uring_trial_note(reads, way, run.length, start);
}

/*
 * Runs the slots from the cursor to RUN, or RUN if it starts at the cursor.  What follows has
 * to be planned again: these slots may change those, or unmap them.  So the loop tests again each
 * page that they enter.
 */
static void step(struct ferry_cursor *at, struct uring_run run, bool on_trial, int *refused_fd,
		 long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	const struct ferry_slot *first = calls + run.first;

	if (at->slot < first || run.confines)
		at->readable = ferry_page_end(calls, at->slot, ncall);
	if (at->slot < first) {
		ferry__loop_until(at, first, rets, calls, ncall);
	} else if (run.confines) {
		ferry__uring_ring_forswear();
		ferry__loop_until(at, calls + ncall, rets, calls, ncall);
	} else if (on_trial) {
		take_run_on_trial(at, run, refused_fd, rets, calls, ncall);
	} else {
		take_run(at, run, refused_fd, rets, calls, ncall);
	}
}

static int probe(const char **why)
{
	return ferry__uring_ring_probe(why);
}

static long run_batch(bool on_trial, long rets[], const struct ferry_slot calls[],
		      unsigned long ncall)
{
	struct ferry_cursor at = ferry_cursor_at(0, calls);
	int refused_fd = -1;

	/* Results that land on slots change later slots: no plan can foresee that. */
	if (ncall < URING_MIN_RUN ||
	    overlaps((unsigned long)rets, ncall * sizeof(*rets), calls, ncall * sizeof(*calls)))
		return ferry__loop_engine.run(rets, calls, ncall);
	while (at.slot && at.slot < calls + ncall) {
		unsigned long ahead = look_ahead(&at, 2 * URING_MAX_RUN, calls, ncall);

		if (at.slot == at.readable)
			break;
		step(&at, ferry__uring_plan_next(calls, at.slot - calls, ahead), on_trial,
		     &refused_fd, rets, calls, ncall);
	}
	return ferry_cursor_last(&at, calls);
}

static long run(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	return run_batch(false, rets, calls, ncall);
}

long ferry__uring_run_on_trial(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	return run_batch(true, rets, calls, ncall);
}

const struct engine ferry__uring_engine = {
	.name = "uring",
	.summary = "io_uring for the runs of slots it wins, the loop for the rest",
	.probe = probe,
	.run = run,
};
