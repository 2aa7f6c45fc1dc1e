// SPDX-License-Identifier: MIT
#include "files_sides.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/interrupt.h"

#define WALK_MASK (STATX_TYPE | STATX_SIZE)

/* ---- the files ---- */

static bool wants(const FTSENT *entry)
{
	return entry->fts_info == FTS_F && (size_t)entry->fts_statp->st_size < LARGEST_FILE &&
	       !access(entry->fts_path, R_OK);
}

int file_set_collect(struct file_set *set, const char *path, size_t most)
{
	char *const roots[] = { keep_text("%s", path), NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	*set = (struct file_set){ .names = keep(most, sizeof(char *)),
				  .sizes = keep(most, sizeof(*set->sizes)) };
	set->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (tree && set->count < most && (entry = fts_read(tree)) && !interrupted()) {
		if (!wants(entry))
			continue;
		set->sizes[set->count] = (size_t)entry->fts_statp->st_size;
		set->names[set->count++] =
			keep_text("%s", entry->fts_path + strlen(path) + (entry->fts_level > 0));
	}
	if (tree)
		fts_close(tree);
	if (set->dir >= 0 && (set->count || interrupted()))
		return 0;
	return bad_input("bench: %s: it has no small file to read", path);
}

void file_set_make_room(struct file_set *set)
{
	size_t i;

	set->stats = keep(set->count, sizeof(*set->stats));
	set->errors = keep(set->count, sizeof(*set->errors));
	set->files = keep(set->count, sizeof(*set->files));
	set->arena.size = LARGEST_FILE;
	for (i = 0; i < set->count; i++)
		set->arena.size += set->sizes[i] + 32;
	set->arena.memory = keep(set->arena.size, 1);
}

/* ---- attributes ---- */

static uint64_t sum_of_sizes(const struct file_set *set, size_t count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += set->stats[i].stx_size + (set->errors[i] != 0);
	return sum;
}

uint64_t statx_in_one_call(struct file_set *set, size_t count)
{
	ferry_statx_many(set->dir, set->names, count, 0, STATX_BASIC_STATS, set->stats, set->errors,
			 NULL);
	return sum_of_sizes(set, count);
}

uint64_t statx_by_plain_calls(struct file_set *set, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		set->errors[i] =
			statx(set->dir, set->names[i], 0, STATX_BASIC_STATS, &set->stats[i]);
	return sum_of_sizes(set, count);
}

/* ---- contents ---- */

static uint64_t read_all(struct file_set *set, size_t count, unsigned int flags)
{
	uint64_t sum = 0;
	size_t i;

	set->arena.used = 0;
	memset(set->files, 0, count * sizeof(*set->files));
	ferry_read_files(set->dir, set->names, count, flags, set->files, &set->arena, NULL);
	for (i = 0; i < count; i++)
		sum += set->files[i].length;
	return sum;
}

uint64_t read_in_one_call(struct file_set *set, size_t count)
{
	return read_all(set, count, 0);
}

uint64_t open_first_in_one_call(struct file_set *set, size_t count)
{
	return read_all(set, count, FERRY_READ_OPEN_FIRST);
}

/* The length of the file, or -1: it is no regular file, where one LOOKS, or cannot be read. */
static ssize_t read_one(struct file_set *set, size_t i, bool looks, char *to)
{
	int fd = openat(set->dir, set->names[i], O_RDONLY | O_CLOEXEC);
	ssize_t length = -1;
	struct stat stat;

	if (fd < 0)
		return -1;
	if (!looks || (!fstat(fd, &stat) && S_ISREG(stat.st_mode)))
		length = read(fd, to, LARGEST_FILE);
	close(fd);
	return length;
}

/* All contents are kept here, too, one after the other. */
static uint64_t read_plainly(struct file_set *set, size_t count, bool looks)
{
	char *at = set->arena.memory;
	ssize_t length;
	size_t i;

	for (i = 0; i < count; i++) {
		length = read_one(set, i, looks, at);
		if (length > 0)
			at += length;
	}
	return (uint64_t)(at - (char *)set->arena.memory);
}

uint64_t read_by_plain_calls(struct file_set *set, size_t count)
{
	return read_plainly(set, count, false);
}

uint64_t look_and_read_by_plain_calls(struct file_set *set, size_t count)
{
	return read_plainly(set, count, true);
}

/* ---- digests ---- */

/* A context, with room for that of any version of OpenSSL. */
struct sha256 {
	char context[256] __attribute__((aligned(16)));
};

static struct {
	int (*begin)(struct sha256 *sha256);
	int (*add)(struct sha256 *sha256, const void *data, size_t size);
	int (*end)(unsigned char digest[32], struct sha256 *sha256);
} openssl;

const char *sha256_missing(void)
{
	static const char *const names[] = { "libcrypto.so.3", "libcrypto.so.1.1" };
	void *library = NULL;
	size_t i;

	for (i = 0; i < 2 && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return "there is no libcrypto, of OpenSSL, that computes SHA-256";
	*(void **)&openssl.begin = dlsym(library, "SHA256_Init");
	*(void **)&openssl.add = dlsym(library, "SHA256_Update");
	*(void **)&openssl.end = dlsym(library, "SHA256_Final");
	return openssl.begin && openssl.add && openssl.end ? NULL :
							     "libcrypto has no SHA256_Init()";
}

/* A part of the digest, so that sums of all files are the same in any order. */
static uint64_t hash(const void *data, size_t length)
{
	union {
		unsigned char bytes[32];
		uint64_t number;
	} digest;
	struct sha256 sha256;

	openssl.begin(&sha256);
	openssl.add(&sha256, data, length);
	openssl.end(digest.bytes, &sha256);
	return digest.number;
}

/* All files are small enough to come as a whole. */
static int add_hash(void *context, const struct ferry_contents *contents)
{
	_Atomic uint64_t *sum = context;

	if (!contents->error)
		*sum += hash(contents->data, contents->length);
	return 0;
}

uint64_t hash_in_one_call(struct file_set *set, size_t count)
{
	_Atomic uint64_t sum = 0;

	ferry_read_each(set->dir, set->names, count, FERRY_READ_OPEN_FIRST | FERRY_READ_CONCURRENT,
			0, add_hash, &sum, NULL);
	return sum;
}

uint64_t hash_by_plain_calls(struct file_set *set, size_t count)
{
	uint64_t sum = 0;
	ssize_t length;
	size_t i;

	for (i = 0; i < count; i++) {
		length = read_one(set, i, true, set->arena.memory);
		if (length >= 0)
			sum += hash(set->arena.memory, (size_t)length);
	}
	return sum;
}

/* ---- trees ---- */

static int count_block(void *context, struct ferry_block *block)
{
	uint64_t *sum = context;
	size_t i;

	for (i = 0; i < block->count; i++)
		*sum += 1 + (block->entries[i].stat && block->entries[i].type != DT_DIR ?
				     block->entries[i].stat->stx_size :
				     0);
	return 0;
}

uint64_t walk_in_one_call(struct file_set *set, size_t count)
{
	uint64_t sum = 0;

	(void)count;
	ferry_walk(set->dir, ".", 0, WALK_MASK, count_block, &sum, NULL);
	return sum;
}

uint64_t walk_by_fts(struct file_set *set, size_t count)
{
	char *const roots[] = { keep_text("/proc/self/fd/%d/.", set->dir), NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL, NULL);
	uint64_t sum = 0;
	FTSENT *entry;

	(void)count;
	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info != FTS_DP)
			sum += 1 + (entry->fts_info != FTS_D && entry->fts_info != FTS_DNR ?
					    (uint64_t)entry->fts_statp->st_size :
					    0);
	if (tree)
		fts_close(tree);
	return sum;
}

/* Adds what is in the directory FD, which is closed in the end. */
static uint64_t recurse(int fd) // NOLINT(misc-no-recursion)
{
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *entry;
	struct stat stat;
	int child;

	while (directory && (entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		sum++;
		if (fstatat(fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISDIR(stat.st_mode)) {
			sum += (uint64_t)stat.st_size;
			continue;
		}
		child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		sum += recurse(child);
	}
	if (directory)
		closedir(directory);
	return sum;
}

uint64_t walk_by_recursion(struct file_set *set, size_t count)
{
	(void)count;
	return 1 + recurse(openat(set->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
