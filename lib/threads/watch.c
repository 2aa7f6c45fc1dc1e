// SPDX-License-Identifier: MIT
#include "watch.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carrier.h"
#include "report.h"
#include "signals.h"

#define BATCH 64
#define OWN_FROM \
	900 /* the layer's descriptors, out of the way of programs that count on low ones */

#define TABLE_SIZE (sizeof(struct descriptor) * MOST_DESCRIPTORS) /* touched where it is used */

enum { OWN_EPOLL, OWN_KICK, OWN_SIGNALS, OWNS };

/* An event's data is the number of a descriptor, or this and an index of own[], which may move. */
#define OWN_EVENT (1UL << 32)

static struct descriptor *table;
static int own[OWNS] = { -1, -1, -1 };
static unsigned int settings = 1; /* the generation of what is cached of descriptors */
static bool limits_used;

/* ---- the layer's own descriptors ---- */

static int move_up(int fd)
{
	long moved;

	if (fd < 0)
		return fd;
	moved = raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_FROM);
	if (moved < 0)
		return fd;
	raw3(SYS_close, fd, 0, 0);
	return (int)moved;
}

static int add_own(int index)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = OWN_EVENT + index };

	return (int)raw6(SYS_epoll_ctl, own[OWN_EPOLL], EPOLL_CTL_ADD, own[index], (long)&event, 0,
			 0);
}

/* Old kernels, and filters from before the program started, refuse it. */
static bool can_wait(void)
{
	const struct timespec none = { 0 };
	struct epoll_event event;

	return raw6(SYS_epoll_pwait2, own[OWN_EPOLL], (long)&event, 1, (long)&none, 0, 0) >= 0;
}

static void close_own(void)
{
	for (int i = 0; i < OWNS; i++) {
		if (own[i] >= 0)
			raw3(SYS_close, own[i], 0, 0);
		own[i] = -1;
	}
}

int watch_load(void)
{
	void *memory = mmap(NULL, TABLE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	table = memory;
	return 0;
}

int watch_start(void)
{
	const uint64_t all = ~0UL;

	own[OWN_EPOLL] = move_up((int)raw3(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0));
	own[OWN_KICK] = move_up((int)raw3(SYS_eventfd2, 0, EFD_NONBLOCK | EFD_CLOEXEC, 0));
	/* Tells of signals that no thread takes because those that would are carried. */
	own[OWN_SIGNALS] = move_up((int)raw6(SYS_signalfd4, -1, (long)&all, sizeof(all),
					     SFD_NONBLOCK | SFD_CLOEXEC, 0, 0));
	if (own[OWN_EPOLL] >= 0 && own[OWN_KICK] >= 0 && own[OWN_SIGNALS] >= 0 &&
	    !add_own(OWN_KICK) && !add_own(OWN_SIGNALS) && can_wait())
		return 0;
	close_own();
	return -EMFILE;
}

bool watch_is_own(int fd)
{
	if (own[OWN_EPOLL] < 0)
		return false;
	for (int i = 0; i < OWNS; i++)
		if (own[i] == fd)
			return true;
	return false;
}

int watch_own_count(void)
{
	return own[OWN_EPOLL] < 0 ? 0 : OWNS;
}

int watch_own(int index)
{
	return own[index];
}

/* The epoll instance knows the others by their files, not by their numbers. */
int watch_move_own(int fd)
{
	for (int i = 0; i < OWNS; i++)
		if (own[i] == fd) {
			const long moved = raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_FROM);

			if (moved < 0)
				return (int)moved;
			__atomic_store_n(&own[i], (int)moved, __ATOMIC_RELEASE);
		}
	return 0;
}

/* ---- what is known of descriptors ---- */

struct descriptor *watch_descriptor(int fd)
{
	if (!table || (unsigned int)fd >= MOST_DESCRIPTORS)
		return NULL;
	return &table[fd];
}

