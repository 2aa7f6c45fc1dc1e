// SPDX-License-Identifier: MIT
#include "poller.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

#include <ferry/rawcall.h>

#include "scheduler.h"
#include "spin.h"

#define EVENTS_AT_ONCE 64

/* The major number of /dev/null, /dev/zero and their like. */
#define MEMORY_DEVICES 1

/* Waits that one look around checks at most. */
#define CHECKS_AT_ONCE 64

/* ---- starting and ending ---- */

static int control(const struct poller *p, int operation, int fd, unsigned int events)
{
	struct epoll_event event = { .events = events | EPOLLET, .data.fd = fd };

	return (int)ferry_rawcall(SYS_epoll_ctl, p->epoll, operation, fd, (long)&event, 0, 0);
}

static void close_fd(int fd)
{
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static int open_both(struct scheduler *s)
{
	s->poller.epoll = (int)ferry_rawcall(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0, 0);
	if (s->poller.epoll < 0)
		return s->poller.epoll;
	s->bell.eventfd =
		(int)ferry_rawcall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0);
	if (s->bell.eventfd < 0)
		return s->bell.eventfd;
	return control(&s->poller, EPOLL_CTL_ADD, s->bell.eventfd, EPOLLIN);
}

static void close_both(const struct scheduler *s)
{
	if (s->bell.eventfd >= 0)
		close_fd(s->bell.eventfd);
	if (s->poller.epoll >= 0)
		close_fd(s->poller.epoll);
}

int ferry__poller_start(struct scheduler *s)
{
	int error;

	s->poller.epoll = s->bell.eventfd = -1;
	error = open_both(s);
	if (error)
		close_both(s);
	return error;
}

void ferry__poller_end(struct scheduler *s)
{
	unsigned int i;

	close_both(s);
	for (i = 0; i < s->poller.chunks; i++)
		free(s->poller.chunk[i]);
	free(s->poller.chunk);
}

/* ---- descriptors ---- */

static bool make_room(struct poller *p, unsigned int chunks)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	struct descriptor **more = realloc(p->chunk, chunks * sizeof(*more));

	if (!more)
		return false;
	p->chunk = more;
	while (p->chunks < chunks)
		p->chunk[p->chunks++] = NULL;
	return true;
}

static bool is_open(int fd)
{
	return ferry_rawcall(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) >= 0;
}

struct descriptor *ferry__poller_find(struct poller *p, long fd)
{
	unsigned int chunk;

	if (fd < 0 || fd > INT_MAX)
		return NULL;
	chunk = (unsigned int)fd / CHUNK;
	/* The kernel's own table of open descriptors is larger. */
	if ((chunk >= p->chunks || !p->chunk[chunk]) && !is_open((int)fd))
		return NULL;
	if (chunk >= p->chunks && !make_room(p, chunk + 1))
		return NULL;
	if (!p->chunk[chunk])
		p->chunk[chunk] = calloc(CHUNK, sizeof(struct descriptor));
	return p->chunk[chunk] ? &p->chunk[chunk][fd % CHUNK] : NULL;
}

int ferry__socket_option(int fd, int option)
{
	int value = 0;
	socklen_t size = sizeof(value);

	ferry_rawcall(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&size, 0);
	return value;
}

/* The epoll takes only what can be polled: not /dev/null, for example. */
static bool can_be_polled(const struct poller *p, int fd)
{
	return control(p, EPOLL_CTL_ADD, fd, 0) != -EPERM;
}

static enum descriptor_kind kind_of(const struct poller *p, int fd, unsigned int mode)
{
	if (S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode))
		return PLAIN;
	if (S_ISSOCK(mode))
		return ferry__socket_option(fd, SO_TYPE) == SOCK_STREAM ? STREAM : OTHER;
	return S_ISFIFO(mode) || can_be_polled(p, fd) ? OTHER : PLAIN;
}

static bool get_status(int fd, struct stat *status)
{
	int before = errno;
	bool failed = fstat(fd, status);

	errno = before;
	return !failed;
}

