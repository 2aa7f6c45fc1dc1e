// SPDX-License-Identifier: MIT
/*
 * Passing blocks on to the caller, and putting the directories in them into the queue.  A walk
 * that is not sorted passes on names as soon as it has them.  A sorted one keeps them
 * in their directory until that is first in the queue.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* A small tree is not worth a thread. */
#define WORTH_A_THREAD 256

static bool is_sorted(const struct walk *walk)
{
	return walk->queue.window;
}

/* A callback that takes long is not a disk that needs more requests. */
static void lock_passing(struct walker *walker)
{
	pthread_mutex_t *passing = &walker->walk->passing;

	if (!pthread_mutex_trylock(passing))
		return;
	pthread_mutex_lock(passing);
	ferry__crew_forgive(walker->member);
}

/* Returns false when the walk has ended. */
static bool pass(struct walker *walker, struct ferry_block *block)
{
	struct walk *walk = walker->walk;
	bool go_on;

	lock_passing(walker);
	go_on = !walk->result && !atomic_load(&walk->crew.stopped);
	if (go_on) {
		walk->result = walk->block(walk->context, block);
		if (walk->result)
			ferry__crew_stop(&walk->crew);
		go_on = !walk->result;
	}
	pthread_mutex_unlock(&walk->passing);
	return go_on;
}

static struct ferry_block block_of(const struct walker *walker, const struct node *node)
{
	return (struct ferry_block){
		.path = walker->path,
		.path_length = node->path_length,
		.context = node->context,
		.depth = node->depth,
		.dir = -1,
	};
}

static void pass_error(struct walker *walker, const struct node *node, int error)
{
	struct ferry_block block = block_of(walker, node);

	block.error = error;
	if (!node->parent)
		walker->walk->root_error = error;
	pass(walker, &block);
}

/* ---- ends of directories ---- */

static void pass_end(struct walker *walker, struct node *node)
{
	struct ferry_block block;

	if (!ferry__walk_path(walker, node))
		return;
	block = block_of(walker, node);
	block.is_end = true;
	pass(walker, &block);
}

/* NODE itself has been passed on, and so have all above that have nothing else pending. */
static void end(struct walker *walker, struct node *node)
{
	if (!(walker->walk->wanted.flags & FERRY_WALK_ENDS))
		return;
	for (; node && atomic_fetch_sub_explicit(&node->pending, 1, memory_order_acq_rel) == 1;
	     node = node->parent)
		pass_end(walker, node);
}

/* ---- the directories of a block ---- */

static bool is_elsewhere(const struct walk *walk, const struct statx *stat)
{
	return walk->wanted.flags & FERRY_WALK_XDEV && stat &&
	       (stat->stx_dev_major != walk->root->device_major ||
		stat->stx_dev_minor != walk->root->device_minor);
}

/* The node of ENTRY if the walk goes on in it.  Ends the walk when out of memory. */
static struct node *node_for(struct walk *walk, struct node *parent,
			     const struct ferry_walk_entry *entry, const struct statx *stat)
{
	struct node *node;

	if (entry->type != DT_DIR || entry->prune || entry->error || is_elsewhere(walk, stat) ||
	    !ferry__filter_goes_below(&walk->filter, parent))
		return NULL;
	node = ferry__node_new(parent, entry->name);
	if (!node) {
		ferry__walk_end(walk, -ENOMEM);
		return NULL;
	}
	node->context = entry->context;
	atomic_fetch_add_explicit(&parent->pending, 1, memory_order_relaxed);
	if (stat)
		ferry__node_identify(node, stat);
	return node;
}

/* Nodes that are to be put into the queue, in their order. */
struct batch {
	struct node *first, **end;
	size_t count;
};

static void batch_add(struct batch *batch, struct node *node)
{
	*batch->end = node;
	batch->end = &node->next;
	batch->count++;
}

