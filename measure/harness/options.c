// SPDX-License-Identifier: MIT
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/own_directory.h"
#include "common/show.h"

enum kind {
	NUMBER_OPTION,	/* long */
	NUMBERS_OPTION, /* struct sizes: a list with commas, sorted */
	NAMES_OPTION,	/* struct names: a list with commas */
	CALL_OPTION,	/* the same: the words of a call, which may be equal */
	FILES_OPTION,	/* struct names: may be repeated */
	TEXT_OPTION,	/* const char * */
	DIR_OPTION,	/* the same, of a directory that can be entered */
	OTHER_OPTION,	/* of ferry bench itself */
};

struct choice {
	char letter;
	enum kind kind;
	const char *name, *argument;
	const char *benches; /* that take it, with blanks between them; NULL: all */
	const char *key;     /* in the document's settings, or NULL */
	size_t offset;	     /* in struct settings */
	const char *help;
	long min, max;	    /* of numbers; a default below MIN is null in the document */
	const char *values; /* the names that it accepts, or NULL */
};

#define AT(member) offsetof(struct settings, member)
#define MAX_SIZE (1L << 20)
#define MOST_PER_FAULT 512
#define ENGINES "auto loop uring device syscall"
#define CALLS                                                                                 \
	"unimplemented within jumps forwarded word_copy getppid read pread pread_page write " \
	"fstat lstat statx"

