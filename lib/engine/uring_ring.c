// SPDX-License-Identifier: MIT
/*
 * A ring occupies no descriptor once it is set up: it is registered with the thread and its
 * descriptor is closed.  So a program sees the same descriptor numbers as with the loop, and
 * cannot close the ring.  Its state is in a page that fork() zeroes in the child, which
 * therefore starts without a ring.
 */
#include "uring_ring.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include <ferry/rawcall.h>

#include "unseen.h"

#define RING_ENTRIES 128 /* URING_MAX_RUN, and two to open and close the file */
_Static_assert(URING_MAX_RUN + 2 <= RING_ENTRIES, "a run fits the ring");

enum state {
	NONE, /* 0: the state of a new page, also in a forked child */
	BUSY, /* being made or used: a signal handler must not use it */
	READY,
	REFUSED, /* it cannot be made, or must not be used any more */
};

struct thread_ring {
	volatile sig_atomic_t state;
	int error; /* why it is REFUSED */
	struct uring_ring ring;
};

/* Initial-exec: a signal handler may be the first to touch it. */
static _Thread_local struct thread_ring *mine __attribute__((tls_model("initial-exec")));

/* Never reset: a forked child loses the page but inherits the filter. */
static _Thread_local bool forsworn __attribute__((tls_model("initial-exec")));

static pthread_key_t exit_key;
static bool has_exit_key; /* a process has 1024 keys */

static void unmap(void *thread_ring)
{
	struct thread_ring *of = thread_ring;

	mine = NULL; /* first, for a signal handler that runs a batch */
	/* Busy: a handler left the batch, and no code of it runs any more. */
	if (of->state == READY || of->state == BUSY)
		io_uring_queue_exit(&of->ring.io);
	munmap(of, sizeof(*of));
}

/* Not on first use, which may be in a signal handler. */
__attribute__((constructor)) static void make_exit_key(void)
{
	has_exit_key = !pthread_key_create(&exit_key, unmap);
}

/* A new state, or NULL when out of memory. */
static struct thread_ring *map(void)
{
	struct thread_ring *fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		return NULL;
	if (madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) ||
	    pthread_setspecific(exit_key, fresh)) {
		munmap(fresh, sizeof(*fresh));
		return NULL;
	}
	return fresh;
}

/* The calling thread's state, mapped on first use, or NULL when it can have none now. */
static struct thread_ring *thread_ring(void)
{
	unsigned long signals;

	if (mine || !has_exit_key || !ferry__unseen_begin(&signals))
		return mine;
	if (!mine)
		mine = map();
	ferry__unseen_end(signals);
	return mine;
}

/*
 * One thread uses the ring: single issuer, deferred task work (Linux 6.1).  It has one file
 * slot, which each submission fills and empties.
 */
static int make_ring(struct io_uring *io)
{
	const unsigned int flags =
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL;
	int result = io_uring_queue_init(RING_ENTRIES, io, flags);

	if (result)
		return result;
	result = io_uring_ring_dontfork(io);
	if (!result)
		result = io_uring_register_files_sparse(io, 1);
	if (!result)
		result = io_uring_register_ring_fd(io);
	if (result < 0) {
		io_uring_queue_exit(io);
		return result;
	}
	ferry_rawcall(SYS_close, io->ring_fd, 0, 0, 0, 0, 0); /* close() is a cancellation point */
	io->ring_fd = -1;
	return 0;
}

/* Makes the ring of a thread that has none, unless that is impossible now. */
static void set_up(struct thread_ring *own)
{
	int saved = errno;
	unsigned long signals;

	if (!ferry__unseen_begin(&signals))
		return;
	if (own->state == NONE) { /* a handler may have made it */
		own->state = BUSY;
		own->error = make_ring(&own->ring.io);
		own->state = own->error ? REFUSED : READY;
	}
	ferry__unseen_end(signals);
	errno = saved;
}

struct uring_ring *ferry__uring_ring_acquire(void)
{
	struct thread_ring *own = forsworn ? NULL : thread_ring();

	if (!own || own->state == BUSY || own->state == REFUSED)
		return NULL;
	if (ferry__thread_watcher(&own->ring.tracer))
		return NULL;
	if (own->state == NONE)
		set_up(own);
	if (own->state != READY)
		return NULL;
	own->state = BUSY;
	atomic_signal_fence(memory_order_seq_cst);
	return &own->ring;
}

void ferry__uring_ring_release(struct uring_ring *ring)
{
	(void)ring;
	atomic_signal_fence(memory_order_seq_cst);
	mine->state = READY;
}

/* Takes back the requests that the kernel has not taken. */
static void take_back(struct io_uring_sq *sq)
{
	sq->sqe_head = *sq->khead;
	sq->sqe_tail = sq->sqe_head;
	io_uring_smp_store_release(sq->ktail, sq->sqe_head);
}

void ferry__uring_ring_abandon(struct uring_ring *ring)
{
	if (ferry__in_foreign_memory()) {
		take_back(&ring->io.sq);
		ferry__uring_ring_release(ring);
		return;
	}
	io_uring_queue_exit(&ring->io);
	mine->error = -EIO;
	mine->state = REFUSED;
}

void ferry__uring_ring_forswear(void)
{
	forsworn = true;
}

static const char *refusal(int error)
{
	switch (error) {
	case -ENOSYS:
		return "this kernel has no io_uring";
	case -EPERM:
		return "io_uring is disabled here (sysctl kernel.io_uring_disabled, or a sandbox)";
	case -EINVAL:
		return "this kernel's io_uring is too old: Linux 6.1 or later is needed";
	case -EMFILE:
	case -ENFILE:
		return "no descriptor was free to set up a ring";
	case -ENOMEM:
		return "out of memory for a ring";
	default:
		return "a ring could not be set up";
	}
}

static const char *watched_by(enum watcher watcher)
{
	switch (watcher) {
	case WATCHER_TRACER:
		return "this thread has a tracer, which would not see io_uring's requests";
	case WATCHER_UNKNOWN:
		return "/proc cannot be read, so a tracer that would not see io_uring's requests "
		       "cannot be ruled out";
	case WATCHER_FILTER:
		return "this thread has a seccomp filter, which io_uring would bypass";
	default:
		return "no ring can be made now: memory is short, a thread forks, or this is a "
		       "child of vfork()";
	}
}

int ferry__uring_ring_probe(const char **why)
{
	struct uring_ring *ring = ferry__uring_ring_acquire();
	enum watcher watcher;

	if (ring) {
		ferry__uring_ring_release(ring);
		*why = "completes runs of reads and writes inline, on files that allow it";
		return 0;
	}
	if (mine && mine->state == REFUSED) {
		*why = refusal(mine->error);
		return mine->error;
	}
	if (mine && mine->state == BUSY) {
		*why = "the thread is in the middle of a batch";
		return -EBUSY;
	}
	watcher = forsworn ? WATCHER_FILTER : ferry__thread_watcher(&(struct tracer_check){ 0 });
	*why = watched_by(watcher);
	return watcher == WATCHER_NONE || watcher == WATCHER_UNCHECKED ? -EBUSY : -EACCES;
}