/* Puts them before PLACE; with the queue locked. */
static void insert_batch(struct queue *queue, struct batch *batch, struct node *place)
{
	struct node *node, *next;

	for (node = batch->first; node; node = next) {
		next = node->next;
		ferry__queue_insert(queue, node, place);
	}
	if (batch->count > 1)
		pthread_cond_broadcast(&queue->changed);
}

static void add_entry(struct walk *walk, struct node *parent, const struct ferry_walk_entry *entry,
		      const struct statx *stat, struct batch *batch)
{
	struct node *node = node_for(walk, parent, entry, stat);

	if (node)
		batch_add(batch, node);
}

static void add_helper(struct walk *walk, size_t directories)
{
	if (directories > 1 &&
	    atomic_load_explicit(&walk->seen, memory_order_relaxed) >= WORTH_A_THREAD)
		ferry__crew_add_for_cpu(&walk->crew);
}

/* ---- not sorted ---- */

static void pass_now(struct walker *walker, struct names *names)
{
	struct walk *walk = walker->walk;
	struct ferry_block block = block_of(walker, names->node);
	struct batch batch = { .end = &batch.first };
	size_t i;

	block.entries = names->entries;
	block.count = names->count;
	block.dir = names->opened->fd;
	if (!names->count || !pass(walker, &block))
		return;
	for (i = 0; i < names->count; i++)
		add_entry(walk, names->node, &names->entries[i],
			  names->stats ? &names->stats[i] : NULL, &batch);
	if (!batch.count)
		return;
	ferry__walk_hold(walker, names->node, names->opened);
	pthread_mutex_lock(&walk->queue.lock);
	insert_batch(&walk->queue, &batch, walk->queue.first);
	pthread_mutex_unlock(&walk->queue.lock);
	add_helper(walk, batch.count);
}

/* ---- sorted ---- */

/* An entry of the whole directory, and its attributes even if the caller did not ask for them. */
struct sorted_entry {
	struct ferry_walk_entry entry;
	const struct statx *stat;
};

static int by_name(const void *a, const void *b)
{
	const struct sorted_entry *first = a, *second = b;

	return strcmp(first->entry.name, second->entry.name);
}

static size_t count_entries(const struct node *node)
{
	const struct names *names;
	size_t count = 0;

	for (names = node->names; names; names = names->next)
		count += names->count;
	return count;
}

static void sort_entries(const struct node *node, struct sorted_entry sorted[], size_t count)
{
	const struct names *names;
	size_t at = 0, i;

	for (names = node->names; names; names = names->next)
		for (i = 0; i < names->count; i++)
			sorted[at++] = (struct sorted_entry){
				names->entries[i],
				names->stats ? &names->stats[i] : NULL,
			};
	qsort(sorted, count, sizeof(*sorted), by_name);
}

/* Passes on the COUNT entries of NODE, and adds its directories to BATCH. */
static void pass_sorted(struct walker *walker, struct node *node, size_t count, struct batch *batch)
{
	struct ferry_block block = block_of(walker, node);
	struct sorted_entry *sorted = malloc(count * sizeof(*sorted));
	struct ferry_walk_entry *entries = malloc(count * sizeof(*entries));
	size_t i;

	if (sorted && entries) {
		sort_entries(node, sorted, count);
		for (i = 0; i < count; i++)
			entries[i] = sorted[i].entry;
		block.entries = entries;
		block.count = count;
		if (pass(walker, &block))
			for (i = 0; i < count; i++)
				add_entry(walker->walk, node, &entries[i], sorted[i].stat, batch);
	} else {
		ferry__walk_end(walker->walk, -ENOMEM);
	}
	free(sorted);
	free(entries);
}

static void pass_empty(struct walker *walker, const struct node *node)
{
	struct ferry_block block = block_of(walker, node);

	pass(walker, &block);
}

