/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's epoll.  A user-level thread whose call finds a descriptor not ready waits here,
 * not in a runner.  The epoll is edge-triggered, and a descriptor stays in it until it is closed.
 *
 * What other code does to descriptors is not seen: it may close and reuse them, or change their
 * flags.  So each wait is checked after CHECK_SOON_NS and then every CHECK_AGAIN_NS.
 */
#ifndef FLEXSC_POLLER_H
#define FLEXSC_POLLER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>

struct ferry_thread;
struct scheduler;

#define CHECK_SOON_NS 10000000L
#define CHECK_AGAIN_NS 1000000000L

enum descriptor_kind {
	UNKNOWN,
	PLAIN,	/* calls never wait for it: a file, or O_NONBLOCK */
	STREAM, /* a socket */
	OTHER	/* anything else that can be polled */
};

/* What is known of a file descriptor. */
struct descriptor {
	enum descriptor_kind kind;
	bool never_waits;	  /* PLAIN, and not even for a disk */
	bool is_nonblocking;	  /* PLAIN because it was O_NONBLOCK */
	bool is_stream;		  /* of bytes: a write goes on until all are done */
	bool is_tcp;		  /* a read that returns less than it may has left nothing */
	bool is_settled;	  /* the limits below are known, and that it is not O_NONBLOCK */
	long receive_ns, send_ns; /* limits of the time that calls wait; 0: none */
	size_t least;		  /* bytes that a receive from a STREAM waits for */
	bool is_emptied; /* a read has left nothing: the next one has to wait for an event */

	/* EPOLLIN, EPOLLOUT: worth an attempt.  Cleared before one, set by events. */
	unsigned int ready;
	unsigned int watched; /* events that the epoll reports */
	unsigned int claimed; /* events that a runner, which may wait for more, is about to use */
	struct interest *first, *last;
};

/* A thread's interest in a descriptor while it waits. */
struct interest {
	int fd;
	unsigned int events;
	struct wait *wait;
	struct interest *next, *previous; /* in the same descriptor */
};

/* A thread's wait, on its stack. */
struct wait {
	struct ferry_thread *thread;
	struct interest *interest;
	unsigned int count; /* of interests */
	bool takes;	    /* an attempt may leave nothing for others */

	bool is_checked; /* its descriptors were those in the epoll once it had begun */
	bool over;
	int result; /* 0, -EBADF if a descriptor was closed, -EAGAIN if it is O_NONBLOCK now */
	long check_at;
	struct wait_list *list;
	struct wait *next, *previous;
};

struct wait_list {
	struct wait *first, *last;
};

#define CHUNK 256

struct poller {
	int epoll;
	struct descriptor **chunk;
	unsigned int chunks;
	unsigned int forks;	     /* that this process is a child of */
	unsigned long waiting;	     /* threads */
	long looked_ns;		     /* when events were last looked for under load */
	long spin_ns;		     /* how long to look for events before a sleep, now */
	int sleeps_to_trial;	     /* short sleeps until spin_ns is tried anew */
	struct wait_list young, old; /* in the order of their next check */
};

/** Opens the epoll and the bell's eventfd: 0, or -errno. */
int ferry__poller_start(struct scheduler *s);

void ferry__poller_end(struct scheduler *s);

/** What is known of FD; NULL if nothing is and it is not open, or if memory is short. */
struct descriptor *ferry__poller_find(struct poller *poller, long fd);

/** Finds out the kind of a descriptor that is UNKNOWN; it stays so if FD is not open. */
void ferry__poller_classify(struct poller *poller, struct descriptor *descriptor, int fd);

/** A socket's option at SOL_SOCKET, or 0. */
int ferry__socket_option(int fd, int option);

/** Whether FD is a device such as /dev/null. */
bool ferry__poller_never_waits(int fd);

/** Finds out whether calls on FD wait, and for how long at most: 0, or -EAGAIN if they do not. */
int ferry__poller_settle(struct descriptor *descriptor, int fd);

/** Whether FD is known to be PLAIN. */
static inline bool poller_is_plain(const struct poller *poller, unsigned long fd)
{
	return fd / CHUNK < poller->chunks && poller->chunk[fd / CHUNK] &&
	       poller->chunk[fd / CHUNK][fd % CHUNK].kind == PLAIN;
}

/**
 * Begins a wait of the current thread until one of its descriptors may have one of its events.  Of
 * the waits that take, only one is ended at a time.  The thread is then to wait in the scheduler.
 * Returns 0, or the error of epoll_ctl(2): -EPERM if it takes and its descriptor cannot be polled.
 */
int ferry__poller_enlist(struct scheduler *s, struct wait *wait);

/** Ends a wait that is not over. */
void ferry__poller_end_wait(struct poller *poller, struct wait *wait, int result);

/** EVENTS of the descriptor are worth an attempt: wakes a thread that waits for them. */
void ferry__poller_ready(struct scheduler *s, struct descriptor *descriptor, unsigned int events);

/** Ends the waits for FD, which is about to be closed or was opened just now, with -EBADF. */
void ferry__poller_forget(struct scheduler *s, int fd);

/** Wakes the threads whose descriptors have events, waiting for TIMEOUT_NS (-1: any time). */
void ferry__poller_look(struct scheduler *s, long timeout_ns);

/** Checks the waits that are due at NOW. */
void ferry__poller_check(struct scheduler *s, long now);

/** When the next check is due: ns, or LONG_MAX. */
long ferry__poller_next_check(const struct poller *poller);

/** In a forked child: ends all waits with -ECANCELED, and opens an epoll of its own. */
void ferry__poller_restart(struct scheduler *s);

#endif /* FLEXSC_POLLER_H */
