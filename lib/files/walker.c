// SPDX-License-Identifier: MIT
#include "walk.h"

#include <errno.h>
#include <stdlib.h>

void ferry__walk_end(struct walk *walk, int result)
{
	pthread_mutex_lock(&walk->passing);
	if (!walk->result)
		walk->result = result;
	pthread_mutex_unlock(&walk->passing);
	ferry__crew_stop(&walk->crew);
}

bool ferry__walk_path(struct walker *walker, struct node *node)
{
	size_t room = node->path_length + 1;
	char *path;

	if (room > walker->path_room) {
		path = realloc(walker->path, 2 * room);
		if (!path) {
			ferry__walk_end(walker->walk, -ENOMEM);
			return false;
		}
		walker->path = path;
		walker->path_room = 2 * room;
	}
	ferry__node_path(node, walker->path, walker->path_node);
	atomic_fetch_add_explicit(&node->users, 1, memory_order_relaxed);
	ferry__node_drop(walker->path_node);
	walker->path_node = node;
	return true;
}

void ferry__walk_let_go(struct walker *walker)
{
	ferry__opened_drop(walker->member, walker->held);
	ferry__node_drop(walker->held_node);
	walker->held = NULL;
	walker->held_node = NULL;
}

void ferry__walk_hold(struct walker *walker, struct node *node, struct opened *opened)
{
	if (walker->held == opened)
		return;
	ferry__walk_let_go(walker);
	walker->held = ferry__opened_use(opened);
	walker->held_node = node;
	atomic_fetch_add_explicit(&node->users, 1, memory_order_relaxed);
}

void ferry__walk_free_directory(struct member *member, struct node *node)
{
	struct names *names;

	while ((names = node->names)) {
		node->names = names->next;
		ferry__names_free(member, names);
	}
	ferry__node_drop(node);
}