static const struct choice choices[] = {
	{ 't', NUMBER_OPTION, "trials", "N",
	  "crossing batch dispatch chain flexsc servers pagefault", "trials", AT(trials),
	  "trials of every figure", 1, 10000 },
	{ 'w', NUMBER_OPTION, "warmup", "N",
	  "crossing batch dispatch chain apps files flexsc pagefault", "warmup", AT(warmup),
	  "calls, batches, pairs or passes to run untimed first", 0, 1000000000 },
	{ 'n', NUMBER_OPTION, "calls", "N", "crossing dispatch flexsc", "calls", AT(calls),
	  "calls in one trial", 1, 1000000000 },
	{ 'e', NAMES_OPTION, "engine", "E,...", "batch apps", "engines", AT(engines),
	  "the engines; by default all that are available", .values = ENGINES },
	{ 'l', NAMES_OPTION, "beside", "NAME,...", "batch", "beside", AT(beside),
	  "what else to run the batches on, for comparison",
	  .values = "bare-syscall bare-device naive raw nops nops-linked" },
	{ 'c', NAMES_OPTION, "call", "NAME,...", "batch", "calls_made", AT(workloads),
	  "the calls to make; --program times any other", .values = CALLS },
	{ 'c', NAMES_OPTION, "call", "NAME,...", "flexsc", "calls_made", AT(workloads),
	  "the calls to make", .values = "write getpid" },
	{ 'c', CALL_OPTION, "call", "NR,...", "crossing", "calls_made", AT(workloads),
	  "one more call to measure: its number and arguments" },
	{ 'p', FILES_OPTION, "program", "FILE", "batch", "programs", AT(programs),
	  "batches of the program in FILE" },
	{ 'p', FILES_OPTION, "program", "FILE", "apps", "programs", AT(programs),
	  "a program to compare one --app with" },
	{ 'p', FILES_OPTION, "program", "FILE", "files", "programs", AT(programs),
	  "a Python interpreter in place of python3" },
	{ 's', NUMBERS_OPTION, "sizes", "N,...", "batch", "sizes", AT(sizes),
	  "slots of a batch, or copies of a program", 1, MAX_SIZE },
	{ 's', NUMBERS_OPTION, "sizes", "N,...", "pagefault", "sizes", AT(sizes),
	  "pages that a fault maps", 1, MOST_PER_FAULT },
	{ 'b', NUMBER_OPTION, "slots", "N", "batch", "slots", AT(slots),
	  "about so many slots are timed at once", 1, 100000000 },
	{ 'r', NUMBER_OPTION, "pairs", "N", "apps files", "pairs", AT(pairs), "pairs of runs", 1,
	  MAX_INTERVAL_COUNT },
	{ 'q', NUMBER_OPTION, "seconds", "N", "servers", "seconds", AT(seconds),
	  "seconds of load in one trial", 1, 86400 },
	{ 'g', NAMES_OPTION, "app", "NAME,...", "apps", "apps", AT(apps),
	  "the programs; by default all", .values = "total mdu rw pathsearch sigset" },
	{ 'g', NAMES_OPTION, "app", "NAME,...", "servers", "apps", AT(apps),
	  "the servers; by default both", .values = "http cache" },
	{ 'g', NAMES_OPTION, "app", "NAME,...", "files", "apps", AT(apps),
	  "the jobs; by default all", .values = "stat read walk small du cold python" },
	{ 'd', DIR_OPTION, "directory", "DIR", "batch apps chain files", "directory", AT(directory),
	  "the tree to work on; where to make files for the calls" },
	{ 'x', TEXT_OPTION, "examples", "DIR", "apps servers", NULL, AT(examples),
	  "where the example programs are" },
	{ 'f', NUMBERS_OPTION, "threads", "N,...", "flexsc", "threads", AT(threads),
	  "user-level threads", 1, 100000 },
	{ 'o', NUMBER_OPTION, "runners", "N", "flexsc", "runners", AT(runners),
	  "the most runners; by default as many as CPUs", 1, FERRY_FLEXSC_MAX_RUNNERS },
	{ 'k', NUMBERS_OPTION, "work", "NS,...", "flexsc", "work_ns", AT(work),
	  "work between two calls, ns", 0, 1000000 },
	{ 'm', NUMBER_OPTION, "memory", "MIB", "pagefault", "memory_mib", AT(memory),
	  "memory to touch; by default 2048 or less", 4, 1L << 24 },
	{ 'u', NUMBER_OPTION, "cpu", "N", NULL, "cpu", AT(cpu), "the CPU to measure on", 0,
	  CPU_SETSIZE - 1 },
	{ 'i', NUMBER_OPTION, "seed", "N", NULL, "seed", AT(bootstrap.seed),
	  "of the random numbers for estimating errors", 0, LONG_MAX },
	{ 'A', OTHER_OPTION, "all", NULL, NULL, NULL, 0,
	  "measure every bench; --json and --against then name directories" },
	{ 'j', OTHER_OPTION, "json", "FILE", NULL, NULL, 0,
	  "write everything to FILE as JSON; - is standard output" },
	{ 'v', OTHER_OPTION, "csv", "FILE", NULL, NULL, 0,
	  "write the main table to FILE as CSV; - is standard output" },
	{ 'a', OTHER_OPTION, "against", "FILE", NULL, NULL, 0,
	  "compare with an earlier run's JSON; BENCH may be omitted" },
	{ 'h', OTHER_OPTION, "help", NULL, NULL, NULL, 0, "print this text" },
};
#define CHOICES COUNT_OF(choices)

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

/* Whether BENCH takes it; NULL stands for all benches. */
static bool takes(const struct bench *bench, const struct choice *choice)
{
	return !bench || !choice->benches || has_word(choice->benches, bench->name);
}

/* The option of BENCH that has this letter, or NULL. */
static const struct choice *choice_of(const struct bench *bench, int letter)
{
	size_t i;

	for (i = 0; i < CHOICES; i++)
		if (choices[i].letter == letter && takes(bench, &choices[i]))
			return &choices[i];
	return NULL;
}

/* ---- reading ---- */

static int add_name(struct names *names, const char *name, const struct choice *choice)
{
	size_t i;

	if (!*name)
		return bad_input("bench: --%s has an empty name in its list", choice->name);
	for (i = 0; i < names->count; i++) {
		if (strcmp(names->of[i], name) != 0 || choice->kind == CALL_OPTION)
			continue;
		return bad_input("bench: --%s names '%s' twice", choice->name, name);
	}
	if (names->count == MAX_NAMES)
		return bad_input("bench: --%s takes at most %d names", choice->name, MAX_NAMES);
	if (choice->values && !has_word(choice->values, name))
		return bad_input("bench: --%s is '%s'; there are %s (%s)", choice->name, name,
				 keep_list(choice->values, " and "), choice->help);
	names->of[names->count++] = name;
	return 0;
}