static bool is_memory_device(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && major(status->st_rdev) == MEMORY_DEVICES;
}

bool ferry__poller_never_waits(int fd)
{
	struct stat status;

	return get_status(fd, &status) && is_memory_device(&status);
}

void ferry__poller_classify(struct poller *p, struct descriptor *d, int fd)
{
	struct stat status;

	if (!get_status(fd, &status))
		return;
	d->kind = kind_of(p, fd, status.st_mode);
	d->never_waits = is_memory_device(&status);
	d->is_stream = d->kind == STREAM || S_ISFIFO(status.st_mode);
	if (d->kind == STREAM)
		d->least = (size_t)ferry__socket_option(fd, SO_RCVLOWAT);
	/* In other streams a read may stop early: in a Unix socket where descriptors come. */
	d->is_tcp = d->kind == STREAM && ferry__socket_option(fd, SO_PROTOCOL) == IPPROTO_TCP;
	d->ready = EPOLLIN | EPOLLOUT;
}

static long time_limit(int fd, int option)
{
	struct timeval limit = { 0 };
	socklen_t size = sizeof(limit);

	if (ferry_rawcall(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&limit, (long)&size, 0))
		return 0;
	if (limit.tv_sec > INT_MAX) /* so many nanoseconds might not fit a long */
		limit.tv_sec = INT_MAX;
	return limit.tv_sec * 1000000000L + limit.tv_usec * 1000L;
}

int ferry__poller_settle(struct descriptor *d, int fd)
{
	long flags;

	if (d->is_settled)
		return 0;
	flags = ferry_rawcall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	if (flags >= 0 && flags & O_NONBLOCK) {
		d->kind = PLAIN;
		d->is_nonblocking = true;
		return -EAGAIN;
	}
	d->receive_ns = time_limit(fd, SO_RCVTIMEO);
	d->send_ns = time_limit(fd, SO_SNDTIMEO);
	if (d->kind == STREAM)
		d->least = (size_t)ferry__socket_option(fd, SO_RCVLOWAT);
	d->is_settled = true;
	return 0;
}

/* ---- lists ---- */

static void list_put(struct wait_list *list, struct wait *wait, long check_at)
{
	wait->list = list;
	wait->check_at = check_at;
	wait->next = NULL;
	wait->previous = list->last;
	if (list->last)
		list->last->next = wait;
	else
		list->first = wait;
	list->last = wait;
}

static void list_remove(struct wait *wait)
{
	if (wait->previous)
		wait->previous->next = wait->next;
	else
		wait->list->first = wait->next;
	if (wait->next)
		wait->next->previous = wait->previous;
	else
		wait->list->last = wait->previous;
}

static void interest_put(struct descriptor *d, struct interest *interest)
{
	interest->next = NULL;
	interest->previous = d->last;
	if (d->last)
		d->last->next = interest;
	else
		d->first = interest;
	d->last = interest;
}

static void interest_remove(struct descriptor *d, struct interest *interest)
{
	if (interest->previous)
		interest->previous->next = interest->next;
	else
		d->first = interest->next;
	if (interest->next)
		interest->next->previous = interest->previous;
	else
		d->last = interest->previous;
}

/* ---- waiting ---- */

static void wake(struct scheduler *s, struct wait *wait, int result)
{
	ferry__poller_end_wait(&s->poller, wait, result);
	if (!wait->thread->timed_out) /* then it is ready for that reason */
		scheduler_wake(s, wait->thread);
}

static void end_all_waits(struct scheduler *s, const struct descriptor *d, int result)
{
	while (d->first)
		wake(s, d->first->wait, result);
}

/*
 * The descriptor means another file than the one in the epoll.  Waits for that one, which a check
 * has found, end with an error; waits that may have begun later are tried again.
 */
static void end_stale_waits(struct scheduler *s, const struct descriptor *d)
{
	while (d->first)
		wake(s, d->first->wait, d->first->wait->is_checked ? -EBADF : 0);
}

