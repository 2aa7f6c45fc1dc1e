// SPDX-License-Identifier: MIT
#include "walk_node.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Levels above within which a loop is found at once. */
#define NEAR 512

static bool ends_with_slash(const struct node *node)
{
	size_t length = strlen(node->name);

	return length && node->name[length - 1] == '/';
}

struct node *ferry__node_new(struct node *parent, const char *name)
{
	size_t length = strlen(name);
	struct node *node = malloc(sizeof(*node) + length + 1);

	if (!node)
		return NULL;
	*node = (struct node){
		.parent = parent, .users = 1, .pending = 1, .path_length = length, .depth = 1
	};
	memcpy(node->name, name, length + 1);
	if (parent) {
		atomic_fetch_add_explicit(&parent->users, 1, memory_order_relaxed);
		node->depth = parent->depth + 1;
		/* Only the root's name can end with a slash. */
		node->path_length += parent->path_length + !ends_with_slash(parent);
	}
	return node;
}

void ferry__node_drop(struct node *node)
{
	struct node *parent;

	while (node && atomic_fetch_sub_explicit(&node->users, 1, memory_order_acq_rel) == 1) {
		parent = node->parent;
		ferry__patterns_free(&node->patterns);
		free(node);
		node = parent;
	}
}

void ferry__node_identify(struct node *node, const struct statx *stat)
{
	node->is_known = true;
	node->device_major = stat->stx_dev_major;
	node->device_minor = stat->stx_dev_minor;
	node->inode = stat->stx_ino;
}

/* Looking at all above each directory would take the square of the depth of a hostile tree. */
bool ferry__node_is_loop(const struct node *node)
{
	unsigned int most = node->depth % NEAR ? NEAR : UINT_MAX;
	const struct node *above;

	for (above = node->parent; above && most--; above = above->parent)
		if (above->inode == node->inode && above->device_minor == node->device_minor &&
		    above->device_major == node->device_major)
			return true;
	return false;
}

/* The lowest that both are or are below, or NULL if there is no OTHER. */
static const struct node *common(const struct node *node, const struct node *other)
{
	while (other && node != other)
		if (other->depth >= node->depth)
			other = other->parent;
		else
			node = node->parent;
	return other;
}

/* From the end to the start. */
void ferry__node_path(const struct node *node, char *into, const struct node *before)
{
	const struct node *known = common(node, before);
	char *end = into + node->path_length;

	*end = '\0';
	for (; node && node != known; node = node->parent) {
		size_t length = strlen(node->name);

		end -= length;
		memcpy(end, node->name, length);
		if (node->parent && !ends_with_slash(node->parent))
			*--end = '/';
	}
}

struct opened *ferry__opened_new(int fd)
{
	struct opened *opened = malloc(sizeof(*opened));

	if (opened)
		*opened = (struct opened){ fd, 1 };
	return opened;
}

struct opened *ferry__opened_use(struct opened *opened)
{
	atomic_fetch_add_explicit(&opened->users, 1, memory_order_relaxed);
	return opened;
}

void ferry__opened_drop(struct member *member, struct opened *opened)
{
	if (!opened || atomic_fetch_sub_explicit(&opened->users, 1, memory_order_acq_rel) != 1)
		return;
	ferry__call_close(member, opened->fd);
	free(opened);
}
