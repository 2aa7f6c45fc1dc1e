// SPDX-License-Identifier: MIT
/*
 * Walks a file tree and stats the entries of each directory in batches.
 *
 * The walk reads a directory to its end before it descends: the names of its
 * subdirectories wait on a stack, and its descriptor is needed only to open them.
 * So only the nearest of the directories above are held open.  The walk returns to
 * one whose descriptor it released through "..", and checks that it is the same.
 *
 * A small directory costs two batches: one closes the previous directory, opens this one
 * and reads names; the other stats those and reads more names.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"
#include "tree.h"

#define STATS 255	/* entries per batch; with the slot for reading, four pages of slots */
#define LIST_SIZE 32768 /* bytes of names read at once */
#define HELD 32		/* directories held open, at most */
#define PAGE 4096

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/*
 * Not AT_STATX_DONT_SYNC: local file systems ignore it, and on a remote one the
 * totals would come from a stale cache.
 */
#define STATX_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
#define STATX_MASK (STATX_TYPE | STATX_MODE | STATX_INO | STATX_SIZE | STATX_BLOCKS)

#define LET_GO (-1)

/* A directory between the start of the walk and the entries being visited. */
struct level {
	int fd;		       /* or LET_GO */
	struct statx identity; /* set once it is released */
	size_t path;	       /* length of its path, including the '/' at its end */
	size_t next, end;      /* its subdirectories still to be visited, in tree->names */
};

/* Bytes addressed by offset, because they move when they grow. */
struct bytes {
	char *at;
	size_t size;
};

struct tree {
	/* [0] reads names, the others stat.  Aligned to use as few pages as possible. */
	struct batch_slot calls[1 + STATS] __attribute__((aligned(PAGE)));
	long results[1 + STATS];
	struct statx stats[STATS];
	/* One is filled while the names in the other are visited. */
	char lists[2][LIST_SIZE] __attribute__((aligned(sizeof(long))));

	const struct tree_visitor *visitor;
	struct statx root; /* where the walk began */

	struct level *levels; /* [0] is where PATH is looked up, its fd AT_FDCWD */
	size_t depth, room;
	size_t held;	    /* levels[held .. depth - 1] have descriptors */
	int left;	    /* the directory just left, still open, or -1 */
	struct bytes path;  /* of the deepest level; levels[].path are the lengths to cut it to */
	struct bytes names; /* each NUL-terminated; the names of one level are adjacent */
};

struct tree *tree_new(const struct tree_visitor *visitor)
{
	struct tree *tree = aligned_alloc(PAGE, sizeof(*tree));
	size_t i;

	if (!tree)
		return NULL;
	memset(tree, 0, sizeof(*tree));
	tree->visitor = visitor;
	tree->calls[0] =
		(struct batch_slot){ .nr = SYS_getdents64, .argc = 3, .arg = { [2] = LIST_SIZE } };
	for (i = 0; i < STATS; i++)
		tree->calls[1 + i] = (struct batch_slot){
			.nr = SYS_statx,
			.argc = 5,
			.arg = { [2] = STATX_FLAGS, STATX_MASK, (long)&tree->stats[i] },
		};
	return tree;
}

void tree_free(struct tree *tree)
{
	free(tree->levels);
	free(tree->path.at);
	free(tree->names.at);
	free(tree);
}

static struct level *deepest(const struct tree *tree)
{
	return &tree->levels[tree->depth - 1];
}

static void failed(struct tree *tree, const char *action, const char *name, long error)
{
	tree->visitor->failed(tree->visitor->context, action, tree->path.at, name, (int)-error);
}

/* Whether ERROR means that the path no longer exists, or names something else. */
static bool vanished(long error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP;
}

static bool same_file_system(const struct statx *a, const struct statx *b)
{
	return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor;
}

static bool same_file(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && same_file_system(a, b);
}

/* ---- memory: grown rarely, kept for the next directory ---- */

/* Puts LENGTH bytes and a NUL at OFFSET.  Returns 0 or -ENOMEM. */
static int put(struct bytes *bytes, size_t offset, const char *text, size_t length)
{
	size_t need = offset + length + 1;
	char *grown;

	if (need > bytes->size) {
		grown = realloc(bytes->at, 2 * need);
		if (!grown)
			return -ENOMEM;
		bytes->at = grown;
		bytes->size = 2 * need;
	}
	memcpy(bytes->at + offset, text, length);
	bytes->at[offset + length] = '\0';
	return 0;
}

