// SPDX-License-Identifier: MIT
/* ferry du: how much space files take, directory by directory. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/output.h"
#include "du_count.h"

enum { APPARENT_SIZE = 'A', EXCLUDE = UCHAR_MAX + 1, SORT, HELP };

static const struct option long_options[] = {
	{ "null", no_argument, NULL, '0' },
	{ "apparent-size", no_argument, NULL, APPARENT_SIZE },
	{ "all", no_argument, NULL, 'a' },
	{ "bytes", no_argument, NULL, 'b' },
	{ "max-depth", required_argument, NULL, 'd' },
	{ "human-readable", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "count-links", no_argument, NULL, 'l' },
	{ "summarize", no_argument, NULL, 's' },
	{ "one-file-system", no_argument, NULL, 'x' },
	{ "exclude", required_argument, NULL, EXCLUDE },
	{ "sort", required_argument, NULL, SORT },
	{ "help", no_argument, NULL, HELP },
	{ 0 },
};

enum unit { KIBIBYTES, BYTES, HUMAN };

struct du {
	struct du_options count;
	enum unit unit;
	bool summarize, has_depth, by_size, json;
	char end_of_line;
};

/* ---- printing ---- */

static uint64_t divide_up(uint64_t value, uint64_t by)
{
	return value / by + (value % by != 0);
}

/* As GNU du: rounded up, with one decimal below 10. */
static void print_human(uint64_t bytes)
{
	static const char suffixes[] = "BKMGTPE";
	unsigned int power = 0;
	uint64_t unit = 1, tenths;

	while (bytes / unit >= 1024) {
		unit *= 1024;
		power++;
	}
	if (power && divide_up(bytes, unit) == 1024) {
		unit *= 1024;
		power++;
	}
	if (!power) {
		printf("%llu", (unsigned long long)bytes);
		return;
	}
	tenths = bytes / unit * 10 + divide_up(bytes % unit * 10, unit);
	if (tenths < 100)
		printf("%llu.%llu%c", (unsigned long long)tenths / 10,
		       (unsigned long long)tenths % 10, suffixes[power]);
	else
		printf("%llu%c", (unsigned long long)divide_up(bytes, unit), suffixes[power]);
}

static void print_bytes(enum unit unit, uint64_t bytes)
{
	if (unit == HUMAN)
		print_human(bytes);
	else
		printf("%llu",
		       (unsigned long long)(unit == BYTES ? bytes : divide_up(bytes, 1024)));
}

/* The items in the order of their lines. */
struct lines {
	const struct du_item **items;
	size_t count, room;
};

static void add_line(void *context, const struct du_item *item)
{
	struct lines *lines = context;
	const struct du_item **more;

	if (lines->count == lines->room) {
		lines->room = lines->room ? 2 * lines->room : 64;
		more = (const struct du_item **)allocate(lines->room, sizeof(*more));
		if (lines->count)
			memcpy((void *)more, (const void *)lines->items,
			       lines->count * sizeof(*more));
		free((void *)lines->items);
		lines->items = more;
	}
	lines->items[lines->count++] = item;
}

static int by_size(const void *a, const void *b)
{
	uint64_t first = (*(const struct du_item *const *)a)->bytes;
	uint64_t second = (*(const struct du_item *const *)b)->bytes;

	return first < second ? 1 : first > second ? -1 : 0;
}

static void print_lines(const struct du *du, const struct lines *lines)
{
	size_t i;

	for (i = 0; i < lines->count; i++) {
		char *path = du_path(lines->items[i]);

		print_bytes(du->unit, lines->items[i]->bytes);
		printf("\t%s%c", path, du->end_of_line);
		free(path);
	}
}

static void print_lines_as_json(const struct lines *lines, bool complete)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < lines->count; i++) {
		char *path = du_path(lines->items[i]);

		json_array_append_new(list,
				      json_pack("{s:o, s:o*, s:I, s:b}", "path", json_text(path),
						"path_hex", json_hex_unless_text(path), "bytes",
						(json_int_t)lines->items[i]->bytes, "directory",
						!lines->items[i]->is_file));
		free(path);
	}
	print_json(
		json_pack("{s:i, s:b, s:o}", "version", 1, "complete", complete, "entries", list));
}

static int count_and_print(const struct du *du, char *const paths[], size_t count)
{
	struct lines lines = { 0 };
	struct du_tree tree;
	bool complete;

	du_tree_init(&tree);
	complete = du_count(&tree, &du->count, paths, count);
	du_sum(&tree);
	du_visit(&tree, add_line, &lines);
	if (du->by_size && lines.count)
		qsort((void *)lines.items, lines.count, sizeof(*lines.items), by_size);
	if (du->json)
		print_lines_as_json(&lines, complete);
	else
		print_lines(du, &lines);
	free((void *)lines.items);
	du_tree_free(&tree);
	return complete ? EXIT_OK : EXIT_FOUND;
}