static int watch(struct scheduler *s, struct descriptor *d, int fd, unsigned int events)
{
	int error;

	events |= d->watched | (events & EPOLLIN ? EPOLLRDHUP | EPOLLPRI : 0);
	error = control(&s->poller, d->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events);
	if (error == -ENOENT) {
		end_stale_waits(s, d);
		error = control(&s->poller, EPOLL_CTL_ADD, fd, events);
	} else if (error == -EEXIST) {
		error = control(&s->poller, EPOLL_CTL_MOD, fd, events);
	}
	d->watched = error ? 0 : events;
	return error;
}

/*
 * A new interest reports what is ready already.  If others wait, it is checked whether they wait
 * for the same file.
 */
static int watch_all(struct scheduler *s, const struct wait *wait)
{
	const struct interest *interests = wait->interest;
	struct descriptor *d;
	unsigned int i;
	int error;

	for (i = 0; i < wait->count; i++) {
		d = ferry__poller_find(&s->poller, interests[i].fd);
		if (!d)
			return -ENOMEM;
		if (!(interests[i].events & ~d->watched) && !d->first)
			continue;
		error = watch(s, d, interests[i].fd, interests[i].events);
		/* What cannot be polled has no events but those that poll() reports at once. */
		if (error && (error != -EPERM || wait->takes))
			return error;
	}
	return 0;
}

int ferry__poller_enlist(struct scheduler *s, struct wait *wait)
{
	struct poller *p = &s->poller;
	unsigned int i;
	int error = watch_all(s, wait);

	if (error)
		return error;
	for (i = 0; i < wait->count; i++) {
		wait->interest[i].wait = wait;
		interest_put(ferry__poller_find(p, wait->interest[i].fd), &wait->interest[i]);
	}
	/* The latest look is less than a millisecond ago, and reading the clock takes time. */
	list_put(&p->young, wait, s->looked_ns + CHECK_SOON_NS);
	p->waiting++;
	return 0;
}

void ferry__poller_end_wait(struct poller *p, struct wait *wait, int result)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++)
		interest_remove(ferry__poller_find(p, wait->interest[i].fd), &wait->interest[i]);
	list_remove(wait);
	p->waiting--;
	wait->over = true;
	wait->result = result;
}

static struct interest *first_interested(const struct descriptor *d, unsigned int events)
{
	struct interest *interest;

	for (interest = d->first; interest; interest = interest->next)
		if (interest->events & events)
			return interest;
	return NULL;
}

/* A thread that takes leaves nothing for the next one, or calls ferry__poller_ready() again. */
static void wake_interested(struct scheduler *s, const struct descriptor *d, unsigned int events)
{
	struct interest *interest;

	while ((interest = first_interested(d, events))) {
		if (interest->wait->takes)
			events &= ~interest->events;
		wake(s, interest->wait, 0);
	}
}

void ferry__poller_ready(struct scheduler *s, struct descriptor *d, unsigned int events)
{
	d->ready |= events;
	if (FERRY_UNLIKELY(d->first))
		wake_interested(s, d, events);
}

void ferry__poller_forget(struct scheduler *s, int fd)
{
	struct descriptor *d = ferry__poller_find(&s->poller, fd);

	if (!d)
		return;
	end_all_waits(s, d, -EBADF);
	if (d->watched)
		control(&s->poller, EPOLL_CTL_DEL, fd, 0);
	*d = (struct descriptor){ 0 };
}

/* ---- events and checks ---- */

static void note_bells(struct scheduler *s)
{
	__u64 count = 0;

	if (ferry_rawcall(SYS_read, s->bell.eventfd, (long)&count, sizeof(count), 0, 0, 0) <= 0)
		return;
	s->bell.rung += (long)(count % HELPED);
	if (count >= HELPED)
		ferry__helpers_collect(s);
}

