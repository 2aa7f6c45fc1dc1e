// SPDX-License-Identifier: MIT
#include "du_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/messages.h"
#include "du_messages.h"
#include "du_time.h"

enum {
	APPARENT_SIZE = 'A',
	EXCLUDE = UCHAR_MAX + 1,
	FILES0_FROM,
	INODES,
	SI,
	SORT,
	TIME,
	TIME_STYLE,
	HELP,
	VERSION,
};

static const char short_options[] = "0AB:DHLPSX:abcd:hjklmst:x";

static const struct option long_options[] = {
	{ "null", no_argument, NULL, '0' },
	{ "apparent-size", no_argument, NULL, APPARENT_SIZE },
	{ "block-size", required_argument, NULL, 'B' },
	{ "dereference-args", no_argument, NULL, 'D' },
	{ "dereference", no_argument, NULL, 'L' },
	{ "no-dereference", no_argument, NULL, 'P' },
	{ "separate-dirs", no_argument, NULL, 'S' },
	{ "exclude-from", required_argument, NULL, 'X' },
	{ "all", no_argument, NULL, 'a' },
	{ "bytes", no_argument, NULL, 'b' },
	{ "total", no_argument, NULL, 'c' },
	{ "max-depth", required_argument, NULL, 'd' },
	{ "human-readable", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "count-links", no_argument, NULL, 'l' },
	{ "summarize", no_argument, NULL, 's' },
	{ "threshold", required_argument, NULL, 't' },
	{ "one-file-system", no_argument, NULL, 'x' },
	{ "exclude", required_argument, NULL, EXCLUDE },
	{ "files0-from", required_argument, NULL, FILES0_FROM },
	{ "inodes", no_argument, NULL, INODES },
	{ "si", no_argument, NULL, SI },
	{ "sort", required_argument, NULL, SORT },
	{ "time", optional_argument, NULL, TIME },
	{ "time-style", required_argument, NULL, TIME_STYLE },
	{ "help", no_argument, NULL, HELP },
	{ "version", no_argument, NULL, VERSION },
	{ 0 },
};

#define ENDLESS (~(du_bytes)0)

/* What has to be known of all options before it is decided. */
struct parsing {
	struct du *du;
	bool summarize, has_depth, is_apparent, is_bad;
	const char *time_style;
};

static const struct du_unit kibibytes = { .block = 1024 };
static const struct du_unit mebibytes = { .block = 1 << 20 };
static const struct du_unit bytes = { .block = 1 };
static const struct du_unit human = { .block = 1, .scale = 1024 };
static const struct du_unit si = { .block = 1, .scale = 1000 };

/* ---- values ---- */

/* Options with values that are refused end the program at once, as GNU du. */
static _Noreturn void refuse(enum du_number why, const char *option, const char *text)
{
	du_refuse_number(why, option, text);
	exit(EXIT_FOUND);
}

static void parse_unit(struct parsing *parsing, bool is_long)
{
	enum du_number parsed = du_parse_unit(optarg, &parsing->du->unit);

	if (parsed != DU_NUMBER)
		refuse(parsed, is_long ? "--block-size" : "-B", optarg);
}

static void parse_depth(struct parsing *parsing)
{
	unsigned long depth;
	char *end;

	errno = 0;
	depth = strtoul(optarg, &end, 0);
	if (*optarg < '0' || *optarg > '9' || *end || errno) {
		du_complain("invalid maximum depth %s", du_quoted(optarg));
		parsing->is_bad = true;
		return;
	}
	parsing->du->count.max_depth = depth < UINT_MAX ? (unsigned int)depth : UINT_MAX;
	parsing->has_depth = true;
}

