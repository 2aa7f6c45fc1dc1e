// SPDX-License-Identifier: MIT
/* ferry du: how much space files take, directory by directory. */
#include <locale.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/output.h"
#include "du_count.h"
#include "du_messages.h"
#include "du_options.h"
#include "du_time.h"

/* ---- lines ---- */

/* The items in the order of their lines. */
struct lines {
	const struct du *du;
	const struct du_item **items;
	size_t count, room;
};

static bool is_listed(const struct du *du, const struct du_item *item)
{
	return item->depth <= du->count.max_depth && item->sum.amount >= du->at_least &&
	       item->sum.amount <= du->at_most;
}

static void add_line(void *context, const struct du_item *item)
{
	struct lines *lines = context;
	const struct du_item **more;

	if (!is_listed(lines->du, item))
		return;
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
	du_bytes first = (*(const struct du_item *const *)a)->sum.amount;
	du_bytes second = (*(const struct du_item *const *)b)->sum.amount;

	return first < second ? 1 : first > second ? -1 : 0;
}

static void print_line(const struct du *du, const struct du_sum *sum, const char *path)
{
	du_print_amount(&du->unit, sum->amount);
	putchar('\t');
	if (du->count.time) {
		du_print_time(du->time_format, &sum->time);
		putchar('\t');
	}
	fputs(path, stdout);
	putchar(du->end_of_line);
}

static void print_lines(const struct lines *lines, const struct du_tree *tree)
{
	size_t i;

	for (i = 0; i < lines->count; i++) {
		char *path = du_path(lines->items[i]);

		print_line(lines->du, &lines->items[i]->sum, path);
		free(path);
	}
	if (lines->du->total)
		print_line(lines->du, &tree->total, "total");
}

/* ---- JSON ---- */

static json_t *amount_as_json(du_bytes amount)
{
	return amount > INT64_MAX ? json_real((double)amount) : json_integer((json_int_t)amount);
}

static json_t *item_as_json(const struct du *du, const struct du_item *item)
{
	const char *amount = du->count.counted == DU_INODES ? "inodes" : "bytes";
	char *path = du_path(item);
	json_t *object = json_pack("{s:o, s:o*, s:o, s:b}", "path", json_text(path), "path_hex",
				   json_hex_unless_text(path), amount,
				   amount_as_json(item->sum.amount), "directory", !item->is_file);

	if (du->count.time)
		json_object_set_new(object, "time", json_integer(item->sum.time.seconds));
	free(path);
	return object;
}

static void print_lines_as_json(const struct lines *lines, const struct du_tree *tree,
				bool complete)
{
	json_t *list = json_array(), *report;
	size_t i;

	for (i = 0; i < lines->count; i++)
		json_array_append_new(list, item_as_json(lines->du, lines->items[i]));
	report = json_pack("{s:i, s:b, s:o}", "version", 1, "complete", complete, "entries", list);
	if (lines->du->total)
		json_object_set_new(report, "total", amount_as_json(tree->total.amount));
	print_json(report);
}

/* ---- the command ---- */

static int count_and_print(const struct du *du, const struct du_arguments *arguments)
{
	struct lines lines = { .du = du };
	struct du_tree tree;
	bool complete;

	du_tree_init(&tree);
	complete = du_count(&tree, &du->count, arguments) && arguments->complete;
	du_sum_up(&tree, du->count.separate);
	du_visit(&tree, add_line, &lines);
	if (du->by_size && lines.count)
		qsort((void *)lines.items, lines.count, sizeof(*lines.items), by_size);
	if (du->json)
		print_lines_as_json(&lines, &tree, complete);
	else
		print_lines(&lines, &tree);
	free((void *)lines.items);
	du_tree_free(&tree);
	return complete ? EXIT_OK : EXIT_FOUND;
}

static int run(int argc, char *argv[])
{
	struct du_arguments arguments;
	struct du du;
	int status;

	setlocale(LC_CTYPE, "");
	setlocale(LC_NUMERIC, "");
	setlocale(LC_TIME, "");
	status = du_parse(&du, du_command.help, argc, argv);
	if (status >= 0)
		return status;
	if (!du.files_from) {
		arguments = du_arguments_of(argv + optind, (size_t)(argc - optind));
		return count_and_print(&du, &arguments);
	}
	if (optind < argc) {
		du_complain("extra operand %s", du_quoted(argv[optind]));
		fputs("file operands cannot be combined with --files0-from\n", stderr);
		return du_see_help();
	}
	if (!du_arguments_from(&arguments, du.files_from))
		return EXIT_FOUND;
	return count_and_print(&du, &arguments);
}

const struct command du_command = {
	.name = "du",
	.summary = "sum up the space that files take",
	.replaces = true,
	.help = "Usage: ferry du [OPTION...] [PATH...]\n"
		"Prints how much space the directories below each PATH take, or below the working\n"
		"directory, in units of 1024 bytes.  A file with several hard links counts "
		"once.\n\n"
		"What counts:\n"
		"  -A, --apparent-size    sizes of files, not the space they take on the disk\n"
		"  -b, --bytes            the same, in bytes\n"
		"      --inodes           files, not the space they take\n"
		"  -l, --count-links      each hard link\n"
		"  -x, --one-file-system  nothing that is on other file systems\n"
		"  -D, --dereference-args the targets of PATHs that are symbolic links; also -H\n"
		"  -L, --dereference      the targets of all symbolic links\n"
		"  -P, --no-dereference   symbolic links themselves (the default)\n"
		"      --exclude PATTERN  nothing that matches, or is below that\n"
		"  -X, --exclude-from FILE  the same for each line of FILE\n"
		"      --files0-from FILE the PATHs in FILE, each with a NUL after it\n\n"
		"Lines:\n"
		"  -a, --all              list files, too\n"
		"  -c, --total            and the sum of all\n"
		"  -d, --max-depth N      list directories up to N levels below the PATH\n"
		"  -s, --summarize        list each PATH alone\n"
		"  -S, --separate-dirs    directories without the directories in them\n"
		"  -t, --threshold SIZE   list what has SIZE bytes at least, or with -SIZE at "
		"most\n"
		"      --time WORD        with the latest time of change, or atime or ctime\n"
		"      --time-style STYLE full-iso, long-iso, iso, or +FORMAT\n"
		"  -B, --block-size SIZE  in units of SIZE bytes, such as 512, K, MB or GiB\n"
		"  -h, --human-readable   sizes like 1.5K and 234M\n"
		"      --si               the same in powers of 1000\n"
		"  -k                     in units of 1024 bytes\n"
		"  -m                     in units of 1 MiB\n"
		"  -j, --json             print JSON, in bytes\n"
		"  -0, --null             end lines with a NUL\n"
		"      --sort KEY         by name (the default), or by size, the largest first\n"
		"      --help             print this help\n"
		"      --version          print the version\n\n"
		"Exit status: 0, or 1 if something could not be read, or for bad options.\n"
		"Example: ferry du -h -d 1 --sort size /var\n",
	.run = run,
};