enum kind watch_kind(int fd)
{
	struct descriptor *descriptor = watch_descriptor(fd);
	struct stat status = { 0 };

	if (!descriptor)
		return KIND_UNKNOWN;
	if (descriptor->kind)
		return (enum kind)descriptor->kind;
	if (raw6(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) < 0)
		return KIND_UNKNOWN;
	if (S_ISSOCK(status.st_mode))
		descriptor->kind = KIND_SOCKET;
	else if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))
		descriptor->kind = KIND_FILE;
	else
		descriptor->kind = KIND_OTHER;
	return (enum kind)descriptor->kind;
}

static int64_t limit_of(int fd, int option)
{
	struct timeval limit = { 0 };
	socklen_t length = sizeof(limit);

	if (raw6(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&limit, (long)&length, 0) < 0)
		return 0;
	return ns_of(&(struct timespec){ limit.tv_sec, limit.tv_usec * 1000 });
}

/*
 * O_NONBLOCK and the time limits belong to the open file, of which there may be several numbers:
 * a change anywhere in the process ends what is cached of all.
 */
bool watch_is_nonblocking(int fd, struct descriptor *descriptor)
{
	const unsigned int generation = __atomic_load_n(&settings, __ATOMIC_ACQUIRE);
	long flags;

	if (descriptor->settings == generation)
		return descriptor->nonblocking;
	flags = raw3(SYS_fcntl, fd, F_GETFL, 0);
	descriptor->nonblocking = flags >= 0 && flags & O_NONBLOCK;
	if (__atomic_load_n(&limits_used, __ATOMIC_RELAXED)) {
		descriptor->limit[DIRECTION_IN] = limit_of(fd, SO_RCVTIMEO);
		descriptor->limit[DIRECTION_OUT] = limit_of(fd, SO_SNDTIMEO);
	}
	descriptor->settings = generation;
	return descriptor->nonblocking;
}

void watch_settings_changed(bool limits)
{
	if (limits)
		__atomic_store_n(&limits_used, true, __ATOMIC_RELAXED);
	/* The generation 0 is that of descriptors of which nothing is known. */
	if (!__atomic_add_fetch(&settings, 1, __ATOMIC_ACQ_REL))
		__atomic_add_fetch(&settings, 1, __ATOMIC_ACQ_REL);
}

void watch_forget(int fd)
{
	struct descriptor *descriptor = watch_descriptor(fd);

	if (!descriptor)
		return;
	descriptor->watched = descriptor->kind = 0;
	descriptor->no_nowait = false;
	descriptor->settings = 0;
	descriptor->limit[DIRECTION_IN] = descriptor->limit[DIRECTION_OUT] = 0;
	__atomic_add_fetch(&descriptor->births, 1, __ATOMIC_ACQ_REL);
}

void watch_close(int fd)
{
	struct descriptor *descriptor = watch_descriptor(fd);
	bool watched;

	if (!descriptor)
		return;
	watched = descriptor->watched;
	watch_forget(fd);
	if (!watched)
		return;
	wait_wake(&descriptor->edges[DIRECTION_IN], NULL, INT_MAX, INT_MAX, EPOLLNVAL_FIRED);
	wait_wake(&descriptor->edges[DIRECTION_OUT], NULL, INT_MAX, INT_MAX, EPOLLNVAL_FIRED);
}

/* ---- waiting ---- */

