// SPDX-License-Identifier: MIT
#include "walk_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "statx_batch.h"

#define PIECE 256 /* names between two looks at whether the walk has ended */

/* What getdents64() writes: struct dirent64 of glibc, at multiples of 8. */
struct dirent_header {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static bool is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static const struct dirent_header *header_at(const char *dirents, size_t offset)
{
	return (const struct dirent_header *)(dirents + offset);
}

static size_t count_names(const char *dirents, size_t size)
{
	size_t count = 0, at;

	for (at = 0; at < size; at += header_at(dirents, at)->size)
		count += !is_dot(header_at(dirents, at)->name);
	return count;
}

static void list_entries(struct names *names, const char *dirents, size_t size)
{
	const struct dirent_header *header;
	struct ferry_walk_entry *entry = names->entries;
	size_t at;

	for (at = 0; at < size; at += header->size) {
		header = header_at(dirents, at);
		if (is_dot(header->name))
			continue;
		*entry++ = (struct ferry_walk_entry){
			.name = header->name,
			.inode = header->inode,
			.type = header->type,
		};
	}
}

static bool needs_stats(const struct names_wanted *wanted)
{
	return wanted->mask || wanted->flags & (FERRY_WALK_FOLLOW | FERRY_WALK_XDEV);
}

static size_t aligned(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

/* One allocation: the structure, entries, attributes, and the directory's own text. */
struct names *ferry__names_new(const struct names_wanted *wanted, const char *dirents, size_t size,
			       struct node *node, struct opened *opened)
{
	size_t count = count_names(dirents, size);
	size_t entries_at = aligned(sizeof(struct names));
	size_t stats_at = aligned(entries_at + count * sizeof(struct ferry_walk_entry));
	bool stats = needs_stats(wanted);
	size_t dirents_at = stats_at + (stats ? count * sizeof(struct statx) : 0);
	char *memory = malloc(dirents_at + size);
	struct names *names = (struct names *)memory;

	if (!names)
		return NULL;
	*names = (struct names){
		.node = node,
		.opened = ferry__opened_use(opened),
		.count = count,
		.entries = (struct ferry_walk_entry *)(memory + entries_at),
		.stats = stats ? (struct statx *)(memory + stats_at) : NULL,
	};
	atomic_fetch_add_explicit(&node->users, 1, memory_order_relaxed);
	memcpy(memory + dirents_at, dirents, size);
	list_entries(names, memory + dirents_at, size);
	return names;
}

void ferry__names_free(struct member *member, struct names *names)
{
	ferry__opened_drop(member, names->opened);
	ferry__node_drop(names->node);
	free(names);
}

/* ---- attributes ---- */

static bool is_wanted(const struct names_wanted *wanted, const struct ferry_walk_entry *entry)
{
	if (wanted->mask || entry->type == DT_UNKNOWN)
		return true;
	/* A directory's device decides whether the walk goes on in it, and its inode shows loops.
	 */
	if (entry->type == DT_DIR)
		return needs_stats(wanted);
	return entry->type == DT_LNK && wanted->flags & FERRY_WALK_FOLLOW;
}

static int flags_of(bool follow)
{
	return AT_NO_AUTOMOUNT | (follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

static unsigned int mask_of(const struct names_wanted *wanted)
{
	return wanted->mask | STATX_TYPE | STATX_INO;
}

static void set_result(const struct names_wanted *wanted, struct ferry_walk_entry *entry, int error,
		       const struct statx *stat)
{
	entry->error = error;
	entry->type = error ? DT_UNKNOWN : IFTODT(stat->stx_mode);
	entry->stat = error || !wanted->mask ? NULL : stat;
}

void ferry__entry_look(struct member *member, const struct names_wanted *wanted, int dir,
		       bool follow, struct ferry_walk_entry *entry, struct statx *stat)
{
	long error = ferry__call_statx(member, dir, entry->name, flags_of(follow), mask_of(wanted),
				       stat);

	/* A dangling link, or one in a loop. */
	if (error && follow && error != -ETIMEDOUT)
		error = ferry__call_statx(member, dir, entry->name, flags_of(false),
					  mask_of(wanted), stat);
	set_result(wanted, entry, (int)error, stat);
}

/* All names of PIECE in one crossing, if possible. */
static bool look_in_batch(const struct names_wanted *wanted, struct names *names,
			  struct piece piece)
{
	const char *name[PIECE];
	int errors[PIECE];
	size_t count = piece.end - piece.first, failed, i;
	struct statx_batch batch;

	if (wanted->engine == FERRY_LOOP || wanted->flags & FERRY_WALK_FOLLOW || !wanted->mask)
		return false;
	for (i = 0; i < count; i++)
		name[i] = names->entries[piece.first + i].name;
	batch = (struct statx_batch){
		names->opened->fd,	    name,   flags_of(false), mask_of(wanted),
		names->stats + piece.first, errors, wanted->engine,
	};
	if (!ferry__statx_batch(&batch, (struct piece){ 0, count }, &failed))
		return false;
	for (i = 0; i < count; i++)
		set_result(wanted, &names->entries[piece.first + i], errors[i],
			   &names->stats[piece.first + i]);
	return true;
}

static void look_one_by_one(struct member *member, const struct names_wanted *wanted,
			    struct names *names, struct piece piece)
{
	struct statx unwanted;
	size_t i;

	for (i = piece.first; i < piece.end; i++)
		if (is_wanted(wanted, &names->entries[i]))
			ferry__entry_look(member, wanted, names->opened->fd,
					  wanted->flags & FERRY_WALK_FOLLOW, &names->entries[i],
					  names->stats ? &names->stats[i] : &unwanted);
}

void ferry__names_look(struct member *member, const struct names_wanted *wanted,
		       struct names *names)
{
	struct piece piece;

	for (piece.first = 0; piece.first < names->count; piece.first = piece.end) {
		if (ferry__crew_stopped(member))
			return;
		piece.end = piece.first + PIECE;
		if (piece.end > names->count)
			piece.end = names->count;
		if (!look_in_batch(wanted, names, piece))
			look_one_by_one(member, wanted, names, piece);
		ferry__crew_did(member, piece.end - piece.first);
	}
}
