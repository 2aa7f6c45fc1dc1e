// SPDX-License-Identifier: MIT
/* Opening and reading one directory of a walk. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "walk.h"

#define BUFFER_SIZE ((size_t)32 << 10)

/* Names that are worth another thread. */
#define MANY_NAMES 256

#define STARVED_NSEC 5000000L

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)

static bool follows(const struct walk *walk)
{
	return walk->wanted.flags & FERRY_WALK_FOLLOW;
}

/* ---- opening ---- */

static long open_root(struct walker *walker, const struct node *node)
{
	const unsigned int follow = FERRY_WALK_FOLLOW | FERRY_WALK_FOLLOW_ROOT;
	int flags = OPEN_FLAGS | (walker->walk->wanted.flags & follow ? 0 : O_NOFOLLOW);

	return ferry__call_open(walker->member, walker->walk->dir, node->name, flags);
}

/* Links on the way are not followed: one may have replaced a directory. */
static long open_path(struct walker *walker, int dir, char *path)
{
	if (follows(walker->walk))
		return ferry__call_open(walker->member, dir, path, OPEN_FLAGS);
	return ferry__call_open_beneath(walker->member, dir, path, OPEN_FLAGS | O_NOFOLLOW);
}

/* The last slash that leaves a path short enough for the kernel, or NULL. */
static char *end_of_piece(char *path)
{
	return strlen(path) < PATH_MAX ? NULL : memrchr(path, '/', PATH_MAX - 1);
}

/* Opens PATH below the root, in pieces where it is too long. */
static long open_below_root(struct walker *walker, char *path)
{
	int root = walker->walk->root_opened->fd, dir = root;
	char *end;
	long fd;

	while ((end = end_of_piece(path))) {
		*end = '\0';
		fd = open_path(walker, dir, path);
		*end = '/';
		if (dir != root)
			ferry__call_close(walker->member, dir);
		if (fd < 0)
			return fd;
		dir = (int)fd;
		path = end + 1;
	}
	fd = open_path(walker, dir, path);
	if (dir != root)
		ferry__call_close(walker->member, dir);
	return fd;
}

static char *path_below_root(const struct walker *walker)
{
	char *path = walker->path + walker->walk->root->path_length;

	return *path == '/' ? path + 1 : path;
}

static long try_open(struct walker *walker, struct node *node)
{
	const struct walk *walk = walker->walk;
	int flags = OPEN_FLAGS | (follows(walk) ? 0 : O_NOFOLLOW);

	if (!node->parent)
		return open_root(walker, node);
	if (walker->held && walker->held_node == node->parent)
		return ferry__call_open(walker->member, walker->held->fd, node->name, flags);
	if (node->parent == walk->root)
		return ferry__call_open(walker->member, walk->root_opened->fd, node->name, flags);
	return open_below_root(walker, path_below_root(walker));
}

/* Waits a moment for other members to close descriptors.  Returns false when none has any. */
static bool wait_for_descriptors(struct walk *walk)
{
	struct queue *queue = &walk->queue;
	bool others;

	pthread_mutex_lock(&queue->lock);
	queue->starved++;
	others = queue->busy > queue->starved;
	if (others)
		ferry__queue_wait(queue, STARVED_NSEC);
	queue->starved--;
	pthread_mutex_unlock(&queue->lock);
	return others;
}

/*
 * Whether what failed with ERROR is to be tried again.  Without a free descriptor, first closes the
 * one that it keeps, then lets others finish.
 */
static bool try_again(struct walker *walker, long error, bool *more)
{
	if ((error != -EMFILE && error != -ENFILE) || !*more)
		return false;
	*more = walker->held || wait_for_descriptors(walker->walk);
	ferry__walk_let_go(walker);
	return !ferry__crew_stopped(walker->member);
}

static long open_node(struct walker *walker, struct node *node)
{
	bool more = true;
	long fd;

	do
		fd = try_open(walker, node);
	while (try_again(walker, fd, &more));
	return fd;
}

static int read_patterns(struct walker *walker, struct node *node, int fd)
{
	bool more = true;
	int error;

	do
		error = ferry__filter_read_patterns(&walker->walk->filter, walker->member, node,
						    fd);
	while (try_again(walker, error, &more));
	return error;
}