int watch_register(int fd, struct descriptor *descriptor, enum direction direction)
{
	struct epoll_event event = { .data.u64 = (unsigned int)fd };
	struct lock *lock = &descriptor->edges[DIRECTION_IN].lock;
	unsigned int bits;
	int operation, result;

	if (descriptor->watched & 1U << direction)
		return 0;
	/* A reader and a writer at once: each would leave out the other's direction. */
	lock_take(lock);
	bits = descriptor->watched | 1U << direction;
	event.events = EPOLLET | EPOLLRDHUP;
	if (bits & 1U << DIRECTION_IN)
		event.events |= EPOLLIN | EPOLLPRI;
	if (bits & 1U << DIRECTION_OUT)
		event.events |= EPOLLOUT;
	/* Both report what is ready already, so no edge is lost between the try and this. */
	operation = descriptor->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	result = (int)raw6(SYS_epoll_ctl, own[OWN_EPOLL], operation, fd, (long)&event, 0, 0);
	if (result == -EEXIST || result == -ENOENT)
		result = (int)raw6(SYS_epoll_ctl, own[OWN_EPOLL],
				   result == -EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd,
				   (long)&event, 0, 0);
	if (!result)
		__atomic_fetch_or(&descriptor->watched, bits, __ATOMIC_RELAXED);
	lock_give(lock);
	return result;
}

void watch_unregister(int fd, struct descriptor *descriptor)
{
	struct lock *lock = &descriptor->edges[DIRECTION_IN].lock;
	unsigned int watched;

	if (!__atomic_load_n(&descriptor->watched, __ATOMIC_RELAXED))
		return;
	lock_take(lock);
	watched = __atomic_exchange_n(&descriptor->watched, 0, __ATOMIC_SEQ_CST);
	if (watched)
		raw6(SYS_epoll_ctl, own[OWN_EPOLL], EPOLL_CTL_DEL, fd, 0, 0, 0);
	lock_give(lock);
	/* Who waits for an edge, or has looked for one since, tries again and registers. */
	wait_wake(&descriptor->edges[DIRECTION_IN], NULL, INT_MAX, INT_MAX, 0);
	wait_wake(&descriptor->edges[DIRECTION_OUT], NULL, INT_MAX, INT_MAX, 0);
}

void watch_prepare(struct wait *wait, struct descriptor *descriptor, enum direction direction,
		   unsigned int seq)
{
	wait->list = &descriptor->edges[direction];
	wait->key = NULL;
	wait->seq = seq;
	wait->fired = 0;
	wait->exclusive = false;
}

/* ---- events ---- */

#define IN_EVENTS (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)
#define OUT_EVENTS (EPOLLOUT | EPOLLHUP | EPOLLERR)

static void handle(const struct epoll_event *event)
{
	struct descriptor *descriptor;
	uint64_t count;

	/* The kernel wrote it. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	if (event->data.u64 == OWN_EVENT + OWN_KICK) {
		raw3(SYS_read, own[OWN_KICK], (long)&count, sizeof(count));
		carrier_was_kicked();
		return;
	}
	if (event->data.u64 == OWN_EVENT + OWN_SIGNALS) {
		signals_arrived();
		return;
	}
	descriptor = &table[event->data.u64];
	if (event->events & IN_EVENTS)
		wait_wake(&descriptor->edges[DIRECTION_IN], NULL, INT_MAX, 1, event->events);
	if (event->events & OUT_EVENTS)
		wait_wake(&descriptor->edges[DIRECTION_OUT], NULL, INT_MAX, INT_MAX, event->events);
}

void watch_look(int64_t deadline)
{
	struct epoll_event events[BATCH];
	struct timespec span = { 0 };
	int64_t left = 0;
	long count, i;

	if (deadline > 0) {
		left = deadline - now_ns();
		if (left < 0)
			left = 0;
		span.tv_sec = left / NS_PER_S;
		span.tv_nsec = left % NS_PER_S;
	}
	report_count(COUNT_LOOKS);
	count = raw6(SYS_epoll_pwait2, own[OWN_EPOLL], (long)events, BATCH,
		     deadline < 0 ? 0 : (long)&span, 0, 0);
	for (i = 0; i < count; i++)
		handle(&events[i]);
}

void watch_kick(void)
{
	const uint64_t one = 1;

	raw3(SYS_write, own[OWN_KICK], (long)&one, sizeof(one));
}

void watch_reset(void)
{
	close_own();
	/* All zero again. */
	if (table)
		madvise(table, TABLE_SIZE, MADV_DONTNEED);
}
