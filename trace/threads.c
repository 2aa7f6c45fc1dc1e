// SPDX-License-Identifier: MIT
#include "threads.h"

#include <search.h>
#include <stdlib.h>

#include "common/memory.h"

static int compare(const void *a, const void *b)
{
	const struct thread *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
}

struct thread *threads_find(const struct threads *threads, pid_t id)
{
	const struct thread key = { .id = id };
	void *found = tfind(&key, &threads->tree, compare);

	return found ? *(struct thread **)found : NULL;
}

struct thread *threads_add(struct threads *threads, pid_t id)
{
	struct thread *thread = threads_find(threads, id);

	if (thread)
		return thread;
	thread = allocate(1, sizeof(*thread));
	thread->id = id;
	if (!tsearch(thread, &threads->tree, compare))
		abort();
	threads->count++;
	return thread;
}

void threads_remove(struct threads *threads, struct thread *thread)
{
	tdelete(thread, &threads->tree, compare);
	free(thread);
	threads->count--;
}

static void visit_node(const void *node, VISIT order, void *closure)
{
	void (*const *visit)(struct thread * thread) = closure;

	if (order == postorder || order == leaf)
		(*visit)(*(struct thread *const *)node);
}

void threads_visit(const struct threads *threads, void (*visit)(struct thread *thread))
{
	twalk_r(threads->tree, visit_node, &visit);
}
