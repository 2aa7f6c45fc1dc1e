// SPDX-License-Identifier: MIT
#include "walk_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>
#include <linux/getdents_statx.h>

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

/* An entry of either call. */
struct read_entry {
	size_t size; /* up to the next one */
	uint64_t inode;
	unsigned char type;
	const char *name;
	size_t room;		  /* of the name, its end and what fills up */
	const struct statx *stat; /* or NULL */
};

static struct read_entry entry_at(const struct dirents *dirents, size_t at)
{
	const char *here = dirents->data + at;

	if (dirents->has_stats) {
		const struct dirent_statx *both = (const struct dirent_statx *)here;

		return (struct read_entry){ both->reclen,
					    both->ino,
					    (unsigned char)both->type,
					    both->name,
					    both->reclen - offsetof(struct dirent_statx, name),
					    &both->stat };
	}
	const struct dirent_header *plain = (const struct dirent_header *)here;

	return (struct read_entry){ plain->size,
				    plain->inode,
				    plain->type,
				    plain->name,
				    plain->size - offsetof(struct dirent_header, name),
				    NULL };
}

static bool is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Returns how many names there are, and stores the room that they take. */
static size_t count_names(const struct dirents *dirents, size_t *room)
{
	struct read_entry entry;
	size_t count = 0, at;

	*room = 0;
	for (at = 0; at < dirents->size; at += entry.size) {
		entry = entry_at(dirents, at);
		if (is_dot(entry.name))
			continue;
		*room += entry.room;
		count++;
	}
	return count;
}

static void list_entries(struct names *names, const struct dirents *dirents, char *text)
{
	struct read_entry entry;
	size_t at, i = 0;

	for (at = 0; at < dirents->size; at += entry.size) {
		entry = entry_at(dirents, at);
		if (is_dot(entry.name))
			continue;
		memcpy(text, entry.name, entry.room);
		if (entry.stat)
			names->stats[i] = *entry.stat;
		names->entries[i++] = (struct ferry_walk_entry){
			.name = text,
			.inode = entry.inode,
			.type = entry.type,
		};
		text += entry.room;
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

static unsigned int mask_of(const struct names_wanted *wanted)
{
	return wanted->mask | STATX_TYPE | STATX_INO;
}

long ferry__names_read(struct member *member, const struct names_wanted *wanted, int fd,
		       char *buffer, size_t size, struct dirents *into)
{
	long result = -EOPNOTSUPP;

	if (wanted->with_names)
		result = ferry_rawcall(FERRY_NR_GETDENTS_STATX, fd, (long)buffer, (long)size,
				       mask_of(wanted), 0, 0);
	into->has_stats = result != -EOPNOTSUPP && !ferry__is_refused(result);
	if (!into->has_stats)
		result = ferry__call_getdents(member, fd, buffer, size);
	into->data = buffer;
	into->size = result < 0 ? 0 : (size_t)result;
	return result;
}

/* One allocation: the structure, entries, attributes, and the names. */
struct names *ferry__names_new(const struct names_wanted *wanted, const struct dirents *dirents,
			       struct node *node, struct opened *opened)
{
	size_t room, count = count_names(dirents, &room);
	size_t entries_at = aligned(sizeof(struct names));
	size_t stats_at = aligned(entries_at + count * sizeof(struct ferry_walk_entry));
	bool stats = needs_stats(wanted);
	size_t text_at = stats_at + (stats ? count * sizeof(struct statx) : 0);
	char *memory = malloc(text_at + room);
	struct names *names = (struct names *)memory;

	if (!names)
		return NULL;
	*names = (struct names){
		.node = node,
		.opened = ferry__opened_use(opened),
		.count = count,
		.entries = (struct ferry_walk_entry *)(memory + entries_at),
		.stats = stats ? (struct statx *)(memory + stats_at) : NULL,
		.has_stats = dirents->has_stats,
	};
	atomic_fetch_add_explicit(&node->users, 1, memory_order_relaxed);
	list_entries(names, dirents, memory + text_at);
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

/* Those whose attributes did not come with their names. */
static void look_at_others(struct member *member, const struct names_wanted *wanted,
			   struct names *names, struct piece piece)
{
	size_t i;

	for (i = piece.first; i < piece.end; i++)
		if (names->stats[i].stx_mask)
			set_result(wanted, &names->entries[i], 0, &names->stats[i]);
		else
			ferry__entry_look(member, wanted, names->opened->fd, false,
					  &names->entries[i], &names->stats[i]);
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
		if (names->has_stats)
			look_at_others(member, wanted, names, piece);
		else if (!look_in_batch(wanted, names, piece))
			look_one_by_one(member, wanted, names, piece);
		ferry__crew_did(member, piece.end - piece.first);
	}
}