static void parse_threshold(struct du *du, bool is_long)
{
	const bool negative = *optarg == '-';
	const char *digits = optarg + (negative || *optarg == '+');
	uint64_t size;
	enum du_number parsed = du_parse_number(digits, &size);

	if (parsed == DU_NUMBER && size > INT64_MAX)
		parsed = DU_TOO_LARGE;
	if (parsed != DU_NUMBER)
		refuse(parsed, is_long ? "--threshold" : "-t", optarg);
	if (negative && !size)
		refuse(DU_NO_NUMBER, "--threshold", "-0");
	du->at_least = negative ? 0 : size;
	du->at_most = negative ? size : ENDLESS;
}

struct word {
	const char *text;
	int value;
};

/* Complains about optarg, which is none or several of WORDS; equal values are on one line. */
static _Noreturn void refuse_word(const struct word words[], const char *option, const char *why)
{
	const struct word *word;

	du_complain("%s argument %s for '%s'", why, du_quoted(optarg), option);
	fputs("Valid arguments are:", stderr);
	for (word = words; word->text; word++)
		fprintf(stderr, "%s'%s'",
			word > words && word[-1].value == word->value ? ", " : "\n  - ",
			word->text);
	fputc('\n', stderr);
	exit(du_see_help());
}

/* The value of the word that optarg is or begins. */
static int parse_word(const struct word words[], const char *option)
{
	const struct word *word, *found = NULL;

	for (word = words; word->text; word++) {
		if (strncmp(word->text, optarg, strlen(optarg)) != 0)
			continue;
		if (found && found->value != word->value)
			refuse_word(words, option, "ambiguous");
		found = word;
	}
	if (!found)
		refuse_word(words, option, "invalid");
	return found->value;
}

static enum du_time_kind parse_time(void)
{
	static const struct word words[] = {
		{ "atime", DU_ACCESS },
		{ "access", DU_ACCESS },
		{ "use", DU_ACCESS },
		{ "ctime", DU_CHANGE_OF_STATUS },
		{ "status", DU_CHANGE_OF_STATUS },
		{ 0 },
	};

	return optarg ? (enum du_time_kind)parse_word(words, "--time") : DU_CHANGE_OF_CONTENTS;
}

static bool parse_sort(void)
{
	static const struct word words[] = { { "name", false }, { "size", true }, { 0 } };

	return parse_word(words, "--sort");
}

/* Of the environment.  Words that ls knows, too, are taken as GNU du does. */
static const char *default_time_style(void)
{
	static const char posix[] = "posix-";
	char *style = getenv("TIME_STYLE");

	if (!style || !strcmp(style, "locale"))
		return "long-iso";
	if (*style == '+')
		return keep_text("%.*s", (int)strcspn(style, "\n"), style);
	while (!strncmp(style, posix, sizeof(posix) - 1))
		style += sizeof(posix) - 1;
	return style;
}

static void choose_time_format(struct parsing *parsing)
{
	const char *style = parsing->time_style ? parsing->time_style : default_time_style();

	parsing->du->time_format = du_time_format(style);
	if (parsing->du->time_format)
		return;
	du_complain("invalid argument %s for 'time style'", du_quoted(style));
	fputs("Valid arguments are:\n  - 'full-iso'\n  - 'long-iso'\n  - 'iso'\n", stderr);
	exit(du_see_help());
}

/* ---- options ---- */

static void print_version(void)
{
	printf("du (ferry) %s\n", FERRY_PROJECT_VERSION);
}

static void take_size(struct parsing *parsing, const struct du_unit *unit)
{
	parsing->du->unit = *unit;
}

/* Options about sizes; returns false for one that is none. */
static bool take_size_option(struct parsing *parsing, int option, bool is_long)
{
	switch (option) {
	case 'B':
		parse_unit(parsing, is_long);
		return true;
	case 'b':
		parsing->is_apparent = true;
		take_size(parsing, &bytes);
		return true;
	case 'h':
		take_size(parsing, &human);
		return true;
	case 'k':
		take_size(parsing, &kibibytes);
		return true;
	case 'm':
		take_size(parsing, &mebibytes);
		return true;
	case SI:
		take_size(parsing, &si);
		return true;
	case APPARENT_SIZE:
		parsing->is_apparent = true;
		return true;
	case INODES:
		parsing->du->count.counted = DU_INODES;
		return true;
	default:
		return false;
	}
}