/* Makes room in levels[] for one more.  Returns 0 or -ENOMEM. */
static int make_room(struct tree *tree)
{
	size_t room = 2 * tree->depth + 16;
	struct level *grown;

	if (tree->depth < tree->room)
		return 0;
	grown = realloc(tree->levels, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	tree->levels = grown;
	tree->room = room;
	return 0;
}

/* Adds a level for directory NAME in the deepest, with descriptor FD.  0 or -ENOMEM. */
static int push(struct tree *tree, int fd, const char *name)
{
	size_t length = strlen(name);
	struct level level = { .fd = fd };
	bool slash = length && name[length - 1] != '/';

	if (tree->depth) {
		level.path = deepest(tree)->path;
		level.next = level.end = deepest(tree)->end;
	}
	if (make_room(tree) || put(&tree->path, level.path, name, length) ||
	    put(&tree->path, level.path + length, "/", slash))
		return -ENOMEM;
	level.path += length + slash;
	tree->levels[tree->depth++] = level;
	return 0;
}

/* Drops the levels from DEPTH on. */
static void cut(struct tree *tree, size_t depth)
{
	tree->depth = depth;
	tree->path.at[deepest(tree)->path] = '\0';
}

/* ---- descriptors: releasing and reopening ---- */

static int identify(struct level *level)
{
	return statx(level->fd, "", AT_EMPTY_PATH, STATX_MASK, &level->identity) ? -errno : 0;
}

/* Closes the topmost directory held, but not the deepest.  False if there is none. */
static bool let_go(struct tree *tree)
{
	struct level *level = &tree->levels[tree->held];

	if (tree->held + 1 >= tree->depth || identify(level))
		return false;
	close(level->fd);
	level->fd = LET_GO;
	tree->held++;
	return true;
}

/* Reopens LEVEL, which was released, as PATH from FD.  Returns 0 or -errno. */
static int open_again(struct level *level, int fd, const char *path)
{
	struct level found = { .fd = openat(fd, path, OPEN_FLAGS) };
	int error;

	if (found.fd < 0)
		return -errno;
	error = identify(&found);
	if (!error && !same_file(&found.identity, &level->identity))
		error = -ENOENT;
	if (error)
		close(found.fd);
	else
		level->fd = found.fd;
	return error;
}

/*
 * The directory below the deepest level was moved, so ".." does not lead back.  Walks the
 * path again from its start, as far as it leads through the same directories.  The rest
 * have vanished.
 */
static void walk_again(struct tree *tree)
{
	size_t depth, start = 0, end;
	int error = 0;
	char next;

	for (depth = 1; depth < tree->depth; depth++) {
		end = tree->levels[depth].path;
		next = tree->path.at[end];
		tree->path.at[end] = '\0';
		error = open_again(&tree->levels[depth], tree->levels[depth - 1].fd,
				   tree->path.at + start);
		if (error)
			break;
		tree->path.at[end] = next;
		start = end;
		if (depth > 1) {
			close(tree->levels[depth - 1].fd);
			tree->levels[depth - 1].fd = LET_GO;
		}
	}
	if (error && !vanished(error))
		failed(tree, "return to directory", "", error);
	cut(tree, depth);
}

/* Goes up one level and makes sure that its descriptor is open. */
static void leave(struct tree *tree)
{
	struct level *above = deepest(tree) - 1;
	int fd = deepest(tree)->fd;

	cut(tree, tree->depth - 1);
	if (tree->left >= 0)
		close(tree->left);
	tree->left = fd;
	if (above->fd != LET_GO)
		return;
	if (open_again(above, fd, ".."))
		walk_again(tree);
	tree->held = tree->depth > 1 ? tree->depth - 1 : 1;
}

/* ---- entries ---- */

/* Whether STAT is a mount point that contains this directory, as a bind mount may be. */
static bool is_above(struct tree *tree, const struct statx *stat)
{
	struct level *level;

	if (!(stat->stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return false;
	for (level = tree->levels + 1; level < tree->levels + tree->depth; level++)
		if ((level->fd == LET_GO || !identify(level)) && same_file(&level->identity, stat))
			return true;
	return false;
}

/* Returns 0 or -ENOMEM. */
static int visit(struct tree *tree, const char *name, const struct statx *stat)
{
	const struct tree_visitor *visitor = tree->visitor;
	struct level *level = deepest(tree);
	size_t length;

	if (visitor->one_file_system && !same_file_system(stat, &tree->root))
		return 0;
	if (!S_ISDIR(stat->stx_mode)) {
		visitor->entry(visitor->context, tree->path.at, name, stat);
		return 0;
	}
	if (is_above(tree, stat))
		return 0;
	visitor->entry(visitor->context, tree->path.at, name, stat);
	length = strlen(name);
	if (put(&tree->names, level->end, name, length))
		return -ENOMEM;
	level->end += length + 1;
	return 0;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Builds stat slots for the names in *LIST, advances it past them, and returns their number. */
static size_t add_stats(struct tree *tree, const char **list, const char *end)
{
	const struct dirent64 *entry;
	int fd = deepest(tree)->fd;
	size_t count = 0;

	while (*list < end && count < STATS) {
		entry = (const void *)*list;
		*list += entry->d_reclen;
		if (is_dots(entry->d_name))
			continue;
		count++;
		tree->calls[count].arg[0] = fd;
		tree->calls[count].arg[1] = (long)entry->d_name;
	}
	return count;
}

/* Returns 0 or -ENOMEM. */
static int visit_stats(struct tree *tree, size_t count)
{
	const char *name;
	int error = 0;
	size_t i;

	for (i = 1; i <= count && !error; i++) {
		name = (const char *)tree->calls[i].arg[1];
		if (!tree->results[i])
			error = visit(tree, name, &tree->stats[i - 1]);
		else if (!vanished(tree->results[i]))
			failed(tree, "stat", name, tree->results[i]);
	}
	return error;
}

/*
 * Visits the names in the list at AT, LENGTH bytes long.  Its first batch also reads more
 * names into NEXT, with the result in *more.  Returns 0 or -ENOMEM.
 */
static int visit_list(struct tree *tree, const char *at, long length, char *next, long *more)
{
	const char *end = at + length;
	size_t read_on = 1, count;
	int error = 0;

	tree->calls[0].arg[0] = deepest(tree)->fd;
	tree->calls[0].arg[1] = (long)next;
	do {
		count = add_stats(tree, &at, end);
		run_batch(tree->results + 1 - read_on, tree->calls + 1 - read_on, count + read_on);
		read_on = 0;
		error = visit_stats(tree, count);
	} while (at < end && !error);
	*more = tree->results[0];
	return error;
}

/* Visits the entries of the deepest directory; LENGTH is the bytes in lists[0], or -errno. */
static int visit_all(struct tree *tree, long length)
{
	int error = 0;
	int list;

	for (list = 0; length > 0 && !error; list = !list)
		error = visit_list(tree, tree->lists[list], length, tree->lists[!list], &length);
	if (length < 0 && !vanished(length))
		failed(tree, "read directory", "", length);
	return error;
}

/* ---- the walk ---- */

enum { CLOSE, OPEN, LIST, ENTER_SLOTS };

/* Closes the previous directory, opens NAME in the deepest and reads its first names. */
static void open_and_list(struct tree *tree, const char *name, long results[])
{
	struct batch_slot calls[ENTER_SLOTS] = {
		[CLOSE] = { .nr = SYS_close, .argc = 1, .arg = { tree->left } },
		[OPEN] = { .nr = SYS_openat,
			   .jump_fail = -1,
			   .argc = 3,
			   .arg = { deepest(tree)->fd, (long)name, OPEN_FLAGS } },
		[LIST] = { .nr = SYS_getdents64,
			   .argc = 3 | BATCH_ARGC_FORWARD,
			   .from = { LIST - OPEN },
			   .arg = { 0, (long)tree->lists[0], LIST_SIZE } },
	};
	int first = tree->left < 0 ? OPEN : CLOSE;

	run_batch(results + first, calls + first, ENTER_SLOTS - first);
	tree->left = -1;
}

/* Visits everything in NAME, a directory in the deepest.  Returns 0 or -ENOMEM. */
static int enter(struct tree *tree, const char *name)
{
	long results[ENTER_SLOTS];
	int error;

	if (tree->depth - tree->held >= HELD)
		let_go(tree);
	do
		open_and_list(tree, name, results);
	while ((results[OPEN] == -EMFILE || results[OPEN] == -ENFILE) && let_go(tree));
	if (results[OPEN] < 0) {
		if (!vanished(results[OPEN]))
			failed(tree, "open directory", name, results[OPEN]);
		return 0;
	}
	error = push(tree, (int)results[OPEN], name);
	if (error)
		close((int)results[OPEN]);
	return error ? error : visit_all(tree, results[LIST]);
}

/* Returns 0 or -ENOMEM. */
static int walk(struct tree *tree)
{
	struct level *level;
	const char *name;
	int error = 0;

	while (!error) {
		level = deepest(tree);
		if (level->next < level->end) {
			name = tree->names.at + level->next;
			level->next += strlen(name) + 1;
			error = enter(tree, name);
		} else if (tree->depth > 1) {
			leave(tree);
		} else {
			break;
		}
	}
	return error;
}

int tree_walk(struct tree *tree, const char *path)
{
	size_t i;
	int error;

	tree->depth = 0;
	tree->held = 1;
	tree->left = -1;
	if (push(tree, AT_FDCWD, ""))
		return -ENOMEM;
	if (statx(AT_FDCWD, path, STATX_FLAGS, STATX_MASK, &tree->root)) {
		failed(tree, "stat", path, -errno);
		return 0;
	}
	error = visit(tree, path, &tree->root);
	if (!error)
		error = walk(tree);
	for (i = tree->held; i < tree->depth; i++)
		close(tree->levels[i].fd);
	if (tree->left >= 0)
		close(tree->left);
	return error;
}
