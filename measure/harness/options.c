// SPDX-License-Identifier: MIT
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/number.h"
#include "common/own_directory.h"
#include "common/show.h"

static const struct option_row common_options[] = {
	{ 'u', NUMBER_OPTION, "cpu", "N", "cpu", offsetof(struct settings, cpu),
	  "the CPU to measure on", .max = CPU_SETSIZE - 1 },
	{ 'i', NUMBER_OPTION, "seed", "N", "seed", offsetof(struct settings, bootstrap.seed),
	  "of the random numbers for estimating errors", .max = LONG_MAX },
};

/* Options of ferry bench itself: they fill in struct given. */
static const struct option_row own_options[] = {
	{ 'A', FLAG_OPTION, "all", NULL, NULL, offsetof(struct given, all),
	  "measure every bench; --json and --against then name directories" },
	{ 'j', TEXT_OPTION, "json", "FILE", NULL, offsetof(struct given, json),
	  "write everything to FILE as JSON; - is standard output" },
	{ 'v', TEXT_OPTION, "csv", "FILE", NULL, offsetof(struct given, csv),
	  "write the main table to FILE as CSV; - is standard output" },
	{ 'a', FILES_OPTION, "against", "FILE", NULL, offsetof(struct given, against),
	  "compare with an earlier run's JSON; BENCH may be omitted; repeat it for several runs" },
	{ 'h', FLAG_OPTION, "help", NULL, NULL, offsetof(struct given, help), "print this text" },
};

static const struct option_rows common_rows = OPTION_ROWS(common_options);
static const struct option_rows own_rows = OPTION_ROWS(own_options);

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; *words; words += strspn(words, " ")) {
		if (!strncmp(words, word, length) && (!words[length] || words[length] == ' '))
			return true;
		words += strcspn(words, " ");
	}
	return false;
}

static const char *values_of(const struct option_row *row)
{
	return row->list_values ? row->list_values() : row->values;
}

static const struct option_row *row_with(const struct option_rows *rows, int letter)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->of[i].letter == letter)
			return &rows->of[i];
	return NULL;
}

/* The row of a setting: one of BENCH, or one that every bench has, or NULL. */
static const struct option_row *setting_with(const struct bench *bench, int letter)
{
	const struct option_row *row = row_with(&bench->options, letter);

	return row ? row : row_with(&common_rows, letter);
}

struct row_list {
	const struct option_row **of;
	size_t count;
};

static void list_more(struct row_list *list, const struct option_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++) {
		list->of = keep_more(list->of, list->count, sizeof(*list->of));
		list->of[list->count++] = &rows->of[i];
	}
}

/* The rows of BENCH, or of all BENCHES for NULL, and those that ferry bench always takes. */
static struct row_list list_rows(const struct bench *const benches[], const struct bench *bench)
{
	struct row_list list = { 0 };

	if (bench)
		list_more(&list, &bench->options);
	for (; !bench && *benches; benches++)
		list_more(&list, &(*benches)->options);
	list_more(&list, &common_rows);
	list_more(&list, &own_rows);
	return list;
}

/* ---- reading ---- */

static int add_name(struct names *names, const char *name, const struct option_row *row)
{
	const char *values = values_of(row);
	size_t i;

	if (!*name)
		return bad_input("bench: --%s has an empty name in its list", row->name);
	for (i = 0; i < names->count; i++) {
		if (strcmp(names->of[i], name) != 0 || row->kind == CALL_OPTION)
			continue;
		return bad_input("bench: --%s names '%s' twice", row->name, name);
	}
	if (names->count == MAX_NAMES)
		return bad_input("bench: --%s takes at most %d names", row->name, MAX_NAMES);
	if (values && !has_word(values, name))
		return bad_input("bench: --%s is '%s'; there are %s (%s)", row->name, name,
				 keep_list(values, " and "), row->help);
	names->of[names->count++] = name;
	return 0;
}

static int parse_number(const char *text, const struct option_row *row, long *number)
{
	if (read_number(text, row->min, row->max, number))
		return 0;
	return bad_input("bench: --%s is '%s': it must be a number from %ld to %ld", row->name,
			 text, row->min, row->max);
}

static int parse_names(char *rest, const struct option_row *row, struct names *names)
{
	names->count = 0;
	while (rest)
		if (add_name(names, strsep(&rest, ","), row))
			return EXIT_USAGE;
	return 0;
}

