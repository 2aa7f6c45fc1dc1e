/* SPDX-License-Identifier: MIT */
/* Descriptors: what is known of each, and the epoll instance in which the carriers wait. */
#ifndef THREADS_WATCH_H
#define THREADS_WATCH_H

#include "wait.h"

#define EPOLLNVAL_FIRED 0x20   /* poll()'s POLLNVAL: the descriptor was closed */
#define MOST_DESCRIPTORS 65536 /* waits for higher ones go home */

enum direction { DIRECTION_IN, DIRECTION_OUT };

/* The kinds of files, by how they are tried without waiting. */
enum kind { KIND_UNKNOWN, KIND_SOCKET, KIND_FILE, KIND_OTHER };

struct descriptor {
	struct wait_list edges[2]; /* enum direction */
	unsigned char watched;	   /* bits of directions in the epoll instance */
	unsigned char kind;
	bool nonblocking, no_nowait; /* no_nowait: RWF_NOWAIT is refused */
	unsigned int settings; /* the generation in which the following and nonblocking hold */
	unsigned int births;   /* changes when the number gets another file */
	int64_t limit[2];      /* SO_RCVTIMEO and SO_SNDTIMEO in ns; 0: none */
};

/* Makes the table of descriptors, before any is used.  Returns 0 or -errno. */
int watch_load(void);

/* Makes the instance, with the event that kicks a carrier.  Returns 0 or -errno. */
int watch_start(void);

/* What is known of FD, or NULL if it is too high. */
struct descriptor *watch_descriptor(int fd);

enum kind watch_kind(int fd);

/* Whether calls on FD must not wait; also brings its time limits up to date. */
bool watch_is_nonblocking(int fd, struct descriptor *descriptor);

/* The settings of some descriptor may have changed; LIMITS: its time limits. */
void watch_settings_changed(bool limits);

/* The number FD has, or will have, another file. */
void watch_forget(int fd);

/* As watch_forget(), and ends the waits for it. */
void watch_close(int fd);

/* Registers FD.  Returns 0 or -errno. */
int watch_register(int fd, struct descriptor *descriptor, enum direction direction);

/* No events for FD from now on.  Who waits for one tries again. */
void watch_unregister(int fd, struct descriptor *descriptor);

/* A wait for FD whose edges were counted by SEQ before the last try. */
void watch_prepare(struct wait *wait, struct descriptor *descriptor, enum direction direction,
		   unsigned int seq);

/* Handles events until DEADLINE; 0: those that are there; negative: waits without limit. */
void watch_look(int64_t deadline);

/* Wakes one carrier that waits in watch_look(). */
void watch_kick(void);

/* Whether FD is one of the layer's own, and what to do if the program takes its number. */
bool watch_is_own(int fd);
int watch_own_count(void);
int watch_own(int index);
int watch_move_own(int fd); /* returns 0 or -errno: no number is left */

/* After fork(), in the child. */
void watch_reset(void);

#endif /* THREADS_WATCH_H */