/* 0, or why the open directory must not be read. */
static int check_loop(struct walker *walker, struct node *node, int fd)
{
	struct statx stat;
	long error;

	if (!node->is_known) {
		error = ferry__call_statx(walker->member, fd, "", AT_EMPTY_PATH, STATX_INO, &stat);
		if (error)
			return (int)error;
		ferry__node_identify(node, &stat);
	}
	return ferry__node_is_loop(node) ? -ELOOP : 0;
}

/* ---- reading ---- */

/* Whether another member should ask for the attributes. */
static bool is_for_another(const struct walk *walk, const struct names *names)
{
	return names->stats && !names->has_stats && names->count >= MANY_NAMES &&
	       walk->crew.cpus > 1 && walk->queue.names_waiting < 2 * (size_t)walk->crew.cpus;
}

static void hand_over(struct walk *walk, struct names *names)
{
	pthread_mutex_lock(&walk->queue.lock);
	ferry__queue_add_names(&walk->queue, names);
	pthread_cond_signal(&walk->queue.changed);
	pthread_mutex_unlock(&walk->queue.lock);
	ferry__crew_add_for_cpu(&walk->crew);
}

static bool handed_over(struct walk *walk, struct names *names)
{
	bool other;

	pthread_mutex_lock(&walk->queue.lock);
	other = is_for_another(walk, names);
	if (other)
		names->node->unfinished++;
	pthread_mutex_unlock(&walk->queue.lock);
	if (other)
		hand_over(walk, names);
	return other;
}

static int take_entries(struct walker *walker, struct node *node, struct opened *opened,
			const struct dirents *dirents)
{
	struct walk *walk = walker->walk;
	struct names *names = ferry__names_new(&walk->wanted, dirents, node, opened);

	if (!names)
		return -ENOMEM;
	if (!ferry__filter_names(&walk->filter, walker->member, names, walker->path)) {
		ferry__names_free(walker->member, names);
		return -ENOMEM;
	}
	if (handed_over(walk, names))
		return 0;
	ferry__names_look(walker->member, &walk->wanted, names);
	ferry__walk_pass_names(walker, names);
	return 0;
}

static void read_all(struct walker *walker, struct node *node, struct opened *opened)
{
	char buffer[BUFFER_SIZE] __attribute__((aligned(8)));
	struct dirents dirents;
	long size;
	int error;

	while (!ferry__crew_stopped(walker->member)) {
		size = ferry__names_read(walker->member, &walker->walk->wanted, opened->fd, buffer,
					 sizeof(buffer), &dirents);
		/* ENOENT: the directory has been removed, and so has all that was in it. */
		if (size == 0 || size == -ENOENT)
			return;
		if (size < 0) {
			ferry__walk_pass_error(walker, node, (int)size);
			return;
		}
		error = take_entries(walker, node, opened, &dirents);
		if (error) {
			ferry__walk_end(walker->walk, error);
			return;
		}
	}
}

static void read_open(struct walker *walker, struct node *node, int fd)
{
	struct opened *opened;
	int error = check_loop(walker, node, fd);

	opened = error ? NULL : ferry__opened_new(fd);
	if (!opened) {
		ferry__call_close(walker->member, fd);
		if (error)
			ferry__walk_pass_error(walker, node, error);
		else
			ferry__walk_end(walker->walk, -ENOMEM);
		return;
	}
	if (!node->parent)
		walker->walk->root_opened = ferry__opened_use(opened);
	error = read_patterns(walker, node, fd);
	if (!error)
		read_all(walker, node, opened);
	else if (error == -ENOMEM)
		ferry__walk_end(walker->walk, error);
	else
		ferry__walk_pass_error(walker, node, error);
	ferry__opened_drop(walker->member, opened);
}

void ferry__walk_read(struct walker *walker, struct node *node)
{
	long fd;

	node->unfinished = 1;
	if (ferry__walk_path(walker, node)) {
		fd = open_node(walker, node);
		if (fd < 0)
			ferry__walk_pass_error(walker, node, (int)fd);
		else
			read_open(walker, node, (int)fd);
	}
	ferry__walk_finish(walker, node);
}