/* Options about which files count. */
static bool take_file_option(struct parsing *parsing, int option)
{
	struct du_options *count = &parsing->du->count;

	switch (option) {
	case 'D':
	case 'H':
		count->follow = DU_FOLLOW_ARGUMENTS;
		return true;
	case 'L':
		count->follow = DU_FOLLOW_ALL;
		return true;
	case 'P':
		count->follow = DU_FOLLOW_NOTHING;
		return true;
	case 'X':
		parsing->is_bad |= !du_add_patterns_from(&count->exclude, optarg);
		return true;
	case 'l':
		count->count_links = true;
		return true;
	case 'x':
		count->one_file_system = true;
		return true;
	case EXCLUDE:
		du_add_pattern(&count->exclude, optarg);
		return true;
	case FILES0_FROM:
		parsing->du->files_from = optarg;
		return true;
	default:
		return false;
	}
}

/* Options about which lines there are, and how they look. */
static bool take_line_option(struct parsing *parsing, int option, bool is_long)
{
	struct du *du = parsing->du;

	switch (option) {
	case '0':
		du->end_of_line = '\0';
		return true;
	case 'S':
		du->count.separate = true;
		return true;
	case 'a':
		du->count.all = true;
		return true;
	case 'c':
		du->total = true;
		return true;
	case 'd':
		parse_depth(parsing);
		return true;
	case 'j':
		du->json = true;
		return true;
	case 's':
		parsing->summarize = true;
		return true;
	case 't':
		parse_threshold(du, is_long);
		return true;
	case SORT:
		du->by_size = parse_sort();
		return true;
	case TIME:
		du->count.time = parse_time();
		return true;
	case TIME_STYLE:
		parsing->time_style = optarg;
		return true;
	default:
		return false;
	}
}

static bool check_summary(struct parsing *parsing)
{
	struct du_options *count = &parsing->du->count;

	if (!parsing->summarize)
		return true;
	if (count->all) {
		du_complain("cannot both summarize and show all entries");
		return false;
	}
	if (parsing->has_depth && count->max_depth) {
		du_complain("warning: summarizing conflicts with --max-depth=%u", count->max_depth);
		return false;
	}
	if (parsing->has_depth)
		du_complain("warning: summarizing is the same as using --max-depth=0");
	count->max_depth = 0;
	return true;
}

static void choose_sizes(struct parsing *parsing)
{
	struct du *du = parsing->du;

	if (du->count.counted == DU_INODES) {
		if (parsing->is_apparent)
			du_complain("warning: options --apparent-size and -b are ineffective with "
				    "--inodes");
		du->unit.block = 1;
		snprintf(du->unit.suffix, sizeof(du->unit.suffix), "%s",
			 strchr(du->unit.suffix, 'B') ? "B" : "");
	} else if (parsing->is_apparent) {
		du->count.counted = DU_SIZES;
	}
}

int du_parse(struct du *du, const char *help, int argc, char *argv[])
{
	struct parsing parsing = { .du = du };
	int option, index = -1;

	*du = (struct du){ .unit = du_default_unit(), .at_most = ENDLESS, .end_of_line = '\n' };
	du->count.max_depth = UINT_MAX;
	while ((option = getopt_long(argc, argv, short_options, long_options, &index)) != -1) {
		if (option == HELP) {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == VERSION) {
			print_version();
			return EXIT_OK;
		}
		if (!take_size_option(&parsing, option, index >= 0) &&
		    !take_file_option(&parsing, option) &&
		    !take_line_option(&parsing, option, index >= 0))
			parsing.is_bad = true;
		index = -1;
	}
	if (parsing.is_bad || !check_summary(&parsing))
		return du_see_help();
	choose_sizes(&parsing);
	if (du->count.time)
		choose_time_format(&parsing);
	return -1;
}
