// SPDX-License-Identifier: MIT
/* ferry_walk(): the crew's work, from the root to the end. */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>

#define ALL_FLAGS                                                                           \
	(FERRY_WALK_FOLLOW | FERRY_WALK_FOLLOW_ROOT | FERRY_WALK_XDEV | FERRY_WALK_SORTED | \
	 FERRY_WALK_ENDS)

/* Directories that a sorted walk reads ahead of their turn. */
#define WINDOW 64

/* How often a member without work checks whether the walk is over. */
#define LOOK_NSEC 50000000L

/* ---- a member's work ---- */

static void do_task(struct walker *walker, const struct task *task)
{
	struct names *names = task->names;
	struct node *node;

	if (!names) {
		ferry__walk_read(walker, task->node);
		return;
	}
	node = names->node;
	atomic_fetch_add_explicit(&node->users, 1, memory_order_relaxed);
	ferry__names_look(walker->member, &walker->walk->wanted, names);
	if (ferry__walk_path(walker, node))
		ferry__walk_pass_names(walker, names);
	else
		ferry__names_free(walker->member, names);
	ferry__walk_finish(walker, node);
	ferry__node_drop(node);
}

/* Without the lock, and without the descriptor that others may need. */
static bool idle(struct walker *walker)
{
	struct queue *queue = &walker->walk->queue;
	bool stopped;

	pthread_mutex_unlock(&queue->lock);
	ferry__walk_let_go(walker);
	stopped = ferry__crew_stopped(walker->member);
	ferry__crew_forgive(walker->member);
	pthread_mutex_lock(&queue->lock);
	return !stopped;
}

/* Waits for a task.  Returns false when there will be no more. */
static bool next_task(struct walker *walker, struct task *task)
{
	struct queue *queue = &walker->walk->queue;
	bool found = false;

	if (ferry__crew_stopped(walker->member))
		return false;
	pthread_mutex_lock(&queue->lock);
	while (!(found = ferry__queue_take(queue, task)) && queue->busy) {
		if (!walker->held)
			ferry__queue_wait(queue, LOOK_NSEC);
		if (!idle(walker))
			break;
	}
	pthread_mutex_unlock(&queue->lock);
	return found;
}

static void task_done(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->busy--;
	pthread_mutex_unlock(&queue->lock);
}

/* A member leaves when the walk is over: those that wait are to leave, too. */
static void leave(struct walker *walker)
{
	struct queue *queue = &walker->walk->queue;

	pthread_mutex_lock(&queue->lock);
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	ferry__walk_let_go(walker);
	ferry__node_drop(walker->path_node);
	free(walker->path);
	ferry__calls_end(walker->member);
}

static void start_at_root(struct walker *walker)
{
	struct walk *walk = walker->walk;
	const unsigned int follow = FERRY_WALK_FOLLOW | FERRY_WALK_FOLLOW_ROOT;
	struct ferry_walk_entry entry = { .name = walk->root->name };
	struct statx stat;

	ferry__entry_look(walker->member, &walk->wanted, walk->dir, walk->wanted.flags & follow,
			  &entry, &stat);
	ferry__walk_pass_root(walker, &entry, &stat);
}

static void work(struct member *member)
{
	struct walk *walk = (struct walk *)member->crew;
	struct walker walker = { .walk = walk, .member = member };
	struct task task;

	if (member->is_caller)
		start_at_root(&walker);
	while (next_task(&walker, &task)) {
		do_task(&walker, &task);
		task_done(&walk->queue);
	}
	leave(&walker);
}

/* ---- the end ---- */

/* Frees names that were left.  Their directory is still in the queue if the walk is sorted. */
static void free_left_names(struct walk *walk, struct member *member, struct names *names)
{
	struct node *node = names->node;
	bool last = !walk->queue.window && !--node->unfinished;

	ferry__names_free(member, names);
	if (last)
		ferry__walk_free_directory(member, node);
}

/* Frees what is left after an early end. */
static void clean_up(struct walk *walk)
{
	struct ferry_files_options none = { 0 };
	struct crew crew = { .options = &none };
	struct member member = { .crew = &crew };
	struct names *names;
	struct node *node;

	while ((names = walk->queue.names)) {
		walk->queue.names = names->next;
		free_left_names(walk, &member, names);
	}
	while ((node = walk->queue.first)) {
		ferry__queue_remove(&walk->queue, node);
		ferry__walk_free_directory(&member, node);
	}
	ferry__opened_drop(&member, walk->root_opened);
	ferry__node_drop(walk->root);
}

/* Where names decide which attributes are needed, the names have to come first. */
static bool attributes_come_with_names(const struct walk *walk)
{
	return walk->wanted.engine == FERRY_SYSCALL && walk->wanted.mask &&
	       !(walk->wanted.flags & FERRY_WALK_FOLLOW) && !walk->filter.wanted &&
	       ferry_rawcall(FERRY_NR_GETDENTS_STATX, -1, 0, 0, 0, 0, 0) == -EBADF;
}

static int run(struct walk *walk)
{
	if (!walk->crew.options->timeout_ms)
		walk->wanted.engine = ferry__engine_of_one_crossing();
	walk->wanted.with_names = attributes_come_with_names(walk);
	ferry__queue_init(&walk->queue, walk->wanted.flags & FERRY_WALK_SORTED ? WINDOW : 0);
	pthread_mutex_init(&walk->passing, NULL);
	ferry__crew_run(&walk->crew, 1);
	clean_up(walk);
	pthread_mutex_destroy(&walk->passing);
	ferry__queue_destroy(&walk->queue);
	if (walk->result)
		return walk->result;
	return atomic_load(&walk->crew.stopped) ? -ECANCELED : walk->root_error;
}

size_t ferry_walk_entry_path(const struct ferry_block *block, const struct ferry_walk_entry *entry,
			     char *into, size_t room)
{
	const size_t length = block->path_length, name = strlen(entry->name);
	const bool slash = length && block->path[length - 1] != '/';
	const char *const parts[] = { block->path, "/", entry->name };
	const size_t sizes[] = { length, slash, name };
	size_t at = 0, size;
	int i;

	for (i = 0; i < 3 && at + 1 < room; i++) {
		size = sizes[i] < room - 1 - at ? sizes[i] : room - 1 - at;
		memcpy(into + at, parts[i], size);
		at += size;
	}
	if (room)
		into[at] = '\0';
	return length + slash + name;
}

int ferry_walk_filtered(int dir, const char *path, unsigned int flags, unsigned int mask,
			const struct ferry_walk_filter *filter,
			int (*block)(void *context, struct ferry_block *block), void *context,
			const struct ferry_files_options *options)
{
	struct walk walk = {
		.wanted = { flags, mask, FERRY_LOOP },
		.block = block,
		.context = context,
		.dir = dir,
	};
	int saved = errno, result = -ENOMEM;

	if (!path || !block || flags & ~ALL_FLAGS)
		return -EINVAL;
	if (!ferry__filter_init(&walk.filter, filter, flags & FERRY_WALK_FOLLOW))
		return -ENOMEM;
	ferry__crew_init(&walk.crew, work, options);
	walk.root = ferry__node_new(NULL, path);
	if (walk.root)
		result = run(&walk);
	ferry__filter_free(&walk.filter);
	errno = saved;
	return result;
}

int ferry_walk(int dir, const char *path, unsigned int flags, unsigned int mask,
	       int (*block)(void *context, struct ferry_block *block), void *context,
	       const struct ferry_files_options *options)
{
	return ferry_walk_filtered(dir, path, flags, mask, NULL, block, context, options);
}
