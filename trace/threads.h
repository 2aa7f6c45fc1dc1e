/* SPDX-License-Identifier: MIT */
/* The threads that are traced, by their ids. */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "call.h"

struct thread {
	pid_t id;
	pid_t process;		 /* 0: not looked up yet */
	double began_ns;	 /* CALL, on the clock of now_ns(); 0: not seen */
	bool in_call;		 /* CALL has begun and not ended */
	struct traced_call call; /* without a result yet */
	void *own;		 /* see struct observer */
};

struct threads {
	void *tree; /* of tsearch(3) */
	size_t count;
};

struct thread *threads_find(const struct threads *threads, pid_t id);

/** The thread with this id, which is added where it is not known yet. */
struct thread *threads_add(struct threads *threads, pid_t id);

void threads_remove(struct threads *threads, struct thread *thread);

/** Calls VISIT for each; it may not add or remove any. */
void threads_visit(const struct threads *threads, void (*visit)(struct thread *thread));

#endif /* TRACE_THREADS_H */
