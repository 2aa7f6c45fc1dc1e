// SPDX-License-Identifier: MIT
#include "walk_filter.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"

#define PART ((size_t)4096)

/* Of a file with patterns, what goes beyond this is not read, in bytes. */
#define MOST_TEXT ((size_t)1 << 20)

bool ferry__filter_init(struct walk_filter *filter, const struct ferry_walk_filter *wanted,
			bool follows)
{
	*filter = (struct walk_filter){ .wanted = wanted, .follows = follows };
	if (!wanted || (ferry__patterns_add_list(&filter->include, wanted->include) &&
			ferry__patterns_add_list(&filter->exclude, wanted->exclude)))
		return true;
	ferry__filter_free(filter);
	return false;
}

void ferry__filter_free(struct walk_filter *filter)
{
	ferry__patterns_free(&filter->include);
	ferry__patterns_free(&filter->exclude);
}

bool ferry__filter_goes_below(const struct walk_filter *filter, const struct node *node)
{
	return !filter->wanted || !filter->wanted->max_depth ||
	       node->depth < filter->wanted->max_depth;
}

/* ---- files with patterns ---- */

struct text {
	char *data;
	size_t length;
	bool is_lost; /* out of memory */
};

static bool add_part(void *context, const char *data, size_t size, size_t offset)
{
	struct text *text = context;
	char *longer = realloc(text->data, offset + size);

	if (!longer) {
		text->is_lost = true;
		return false;
	}
	memcpy(longer + offset, data, size);
	text->data = longer;
	text->length = offset + size;
	return text->length < MOST_TEXT;
}

/* Without a line whose end was not read, and the mark that some editors put first. */
static bool add_lines(struct patterns *patterns, const struct text *text)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' };
	const bool is_marked =
		text->length >= sizeof(mark) && !memcmp(text->data, mark, sizeof(mark));
	size_t start = is_marked ? sizeof(mark) : 0, end = text->length;

	if (end >= MOST_TEXT)
		while (end > start && text->data[end - 1] != '\n')
			end--;
	return end == start || ferry__patterns_add_lines(patterns, text->data + start, end - start);
}

/* One that cannot be read has no patterns, as for git. */
int ferry__filter_read_patterns(const struct walk_filter *filter, struct member *member,
				struct node *node, int dir)
{
	const char *name = filter->wanted ? filter->wanted->ignore_file : NULL;
	struct text text = { 0 };
	char buffer[PART];
	int error;

	if (!name)
		return 0;
	error = ferry__contents_in_parts(member, dir, name, FERRY_READ_NOFOLLOW, buffer,
					 sizeof(buffer), add_part, &text);
	if (error != -EMFILE && error != -ENFILE)
		error = text.is_lost || !add_lines(&node->patterns, &text) ? -ENOMEM : 0;
	free(text.data);
	return error;
}

/* ---- entries ---- */

/* An entry of the directory of NODE, and its path, which begins with the path of that. */
struct candidate {
	const struct node *node;
	const char *path;
	const struct ferry_walk_entry *entry;
	bool is_directory;
};

/* What the patterns of the directories above say, the lowest first. */
static enum matched match_files(const struct candidate *of)
{
	enum matched found = NOT_MATCHED;
	const struct node *node;
	const char *path;

	for (node = of->node; node && !found; node = node->parent) {
		if (!node->patterns.count)
			continue;
		path = of->path + node->path_length;
		found = ferry__patterns_match(&node->patterns, path + (*path == '/'),
					      of->is_directory);
	}
	return found;
}

static bool is_wanted(const struct walk_filter *filter, const struct candidate *of,
		      const char *below_root)
{
	enum matched found;

	if (filter->wanted->hide && of->entry->name[0] == '.')
		return false;
	found = ferry__patterns_match(&filter->exclude, below_root, of->is_directory);
	if (!found)
		found = match_files(of);
	if (found == MATCHED)
		return false;
	return of->is_directory || !filter->wanted->include ||
	       ferry__patterns_match(&filter->include, below_root, false) == MATCHED;
}

/* Without a type, or for a link that is followed, that has to be asked. */
static bool is_directory(const struct walk_filter *filter, struct member *member, int dir,
			 const struct ferry_walk_entry *entry)
{
	const bool follows = filter->follows && entry->type == DT_LNK;
	const int flags = AT_NO_AUTOMOUNT | (follows ? 0 : AT_SYMLINK_NOFOLLOW);
	struct statx stat;

	if (entry->type != DT_UNKNOWN && !follows)
		return entry->type == DT_DIR;
	return !ferry__call_statx(member, dir, entry->name, flags, STATX_TYPE, &stat) &&
	       S_ISDIR(stat.stx_mode);
}

static size_t root_length(const struct node *node)
{
	while (node->parent)
		node = node->parent;
	return node->path_length;
}

bool ferry__filter_names(const struct walk_filter *filter, struct member *member,
			 struct names *names, const char *path)
{
	size_t length = names->node->path_length, root, kept = 0, i;
	struct candidate of = { .node = names->node };
	char *joined, *name;

	if (!filter->wanted)
		return true;
	joined = malloc(length + 1 + NAME_MAX + 1);
	if (!joined)
		return false;
	root = root_length(names->node);
	memcpy(joined, path, length);
	name = joined + length;
	if (length && path[length - 1] != '/')
		*name++ = '/';
	of.path = joined;
	for (i = 0; i < names->count; i++) {
		of.entry = &names->entries[i];
		of.is_directory = is_directory(filter, member, names->opened->fd, of.entry);
		/* A file system may have longer names than NAME_MAX: they match nothing. */
		strncpy(name, of.entry->name, NAME_MAX);
		name[NAME_MAX] = '\0';
		if (is_wanted(filter, &of, joined + root + (joined[root] == '/')))
			names->entries[kept++] = names->entries[i];
	}
	names->count = kept;
	free(joined);
	return true;
}