/* The same options in the two forms of getopt_long(). */
static void options_of_table(struct option options[], char *letters)
{
	size_t i;

	*letters++ = ':';
	for (i = 0; i < CHOICES; i++) {
		options[i] = (struct option){ choices[i].name, choices[i].argument != NULL, NULL,
					      choices[i].letter };
		*letters++ = choices[i].letter;
		if (choices[i].argument)
			*letters++ = ':';
	}
	options[CHOICES] = (struct option){ 0 };
	*letters = '\0';
}

/* --all goes with no option that only some benches take, nor with --csv. */
static int check_all(const struct given *given)
{
	const char *extra = given->bench;
	size_t i;

	for (i = 0; i < CHOICES && !extra; i++)
		if (given->value[(int)choices[i].letter] &&
		    (choices[i].benches || choices[i].letter == 'v'))
			extra = keep_text("--%s", choices[i].name);
	if (!extra)
		return 0;
	return bad_input("bench: --all measures every bench with its defaults: use it without %s",
			 extra);
}

int options_read(int argc, char *argv[], struct given *given)
{
	struct option options[CHOICES + 1];
	char letters[2 * CHOICES + 2];
	int letter;

	opterr = 0;
	options_of_table(options, letters);
	while ((letter = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (letter == ':')
			return bad_input("bench: %s needs a value; see 'ferry bench --help'",
					 argv[optind - 1]);
		if (letter == '?')
			return bad_input("bench: there is no option '%s'; see 'ferry bench --help'",
					 argv[optind - 1]);
		if (letter == 'h')
			given->help = true;
		else if (letter == 'A')
			given->all = true;
		else if (choice_of(NULL, letter)->kind == FILES_OPTION &&
			 add_name(&given->programs, optarg, choice_of(NULL, letter)))
			return EXIT_USAGE;
		given->value[letter] = optarg;
	}
	given->bench = optind < argc ? argv[optind] : NULL;
	if (given->all && check_all(given))
		return EXIT_USAGE;
	if (argc - optind > 1)
		return too_many_arguments("bench", argv[optind + 1]);
	return 0;
}

/* ---- interpreting ---- */

static int parse_number(const char *text, const struct choice *choice, long *number)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < choice->min || value > choice->max)
		return bad_input("bench: --%s is '%s': it must be a number from %ld to %ld",
				 choice->name, text, choice->min, choice->max);
	*number = value;
	return 0;
}

static int parse_names(char *rest, const struct choice *choice, struct names *names)
{
	names->count = 0;
	while (rest)
		if (add_name(names, strsep(&rest, ","), choice))
			return EXIT_USAGE;
	return 0;
}