static int parse_numbers(char *rest, const struct option_row *row, struct sizes *sizes)
{
	struct names names;
	size_t i;

	if (parse_names(rest, row, &names))
		return EXIT_USAGE;
	for (i = 0; i < names.count; i++) {
		long number = 0;

		if (parse_number(names.of[i], row, &number))
			return EXIT_USAGE;
		sizes->of[i] = (double)number;
	}
	sizes->count = names.count;
	sort_values(sizes->of, sizes->count);
	return 0;
}

static int check_directory(const char *path)
{
	if (!access(keep_text("%s/.", path), X_OK))
		return 0;
	return bad_input("bench: %s: not a directory to work on: %s", path, strerror(errno));
}

static int apply(const struct option_row *row, char *text, void *fields)
{
	void *place = (char *)fields + row->offset;

	switch (row->kind) {
	case FLAG_OPTION:
		*(bool *)place = true;
		return 0;
	case NUMBER_OPTION:
		return parse_number(text, row, place);
	case NUMBERS_OPTION:
		return parse_numbers(text, row, place);
	case NAMES_OPTION:
	case CALL_OPTION:
		return parse_names(text, row, place);
	case FILES_OPTION:
		return add_name(place, text, row);
	case TEXT_OPTION:
		*(const char **)place = text;
		return 0;
	case DIR_OPTION:
		*(const char **)place = text;
		return check_directory(text);
	}
	return 0;
}

/* The options in both forms of getopt_long(); a letter has the same name in all benches. */
struct forms {
	struct option *of;
	size_t count;
	char letters[2 * CHAR_MAX + 2];
};

static void add_form(struct forms *forms, const struct option_row *row)
{
	size_t length = strlen(forms->letters);

	forms->of = keep_more(forms->of, forms->count, sizeof(*forms->of));
	forms->of[forms->count++] =
		(struct option){ row->name, row->argument != NULL, NULL, row->letter };
	if (!row->letter || strchr(forms->letters, row->letter))
		return;
	forms->letters[length] = row->letter;
	forms->letters[length + 1] = row->argument ? ':' : '\0';
}

static struct forms list_forms(const struct bench *const benches[])
{
	const struct row_list rows = list_rows(benches, NULL);
	const struct option_row end = { 0 };
	struct forms forms = { .letters = ":" };
	size_t i;

	for (i = 0; i < rows.count; i++)
		add_form(&forms, rows.of[i]);
	add_form(&forms, &end);
	return forms;
}

static const char *name_with(const struct forms *forms, int letter)
{
	size_t i = 0;

	while (forms->of[i].val != letter)
		i++;
	return forms->of[i].name;
}

/* --all goes with no option that only some benches take, nor with --csv. */
static int check_all(const struct given *given)
{
	const char *extra = given->bench;
	size_t i;

	if (!extra && given->csv)
		extra = "--csv";
	for (i = 0; i < given->count && !extra; i++)
		if (!row_with(&common_rows, given->of[i].letter))
			extra = keep_text("--%s", given->of[i].name);
	if (!extra)
		return 0;
	return bad_input("bench: --all measures every bench with its defaults: use it without %s",
			 extra);
}

int options_read(int argc, char *argv[], const struct bench *const benches[], struct given *given)
{
	const struct forms forms = list_forms(benches);
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, forms.letters, forms.of, NULL)) != -1) {
		const struct option_row *own = row_with(&own_rows, letter);

		if (letter == ':')
			return bad_input("bench: %s needs a value; see 'ferry bench --help'",
					 argv[optind - 1]);
		if (letter == '?')
			return bad_input("bench: there is no option '%s'; see 'ferry bench --help'",
					 argv[optind - 1]);
		if (own) {
			if (apply(own, optarg, given))
				return EXIT_USAGE;
			continue;
		}
		given->of = keep_more(given->of, given->count, sizeof(*given->of));
		given->of[given->count++] =
			(struct given_setting){ letter, name_with(&forms, letter), optarg };
	}
	given->bench = optind < argc ? argv[optind] : NULL;
	if (given->all && check_all(given))
		return EXIT_USAGE;
	if (argc - optind > 1)
		return too_many_arguments("bench", argv[optind + 1]);
	return 0;
}

struct settings *options_apply(const struct bench *bench, const struct given *given)
{
	struct settings *settings = keep(1, bench->settings_size);
	size_t i;

	memcpy(settings, bench->defaults, bench->settings_size);
	settings->cpu = -1;
	settings->bootstrap = (struct bootstrap){ .seed = 1, .resamples = 1000 };
	for (i = 0; i < given->count; i++) {
		const struct given_setting *one = &given->of[i];
		const struct option_row *row = setting_with(bench, one->letter);

		if (!row) {
			complain("bench: %s takes no --%s; see 'ferry bench %s --help'",
				 bench->name, one->name, bench->name);
			return NULL;
		}
		if (apply(row, one->text, settings))
			return NULL;
	}
	return bench->check && bench->check(settings) ? NULL : settings;
}