/* Passes on a directory that is first in the queue and READY. */
static void pass_first(struct walker *walker, struct node *node)
{
	struct walk *walk = walker->walk;
	struct batch batch = { .end = &batch.first };
	size_t count;

	if (ferry__walk_path(walker, node)) {
		count = count_entries(node);
		if (count)
			pass_sorted(walker, node, count, &batch);
		else if (!node->error)
			pass_empty(walker, node);
		if (node->error)
			pass_error(walker, node, node->error);
	}
	end(walker, node);
	pthread_mutex_lock(&walk->queue.lock);
	insert_batch(&walk->queue, &batch, node->next);
	ferry__queue_remove(&walk->queue, node);
	/* Room in the window, and a new first directory. */
	pthread_cond_broadcast(&walk->queue.changed);
	pthread_mutex_unlock(&walk->queue.lock);
	ferry__walk_free_directory(walker->member, node);
	add_helper(walk, batch.count);
}

/* With the queue locked. */
static bool can_pass_first(const struct walk *walk)
{
	return !walk->sorted_passing && walk->queue.first && walk->queue.first->state == READY;
}

static void pass_in_turn(struct walker *walker)
{
	struct walk *walk = walker->walk;

	pthread_mutex_lock(&walk->queue.lock);
	while (can_pass_first(walk)) {
		struct node *node = walk->queue.first;

		walk->sorted_passing = true;
		pthread_mutex_unlock(&walk->queue.lock);
		pass_first(walker, node);
		pthread_mutex_lock(&walk->queue.lock);
		walk->sorted_passing = false;
	}
	pthread_mutex_unlock(&walk->queue.lock);
}

/* Its directories are likely to be next.  Names that wait for their turn keep nothing open. */
static void keep_at_hand(struct walker *walker, struct names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (names->entries[i].type == DT_DIR) {
			ferry__walk_hold(walker, names->node, names->opened);
			break;
		}
	ferry__opened_drop(walker->member, names->opened);
	names->opened = NULL;
}

/* ---- either ---- */

void ferry__walk_pass_names(struct walker *walker, struct names *names)
{
	struct walk *walk = walker->walk;
	struct node *node = names->node;

	atomic_fetch_add_explicit(&walk->seen, names->count, memory_order_relaxed);
	if (!is_sorted(walk)) {
		pass_now(walker, names);
		ferry__names_free(walker->member, names);
		return;
	}
	keep_at_hand(walker, names);
	pthread_mutex_lock(&walk->queue.lock);
	names->next = node->names;
	node->names = names;
	pthread_mutex_unlock(&walk->queue.lock);
}

void ferry__walk_pass_error(struct walker *walker, struct node *node, int error)
{
	if (is_sorted(walker->walk))
		node->error = error;
	else
		pass_error(walker, node, error);
}

void ferry__walk_finish(struct walker *walker, struct node *node)
{
	struct walk *walk = walker->walk;
	bool finished;

	pthread_mutex_lock(&walk->queue.lock);
	finished = !--node->unfinished;
	if (finished && is_sorted(walk))
		node->state = READY;
	pthread_mutex_unlock(&walk->queue.lock);
	if (!finished)
		return;
	if (is_sorted(walk)) {
		pass_in_turn(walker);
	} else {
		end(walker, node);
		ferry__walk_free_directory(walker->member, node);
	}
}

void ferry__walk_pass_root(struct walker *walker, struct ferry_walk_entry *entry,
			   const struct statx *stat)
{
	struct walk *walk = walker->walk;
	struct ferry_block block = {
		.path = "",
		.entries = entry,
		.count = 1,
		.dir = walk->dir,
	};

	walk->root_error = entry->error;
	if (!pass(walker, &block))
		return;
	if (!entry->error)
		ferry__node_identify(walk->root, stat);
	if (entry->type != DT_DIR || entry->prune || entry->error)
		return;
	walk->root->context = entry->context;
	atomic_fetch_add_explicit(&walk->root->users, 1, memory_order_relaxed);
	ferry__queue_insert(&walk->queue, walk->root, NULL);
}
