// SPDX-License-Identifier: MIT
#include "du_tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define FIRST_ROOM 1024

void du_tree_init(struct du_tree *tree)
{
	*tree = (struct du_tree){ .end = &tree->roots, .total = DU_NOTHING };
}

/* ---- items ---- */

/* The item after ITEM where what is in an item comes before the item itself. */
static struct du_item *deepest_first(struct du_item *item)
{
	while (item && item->first)
		item = item->first;
	return item;
}

static struct du_item *after(struct du_item *item)
{
	return item->next ? deepest_first(item->next) : item->parent;
}

void du_tree_free(struct du_tree *tree)
{
	struct du_item *item = deepest_first(tree->roots), *next;

	for (; item; item = next) {
		next = after(item);
		free(item);
	}
	free(tree->links);
}

struct du_item *du_add(struct du_tree *tree, struct du_item *parent, const char *name, bool is_file)
{
	size_t size = strlen(name) + 1;
	struct du_item *item = allocate(1, sizeof(*item) + size);

	memcpy(item->name, name, size);
	item->is_file = is_file;
	item->sum = DU_NOTHING;
	item->parent = parent;
	if (parent) {
		item->depth = parent->depth + 1;
		item->root = parent->root;
		item->next = parent->first;
		parent->first = item;
	} else {
		item->root = tree->root_count++;
		*tree->end = item;
		tree->end = &item->next;
	}
	return item;
}

static bool comes_before(const struct du_item *a, const struct du_item *b)
{
	bool a_is_deeper = a->depth > b->depth;

	if (a->root != b->root)
		return a->root < b->root;
	while (a->depth > b->depth)
		a = a->parent;
	while (b->depth > a->depth)
		b = b->parent;
	if (a == b)
		return !a_is_deeper;
	while (a->parent != b->parent) {
		a = a->parent;
		b = b->parent;
	}
	return strcmp(a->name, b->name) < 0;
}

/* ---- links ---- */

static struct du_link *find(struct du_link *links, size_t room, uint64_t device, uint64_t inode)
{
	uint64_t hash = (inode ^ device << 32) * 0x9e3779b97f4a7c15U;
	size_t at = (hash ^ hash >> 32) & (room - 1);

	while (links[at].used && (links[at].inode != inode || links[at].device != device))
		at = (at + 1) & (room - 1);
	return &links[at];
}

bool du_found(const struct du_tree *tree, uint64_t device, uint64_t inode)
{
	return tree->link_room && find(tree->links, tree->link_room, device, inode)->used;
}

static void make_room(struct du_tree *tree)
{
	size_t room = tree->link_room ? 2 * tree->link_room : FIRST_ROOM, i;
	struct du_link *links;

	if (tree->link_count < tree->link_room / 2)
		return;
	links = allocate(room, sizeof(*links));
	for (i = 0; i < tree->link_room; i++)
		if (tree->links[i].used)
			*find(links, room, tree->links[i].device, tree->links[i].inode) =
				tree->links[i];
	free(tree->links);
	tree->links = links;
	tree->link_room = room;
}

static void move(struct du_link *link, struct du_item *holder)
{
	link->holder->hidden = link->holder->is_file;
	holder->hidden = false;
	link->holder = holder;
}

bool du_count_link(struct du_tree *tree, uint64_t device, uint64_t inode, const struct du_sum *sum,
		   struct du_item *holder)
{
	struct du_link *link;

	make_room(tree);
	link = find(tree->links, tree->link_room, device, inode);
	if (!link->used) {
		*link = (struct du_link){ true, device, inode, *sum, holder };
		tree->link_count++;
		return true;
	}
	holder->hidden = holder->is_file;
	if (comes_before(holder, link->holder))
		move(link, holder);
	return false;
}

/* ---- sums ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct du_item *const *)a)->name, (*(struct du_item *const *)b)->name);
}

static void sort_children(struct du_item *item)
{
	struct du_item **list, *child;
	size_t count = 0, i = 0;

	for (child = item->first; child; child = child->next)
		count++;
	if (count < 2)
		return;
	list = (struct du_item **)allocate(count, sizeof(struct du_item *));
	for (child = item->first; child; child = child->next)
		list[i++] = child;
	qsort((void *)list, count, sizeof(struct du_item *), by_name);
	item->first = NULL;
	while (count--) {
		list[count]->next = item->first;
		item->first = list[count];
	}
	free((void *)list);
}

static bool is_later(const struct du_time *a, const struct du_time *b)
{
	return a->seconds != b->seconds ? a->seconds > b->seconds : a->nanoseconds > b->nanoseconds;
}

void du_add_sum(struct du_sum *sum, const struct du_sum *more)
{
	sum->amount += more->amount;
	if (is_later(&more->time, &sum->time))
		sum->time = more->time;
}

/* Only now it is known which link comes first. */
static void count_links(struct du_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->link_room; i++)
		if (tree->links[i].used)
			du_add_sum(&tree->links[i].holder->sum, &tree->links[i].sum);
}

void du_sum_up(struct du_tree *tree, bool separate)
{
	struct du_item *item;

	count_links(tree);
	for (item = deepest_first(tree->roots); item; item = after(item)) {
		sort_children(item);
		if (item->parent && (!separate || item->is_file))
			du_add_sum(&item->parent->sum, &item->sum);
		else
			du_add_sum(&tree->total, &item->sum);
	}
}

void du_visit(const struct du_tree *tree, void (*each)(void *context, const struct du_item *item),
	      void *context)
{
	struct du_item *item;

	for (item = deepest_first(tree->roots); item; item = after(item))
		if (!item->hidden)
			each(context, item);
}

char *du_path(const struct du_item *item)
{
	size_t length = 0, part;
	const struct du_item *at;
	char *path, *end;

	for (at = item; at; at = at->parent)
		length += strlen(at->name) + 1;
	path = allocate(length + 1, 1);
	end = path + length;
	for (at = item; at; at = at->parent) {
		part = strlen(at->name);
		if (at != item && !(part && at->name[part - 1] == '/'))
			*--end = '/';
		end -= part;
		memcpy(end, at->name, part);
	}
	memmove(path, end, strlen(end) + 1);
	return path;
}
