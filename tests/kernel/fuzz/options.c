// SPDX-License-Identifier: MIT
/* The options of the command line, and the lines of a corpus. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

static const char usage_text[] =
	"usage: fuzz [options]\n"
	"Runs random programs of system calls, keeps those that reach new places in the kernel,\n"
	"and compares each with what calls one by one do.  A kernel without KCOV records nothing:\n"
	"there, it only runs and compares the programs that are named.\n"
	"  --corpus FILE   first runs the programs that its lines name\n"
	"  --run LINE      and this one\n"
	"  --seconds S     then makes new ones for so long (0)\n"
	"  --seed S        which (random, and printed)\n"
	"  --only SUBJECT  batches, arguments, sets, pages or storms; all take turns otherwise\n"
	"  --keep FILE     writes the lines there that together reach all places; - prints them\n"
	"  --reached FILE  writes the addresses of the places there\n";

static void add_line(const char *text, const char *file, unsigned int number)
{
	struct line line;
	const char *lacks = line_parse(&line, text);

	if (!lacks && shared->count == MOST_LINES)
		lacks = "there are too many lines";
	if (lacks) {
		fprintf(stderr, "fuzz: %s:%u: '%s': %s\n", file, number, text, lacks);
		exit(2);
	}
	shared->entries[shared->count++] = (struct entry){ .line = line };
}

static void read_corpus(const char *path)
{
	char text[LINE_SIZE];
	unsigned int number = 0;
	FILE *file = fopen(path, "re");

	while (file && fgets(text, sizeof(text), file)) {
		number++;
		text[strcspn(text, "\n")] = '\0';
		if (*text && *text != '#')
			add_line(text, path, number);
	}
	if (!file || ferror(file))
		fail_on(path);
	fclose(file);
}

static const struct subject *subject_named(const char *name)
{
	unsigned int i;

	for (i = 0; subjects[i]; i++)
		if (!strcmp(subjects[i]->name, name))
			return subjects[i];
	fprintf(stderr, "fuzz: --only '%s': a subject is wanted, see --help\n", name);
	exit(2);
}

static uint64_t number(const char *what, const char *text, uint64_t most)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!errno && !*end && *text >= '0' && *text <= '9' && value <= most)
		return value;
	fprintf(stderr, "fuzz: %s '%s': a number up to %" PRIu64 " is wanted\n", what, text, most);
	exit(2);
}

void parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "corpus", required_argument, NULL, 'c' },
		{ "run", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "only", required_argument, NULL, 'o' },
		{ "keep", required_argument, NULL, 'k' },
		{ "reached", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'c':
			read_corpus(optarg);
			break;
		case 'r':
			add_line(optarg, "--run", 1);
			break;
		case 't':
			options->seconds = (double)number("--seconds", optarg, 1000000);
			break;
		case 's':
			options->seed = number("--seed", optarg, UINT64_MAX);
			break;
		case 'o':
			options->only = subject_named(optarg);
			break;
		case 'k':
			options->keep = optarg;
			break;
		case 'p':
			options->reached = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind == argc)
		return;
	fputs(usage_text, stderr);
	exit(2);
}