static void note_event(struct scheduler *s, int fd, unsigned int events)
{
	struct descriptor *d;

	if (fd == s->bell.eventfd) {
		note_bells(s);
		return;
	}
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		events |= EPOLLIN;
	if (events & (EPOLLERR | EPOLLHUP))
		events |= EPOLLOUT | EPOLLPRI;
	d = ferry__poller_find(&s->poller, fd);
	if (d)
		ferry__poller_ready(s, d, events);
}

/* Rounded up, so that a thread which waits for a time wakes no earlier. */
static long milliseconds(long ns)
{
	if (ns < 0)
		return -1;
	return ns >= INT_MAX * 1000000L ? INT_MAX : (ns + 999999) / 1000000;
}

static long wait_for_events(const struct poller *p, struct epoll_event events[], long timeout_ns)
{
	struct timespec timeout = timespec_of(timeout_ns);
	long count = -ENOSYS;

#ifdef SYS_epoll_pwait2
	if (timeout_ns > 0)
		count = ferry_rawcall(SYS_epoll_pwait2, p->epoll, (long)events, EVENTS_AT_ONCE,
				      (long)&timeout, 0, 0);
#else
	(void)timeout;
#endif
	if (count < 0 && count != -EINTR) /* it is missing, or a filter forbids it */
		count = ferry_rawcall(SYS_epoll_pwait, p->epoll, (long)events, EVENTS_AT_ONCE,
				      milliseconds(timeout_ns), 0, 0);
	return count;
}

void ferry__poller_look(struct scheduler *s, long timeout_ns)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	long i, count;

	do {
		count = wait_for_events(&s->poller, events, timeout_ns);
		for (i = 0; i < count; i++) /* the analyzer does not see the kernel write */
			/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
			note_event(s, events[i].data.fd, events[i].events);
		timeout_ns = 0;
	} while (count == EVENTS_AT_ONCE);
}

/* MOD looks at the descriptor again, and fails if it is not the one that was added. */
static void check(struct scheduler *s, struct wait *wait)
{
	long receive_ns, send_ns;
	struct descriptor *d;
	unsigned int i;
	int fd, error;

	for (i = 0; i < wait->count && !wait->over; i++) {
		fd = wait->interest[i].fd;
		d = ferry__poller_find(&s->poller, fd);
		receive_ns = d->receive_ns;
		send_ns = d->send_ns;
		d->is_settled = false;
		error = watch(s, d, fd, 0);
		if (error)
			end_all_waits(s, d, -EBADF);
		else if (ferry__poller_settle(d, fd) && wait->takes)
			end_all_waits(s, d, -EAGAIN);
		else if (d->receive_ns != receive_ns || d->send_ns != send_ns)
			end_all_waits(s, d, 0); /* they begin again with these limits */
	}
	wait->is_checked = true;
}

static void check_list(struct scheduler *s, struct wait_list *list, long now)
{
	struct wait *wait;
	int i;

	for (i = 0; i < CHECKS_AT_ONCE && list->first && list->first->check_at <= now; i++) {
		wait = list->first;
		list_remove(wait);
		list_put(&s->poller.old, wait, now + CHECK_AGAIN_NS);
		check(s, wait);
	}
}

void ferry__poller_check(struct scheduler *s, long now)
{
	check_list(s, &s->poller.young, now);
	check_list(s, &s->poller.old, now);
}

long ferry__poller_next_check(const struct poller *p)
{
	long soon = p->young.first ? p->young.first->check_at : LONG_MAX;
	long later = p->old.first ? p->old.first->check_at : LONG_MAX;

	return soon < later ? soon : later;
}

void ferry__poller_restart(struct scheduler *s)
{
	struct poller *p = &s->poller;
	unsigned int i;

	ferry__helpers_cancel(s);
	while (p->young.first)
		wake(s, p->young.first, -ECANCELED);
	while (p->old.first)
		wake(s, p->old.first, -ECANCELED);
	for (i = 0; i < p->chunks; i++)
		if (p->chunk[i])
			memset(p->chunk[i], 0, CHUNK * sizeof(struct descriptor));
	close_both(s);
	p->forks++;
	if (ferry__poller_start(s))
		abort(); /* the two descriptors that were closed just now are free */
}
