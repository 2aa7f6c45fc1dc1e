// SPDX-License-Identifier: MIT
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <ferry_flexsc.h>

#include "cli/report.h"

/* Those that every bench takes. */
#define COMMON "uijvah"

static const struct option long_options[] = {
	{ "trials", required_argument, NULL, 't' },   { "warmup", required_argument, NULL, 'w' },
	{ "calls", required_argument, NULL, 'n' },    { "engine", required_argument, NULL, 'e' },
	{ "call", required_argument, NULL, 'c' },     { "program", required_argument, NULL, 'p' },
	{ "sizes", required_argument, NULL, 's' },    { "slots", required_argument, NULL, 'b' },
	{ "pairs", required_argument, NULL, 'r' },    { "directory", required_argument, NULL, 'd' },
	{ "threads", required_argument, NULL, 'f' },  { "runners", required_argument, NULL, 'o' },
	{ "work", required_argument, NULL, 'k' },     { "memory", required_argument, NULL, 'm' },
	{ "examples", required_argument, NULL, 'x' }, { "cpu", required_argument, NULL, 'u' },
	{ "seed", required_argument, NULL, 'i' },     { "json", required_argument, NULL, 'j' },
	{ "csv", required_argument, NULL, 'v' },      { "against", required_argument, NULL, 'a' },
	{ "help", no_argument, NULL, 'h' },	      { 0 },
};

static const char *long_name(int letter)
{
	const struct option *option = long_options;

	while (option->val != letter)
		option++;
	return option->name;
}

static int add_name(struct names *names, const char *name, int letter)
{
	size_t i;

	if (!*name) {
		complain("bench: --%s has an empty name in its list", long_name(letter));
		return EXIT_USAGE;
	}
	for (i = 0; i < names->count; i++) {
		if (strcmp(names->of[i], name) != 0)
			continue;
		complain("bench: --%s names '%s' twice", long_name(letter), name);
		return EXIT_USAGE;
	}
	if (names->count == MAX_NAMES) {
		complain("bench: --%s takes at most %d names", long_name(letter), MAX_NAMES);
		return EXIT_USAGE;
	}
	names->of[names->count++] = name;
	return 0;
}

int options_read(int argc, char *argv[], const char *help, struct given *given)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "t:w:n:e:c:p:s:b:r:d:f:o:k:m:x:u:i:j:v:a:h",
				     long_options, NULL)) != -1) {
		if (letter == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (letter == '?')
			return EXIT_USAGE;
		if (letter == 'p' && add_name(&given->programs, optarg, letter))
			return EXIT_USAGE;
		given->value[letter] = optarg;
	}
	given->bench = optind < argc ? argv[optind] : NULL;
	if (argc - optind > 1)
		return too_many_arguments(&bench_command, argv[optind + 1]);
	return -1;
}

static int parse_number(const char *text, int letter, long min, long max, long *number)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < min || value > max) {
		complain("bench: --%s is '%s': it must be a number from %ld to %ld",
			 long_name(letter), text, min, max);
		return EXIT_USAGE;
	}
	*number = value;
	return 0;
}

/* Leaves *NUMBER alone when the option was not given. */
static int number(const struct given *given, int letter, long min, long max, long *number)
{
	const char *text = given->value[letter];

	return text ? parse_number(text, letter, min, max, number) : 0;
}

/* The words of a list with commas, in place of what NAMES had. */
static int list(const struct given *given, int letter, struct names *names)
{
	char *rest = given->value[letter];

	if (rest)
		names->count = 0;
	while (rest)
		if (add_name(names, strsep(&rest, ","), letter))
			return EXIT_USAGE;
	return 0;
}

#define MAX_SIZE (1L << 20)

/* Numbers of a list with commas, sorted, in place of what NUMBERS had. */
static int numbers(const struct given *given, int letter, long min, long max, double numbers[],
		   size_t *count)
{
	struct names names = { 0 };
	size_t i;

	if (!given->value[letter])
		return 0;
	if (list(given, letter, &names))
		return EXIT_USAGE;
	for (i = 0; i < names.count; i++) {
		long number = 0;

		if (parse_number(names.of[i], letter, min, max, &number))
			return EXIT_USAGE;
		numbers[i] = (double)number;
	}
	*count = names.count;
	sort_values(numbers, *count);
	return 0;
}

static int engine(const char *name)
{
	const char *why;
	int engine = parse_engine(name);

	if (engine < 0)
		return EXIT_USAGE;
	if (!ferry_engine_probe(engine, &why))
		return 0;
	complain("bench: the engine %s is not to be had: %s", name, why);
	return EXIT_USAGE;
}

static int engines(const struct given *given, struct settings *settings)
{
	size_t i;
	int e;

	settings->engines_named = given->value['e'] != NULL;
	if (list(given, 'e', &settings->engines))
		return EXIT_USAGE;
	for (i = 0; i < settings->engines.count; i++)
		if (engine(settings->engines.of[i]))
			return EXIT_USAGE;
	for (e = FERRY_LOOP; e < FERRY_ENGINES && !settings->engines_named; e++)
		if (!ferry_engine_probe(e, NULL))
			settings->engines.of[settings->engines.count++] = ferry_engine_name(e);
	return 0;
}

static int only_known(const struct bench *bench, const struct given *given)
{
	int letter;

	for (letter = 'a'; letter <= 'z'; letter++) {
		if (!given->value[letter] || strchr(COMMON, letter) ||
		    strchr(bench->options, letter))
			continue;
		complain("bench: %s takes no --%s; 'ferry bench --help' tells what it takes",
			 bench->name, long_name(letter));
		return EXIT_USAGE;
	}
	return 0;
}

int options_apply(const struct bench *bench, const struct given *given, struct settings *settings)
{
	long cpu = -1, seed = 1;

	*settings = bench->defaults;
	settings->programs = given->programs;
	if (given->value['d'])
		settings->directory = given->value['d'];
	settings->examples = given->value['x'];
	if (only_known(bench, given) || number(given, 't', 1, 10000, &settings->trials) ||
	    number(given, 'w', 0, 1000000000, &settings->warmup) ||
	    number(given, 'n', 1, 1000000000, &settings->calls) ||
	    number(given, 'b', 1, 100000000, &settings->slots) ||
	    number(given, 'r', 1, MAX_INTERVAL_COUNT, &settings->pairs) ||
	    number(given, 'u', 0, CPU_SETSIZE - 1, &cpu) ||
	    number(given, 'i', 0, LONG_MAX, &seed) ||
	    numbers(given, 's', 1, MAX_SIZE, settings->sizes, &settings->size_count) ||
	    numbers(given, 'k', 0, 1000000, settings->work, &settings->work_count) ||
	    numbers(given, 'f', 1, 100000, settings->threads, &settings->thread_count) ||
	    number(given, 'o', 1, FERRY_FLEXSC_MAX_RUNNERS, &settings->runners) ||
	    number(given, 'm', 16, 1L << 24, &settings->memory) || engines(given, settings) ||
	    list(given, 'c', &settings->workloads))
		return EXIT_USAGE;
	if (!settings->workloads.count && !settings->programs.count)
		add_name(&settings->workloads, "unimplemented", 'c');
	settings->cpu = (int)cpu;
	settings->bootstrap = (struct bootstrap){ .seed = (uint64_t)seed, .resamples = 1000 };
	return bench->check ? bench->check(settings) : 0;
}