bool is_wanted(const struct names *wanted, const char *name)
{
	size_t i;

	for (i = 0; i < wanted->count; i++)
		if (!strcmp(wanted->of[i], name))
			return true;
	return !wanted->count;
}

char *example_of(const char *directory, const char *name)
{
	char *path = directory ? keep_text("%s/%s", directory, name) : find_example(name);

	if (path && !access(path, X_OK))
		return path;
	complain("bench: there is no example %s %s%s; say where the examples are with --examples "
		 "DIRECTORY",
		 name, directory ? "in " : "beside this program", directory ? directory : "");
	return NULL;
}

/* ---- help, completion and the document ---- */

static void print_row(const struct option_row *row, const char *owners)
{
	const char *who = owners ? keep_text("%s: ", keep_list(owners, ", ")) : "";

	show_entry(keep_text("  -%c, --%s %s", row->letter, row->name,
			     row->argument ? row->argument : ""),
		   25, keep_text("%s%s", who, row->help));
}

static bool alike(const struct option_row *one, const struct option_row *other)
{
	return one && one->letter == other->letter && !strcmp(one->help, other->help);
}

/* "batch apps", which take ROW; or NULL. */
static const char *owners_of(const struct bench *const benches[], const struct option_row *row)
{
	const char *owners = NULL;

	for (; *benches; benches++)
		if (alike(row_with(&(*benches)->options, row->letter), row))
			owners = owners ? keep_text("%s %s", owners, (*benches)->name) :
					  (*benches)->name;
	return owners;
}

/* A row that several benches have is printed once. */
void options_help(const struct bench *const benches[], const struct bench *bench)
{
	const struct row_list rows = list_rows(benches, bench);
	size_t i, k;

	for (i = 0; i < rows.count; i++) {
		for (k = 0; !alike(rows.of[k], rows.of[i]); k++)
			;
		if (k == i)
			print_row(rows.of[i], bench ? NULL : owners_of(benches, rows.of[i]));
	}
}

void options_complete(const struct bench *const benches[], const struct bench *bench)
{
	const struct row_list rows = list_rows(benches, bench);
	size_t i;

	for (i = 0; i < rows.count; i++)
		printf("--%s\t%s\n", rows.of[i]->name, rows.of[i]->help);
}

static const struct option_row *row_named(const struct bench *bench, const char *option)
{
	size_t i;

	for (i = 0; i < bench->options.count; i++)
		if (!strncmp(option, "--", 2) && !strcmp(option + 2, bench->options.of[i].name))
			return &bench->options.of[i];
	return NULL;
}

bool options_complete_values(const struct bench *bench, const char *option, const char *word)
{
	const struct option_row *row = row_named(bench, option);
	const char *comma = strrchr(word, ','), *value = row ? values_of(row) : NULL;
	int kept = comma ? (int)(comma + 1 - word) : 0;
	size_t length;

	if (!value)
		return false;
	for (; *value; value += length + strspn(value + length, " ")) {
		length = strcspn(value, " ");
		printf("%.*s%.*s\n", kept, word, (int)length, value);
	}
	return true;
}

static json_t *setting_as_json(const struct option_row *row, const struct settings *settings)
{
	const void *place = (const char *)settings + row->offset;
	const struct names *names = place;
	const struct sizes *sizes = place;
	json_t *list;
	size_t i;

	switch (row->kind) {
	case NUMBER_OPTION:
		return *(const long *)place < row->min ? json_null() :
							 json_integer(*(const long *)place);
	case NUMBERS_OPTION:
		list = json_array();
		for (i = 0; i < sizes->count; i++)
			json_array_append_new(list, json_integer((json_int_t)sizes->of[i]));
		return list;
	case TEXT_OPTION:
	case DIR_OPTION:
		return json_text(*(const char *const *)place ? *(const char *const *)place : "");
	default:
		return json_texts(names->of, names->count);
	}
}

json_t *settings_as_json(const struct bench *bench, const struct settings *settings)
{
	json_t *json = json_pack("{s:I}", "resamples", (json_int_t)settings->bootstrap.resamples);
	const struct bench *const one[] = { bench, NULL };
	const struct row_list rows = list_rows(one, NULL);
	size_t i;

	for (i = 0; i < rows.count; i++)
		if (rows.of[i]->key)
			json_object_set_new(json, rows.of[i]->key,
					    setting_as_json(rows.of[i], settings));
	return json;
}