/* ---- options ---- */

static bool parse_depth(struct du *du, const char *text)
{
	char *end;
	unsigned long depth;

	errno = 0;
	depth = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || depth > INT_MAX) {
		complain("du: the depth '%s' is not a number from 0 to %d", text, INT_MAX);
		return false;
	}
	du->count.max_depth = (unsigned int)depth;
	du->has_depth = true;
	return true;
}

static bool parse_sort(struct du *du, const char *key)
{
	du->by_size = !strcmp(key, "size");
	if (du->by_size || !strcmp(key, "name"))
		return true;
	complain("du: unknown sort key '%s' (use name or size)", key);
	return false;
}

/* Returns false after complaining. */
static bool take_option(struct du *du, int option)
{
	switch (option) {
	case '0':
		du->end_of_line = '\0';
		break;
	case 'a':
		du->count.all = true;
		break;
	case 'b':
		du->unit = BYTES;
		du->count.apparent = true;
		break;
	case APPARENT_SIZE:
		du->count.apparent = true;
		break;
	case 'd':
		return parse_depth(du, optarg);
	case 'h':
		du->unit = HUMAN;
		break;
	case 'j':
		du->json = true;
		break;
	case 'l':
		du->count.count_links = true;
		break;
	case 's':
		du->summarize = true;
		break;
	case 'x':
		du->count.one_file_system = true;
		break;
	case EXCLUDE:
		du->count.exclude[du->count.exclude_count++] = optarg;
		break;
	case SORT:
		return parse_sort(du, optarg);
	default:
		return false;
	}
	return true;
}

static bool check_options(struct du *du)
{
	if (!du->summarize)
		return true;
	if (du->count.all) {
		complain("du: --summarize and --all exclude each other");
		return false;
	}
	if (du->has_depth && du->count.max_depth) {
		complain("du: --summarize and --max-depth exclude each other");
		return false;
	}
	du->count.max_depth = 0;
	return true;
}

/* -1 to go on, or the exit status. */
static int parse(struct du *du, int argc, char *argv[])
{
	int option;

	while ((option = getopt_long(argc, argv, "0Aabd:hjlsx", long_options, NULL)) != -1) {
		if (option == HELP) {
			fputs(du_command.help, stdout);
			return EXIT_OK;
		}
		if (!take_option(du, option))
			return EXIT_USAGE;
	}
	return check_options(du) ? -1 : EXIT_USAGE;
}

/* As GNU du: of several slashes at the end, one stays. */
static void trim_slashes(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/' && path[length - 2] == '/')
		path[--length] = '\0';
}

static int run(int argc, char *argv[])
{
	static char *const here[] = { "." };
	struct du du = { .end_of_line = '\n' };
	int status, i;

	du.count.max_depth = UINT_MAX;
	du.count.exclude = (const char **)allocate((size_t)argc, sizeof(*du.count.exclude));
	status = parse(&du, argc, argv);
	for (i = optind; i < argc; i++)
		trim_slashes(argv[i]);
	if (status < 0)
		status = optind < argc ?
				 count_and_print(&du, argv + optind, (size_t)(argc - optind)) :
				 count_and_print(&du, here, 1);
	free((void *)du.count.exclude);
	return status;
}

const struct command du_command = {
	.name = "du",
	.summary = "sum up the space that files take",
	.help = "Usage: ferry du [OPTION...] [PATH...]\n"
		"Prints how much space the directories below each PATH take, or below the working\n"
		"directory, in units of 1024 bytes.  A file with several hard links counts "
		"once.\n\n"
		"  -a, --all              list files, too\n"
		"  -A, --apparent-size    sizes of files, not the space they take on the disk\n"
		"  -b, --bytes            the same, in bytes\n"
		"  -d, --max-depth N      list directories up to N levels below the PATH\n"
		"  -h, --human-readable   sizes like 1.5K and 234M\n"
		"  -j, --json             print JSON, in bytes\n"
		"  -l, --count-links      count each hard link\n"
		"  -s, --summarize        list each PATH alone\n"
		"  -x, --one-file-system  leave out what is on other file systems\n"
		"  -0, --null             end lines with a NUL\n"
		"      --exclude PATTERN  leave out what matches, and all below it\n"
		"      --sort KEY         by name (the default), or by size, the largest first\n"
		"      --help             print this help\n\n"
		"Exit status: 0, 1 if something could not be read, 2 for bad options.\n"
		"Example: ferry du -h -d 1 --sort size /var\n",
	.run = run,
};
