/* SPDX-License-Identifier: MIT */
/* Whether something watches every system call of this machine, which makes each of them dearer. */
#ifndef WATCH_H
#define WATCH_H

/**
 * Why system calls take longer than on a machine by itself: a sentence without its full stop,
 * kept, or NULL where nothing was found.  Takes some milliseconds, in a child, and keeps the least
 * cost of a call in ~/.cache/ferry/least-call ($XDG_CACHE_HOME).
 */
const char *watch_find(void);

#endif /* WATCH_H */