static int parse_numbers(char *rest, const struct choice *choice, struct sizes *sizes)
{
	struct names names;
	size_t i;

	if (parse_names(rest, choice, &names))
		return EXIT_USAGE;
	for (i = 0; i < names.count; i++) {
		long number = 0;

		if (parse_number(names.of[i], choice, &number))
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

static int apply(const struct choice *choice, char *text, struct settings *settings)
{
	void *place = (char *)settings + choice->offset;

	switch (choice->kind) {
	case NUMBER_OPTION:
		return parse_number(text, choice, place);
	case NUMBERS_OPTION:
		return parse_numbers(text, choice, place);
	case NAMES_OPTION:
	case CALL_OPTION:
		return parse_names(text, choice, place);
	case TEXT_OPTION:
		*(const char **)place = text;
		return 0;
	case DIR_OPTION:
		*(const char **)place = text;
		return check_directory(text);
	default:
		return 0;
	}
}

static int check_engine(const char *name)
{
	const char *why;

	if (!ferry_engine_probe(ferry_engine_by_name(name), &why))
		return 0;
	return bad_input("bench: the engine %s is not available: %s", name, why);
}

static int check_engines(struct settings *settings, bool named)
{
	size_t i;
	int e;

	settings->engines_named = named;
	for (i = 0; i < settings->engines.count; i++)
		if (check_engine(settings->engines.of[i]))
			return EXIT_USAGE;
	for (e = FERRY_LOOP; e < FERRY_ENGINES && !named; e++)
		if (!ferry_engine_probe(e, NULL))
			settings->engines.of[settings->engines.count++] = ferry_engine_name(e);
	return 0;
}

int options_apply(const struct bench *bench, const struct given *given, struct settings *settings)
{
	size_t letter;

	*settings = bench->defaults;
	settings->cpu = -1;
	settings->bootstrap = (struct bootstrap){ .seed = 1, .resamples = 1000 };
	for (letter = 0; letter < COUNT_OF(given->value); letter++) {
		const struct choice *choice = choice_of(bench, (int)letter);

		if (given->value[letter] && !choice)
			return bad_input("bench: %s takes no --%s; see 'ferry bench %s --help'",
					 bench->name, choice_of(NULL, (int)letter)->name,
					 bench->name);
		if (given->value[letter] && apply(choice, given->value[letter], settings))
			return EXIT_USAGE;
	}
	settings->programs = given->programs;
	if (choice_of(bench, 'e') && check_engines(settings, given->value['e'] != NULL))
		return EXIT_USAGE;
	if (settings->programs.count && !given->value['c'])
		settings->workloads.count = 0;
	return bench->check ? bench->check(settings) : 0;
}

bool is_wanted(const struct settings *settings, const char *name)
{
	size_t i;

	for (i = 0; i < settings->apps.count; i++)
		if (!strcmp(settings->apps.of[i], name))
			return true;
	return !settings->apps.count;
}

char *example_of(const struct settings *settings, const char *name)
{
	char *path = settings->examples ? keep_text("%s/%s", settings->examples, name) :
					  find_example(name);

	if (path && !access(path, X_OK))
		return path;
	complain("bench: there is no example %s %s%s; say where the examples are with --examples "
		 "DIRECTORY",
		 name, settings->examples ? "in " : "beside this program",
		 settings->examples ? settings->examples : "");
	return NULL;
}

/* ---- help, completion and the document ---- */

/* "batch, apps: the engines": without a bench the help says which of them take an option. */
static void print_choice(const struct choice *choice, bool whose)
{
	const char *who =
		whose && choice->benches ? keep_text("%s: ", keep_list(choice->benches, ", ")) : "";

	show_entry(keep_text("  -%c, --%s %s", choice->letter, choice->name,
			     choice->argument ? choice->argument : ""),
		   25, keep_text("%s%s", who, choice->help));
}

void options_help(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < CHOICES; i++)
		if (takes(bench, &choices[i]))
			print_choice(&choices[i], !bench);
}

void options_complete(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < CHOICES; i++)
		if (takes(bench, &choices[i]))
			printf("--%s\t%s\n", choices[i].name, choices[i].help);
}

bool options_complete_values(const struct bench *bench, const char *option, const char *word)
{
	const char *comma = strrchr(word, ','), *value;
	int kept = comma ? (int)(comma + 1 - word) : 0;
	size_t i, length;

	for (i = 0; i < CHOICES; i++) {
		if (!takes(bench, &choices[i]) || !choices[i].values ||
		    strncmp(option, "--", 2) != 0 || strcmp(option + 2, choices[i].name) != 0)
			continue;
		for (value = choices[i].values; *value;
		     value += length + strspn(value + length, " ")) {
			length = strcspn(value, " ");
			printf("%.*s%.*s\n", kept, word, (int)length, value);
		}
		return true;
	}
	return false;
}

static json_t *setting_as_json(const struct choice *choice, const struct settings *settings)
{
	const void *place = (const char *)settings + choice->offset;
	const struct names *names = place;
	const struct sizes *sizes = place;
	json_t *list;
	size_t i;

	switch (choice->kind) {
	case NUMBER_OPTION:
		return *(const long *)place < choice->min ? json_null() :
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
	size_t i;

	for (i = 0; i < CHOICES; i++)
		if (choices[i].key && takes(bench, &choices[i]))
			json_object_set_new(json, choices[i].key,
					    setting_as_json(&choices[i], settings));
	return json;
}
