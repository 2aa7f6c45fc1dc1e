/* SPDX-License-Identifier: MIT */
/* Calls that do some work, ready to be made again and again at the same cost. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <stddef.h>

#include <linux/ferry.h>

struct handler {
	const char *name;
	const char *note;	/* what exactly is called */
	struct ferry_slot slot; /* without jumps */
};

extern struct handler handlers[];
extern const size_t handler_count;

/** Makes the file that the calls work on, in the current directory, and fills in the slots. */
void handlers_prepare(void);

/** To be called before a run of calls: brings the file back to its start. */
void handlers_rewind(void);

/** Removes the file. */
void handlers_finish(void);

#endif /* HANDLERS_H */
