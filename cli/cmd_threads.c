// SPDX-License-Identifier: MIT
/* ferry threads: a threaded program, as it is, on a few carriers. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/own_directory.h"
#include "common/record.h"
#include "unfit.h"

#define MOST_CARRIERS 128
#define MOST_WAITS 1000000
#define NO_RSEQ "glibc.pthread.rseq=0" /* an rseq area belongs to a kernel thread */

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 }; /* exit statuses, as the shell's and env's */

struct arguments {
	long carriers; /* 0: one for each CPU */
	long after;    /* -1: as the library has it */
	bool report;
	char **command;
};

static const struct option options[] = {
	{ "carriers", required_argument, NULL, 'c' },
	{ "after", required_argument, NULL, 'a' },
	{ "report", no_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* A number from LEAST to MOST, or -1 after complaining. */
static long parse_number(const char *text, long least, long most, const char *option)
{
	long number = -1;

	if (!read_number(text, least, most, &number))
		complain("threads: --%s is a number from %ld to %ld, not '%s'", option, least, most,
			 text);
	return number;
}

/* Returns -1 to go on, or the exit status.  The options end at the command. */
static int parse(struct arguments *arguments, int argc, char *argv[])
{
	int option;

	arguments->after = -1;
	while ((option = getopt_long(argc, argv, "+c:a:rh", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			arguments->carriers = parse_number(optarg, 1, MOST_CARRIERS, "carriers");
			if (arguments->carriers < 0)
				return EXIT_USAGE;
			break;
		case 'a':
			arguments->after = parse_number(optarg, 0, MOST_WAITS, "after");
			if (arguments->after < 0)
				return EXIT_USAGE;
			break;
		case 'r':
			arguments->report = true;
			break;
		case 'h':
			fputs(threads_command.help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return bad_input("threads: no command; see 'ferry threads --help'");
	arguments->command = argv + optind;
	return -1;
}

/* The library beside this program, in the build tree or installed; NULL: there is none. */
static char *find_library(void)
{
	static const char *const places[] = {
		"../lib/threads/libferry_threads.so.0",
		"../" FERRY_LIB_DIR "/libferry_threads.so.0",
	};
	char *file;
	size_t i;

	for (i = 0; i < COUNT_OF(places); i++) {
		file = beside(places[i]);
		if (file && !access(file, R_OK))
			return file;
	}
	return NULL;
}

/* Adds VALUE to a list that a variable of the environment holds. */
static void add_to(const char *name, const char *value, const char *separator, bool first)
{
	const char *old = getenv(name);

	if (!old || !*old)
		setenv(name, value, 1);
	else if (!strstr(old, value))
		setenv(name,
		       first ? keep_text("%s%s%s", value, separator, old) :
			       keep_text("%s%s%s", old, separator, value),
		       1);
}

static void prepare(const struct arguments *arguments, const char *library)
{
	add_to("LD_PRELOAD", library, ":", true);
	add_to("GLIBC_TUNABLES", NO_RSEQ, ":", false);
	if (arguments->carriers)
		setenv("FERRY_THREADS_CARRIERS", keep_text("%ld", arguments->carriers), 1);
	if (arguments->after >= 0)
		setenv("FERRY_THREADS_AFTER", keep_text("%ld", arguments->after), 1);
	if (arguments->report)
		setenv("FERRY_THREADS_REPORT", "1", 1);
}

/* Sets *WHY if the program is to run plainly. */
static const char *choose_library(const char *file, const char **why)
{
	const char *library;

	*why = why_unfit_here();
	if (!*why)
		*why = why_unfit(file);
	if (*why)
		return NULL;
	library = find_library();
	if (!library)
		*why = "libferry_threads.so.0 is not installed";
	else if (strpbrk(library, " :"))
		*why = "the path of libferry_threads.so.0 has a blank or a colon";
	return *why ? NULL : library;
}

static int run(int argc, char *argv[])
{
	struct arguments arguments = { 0 };
	const char *file, *library, *why;
	int status;

	status = parse(&arguments, argc, argv);
	if (status >= 0)
		return status;
	file = find_executable(arguments.command[0]);
	if (!file) {
		complain("threads: there is no program '%s'", arguments.command[0]);
		return NOT_FOUND;
	}
	library = choose_library(file, &why);
	if (library)
		prepare(&arguments, library);
	else
		complain("threads: %s runs plainly: %s", arguments.command[0], why);
	fflush(NULL);
	execv(file, arguments.command);
	complain("threads: cannot run %s: %s", file, strerror(errno));
	return NOT_EXECUTABLE;
}

const struct command threads_command = {
	.name = "threads",
	.summary = "run a threaded program on a few kernel threads",
	.help = "Usage: ferry threads [OPTION...] COMMAND [ARGUMENT...]\n"
		"Runs COMMAND, an unchanged program with POSIX threads.  Its threads that wait "
		"often\n"
		"for sockets, pipes and locks share a few kernel threads, the carriers.  A switch\n"
		"between them costs tens of nanoseconds instead of a microsecond or more.  Other\n"
		"threads, and calls that may act differently on a carrier, run as usual.  If "
		"ferry\n"
		"threads cannot carry COMMAND, it says why and runs it plainly.\n\n"
		"  -c, --carriers N   the number of carriers; by default one for each CPU\n"
		"  -a, --after N      carry a thread once it has waited N times; by default 16\n"
		"  -r, --report       when a process ends, print how much was carried\n"
		"  -h, --help         print this help\n\n"
		"Exit status: COMMAND's; 2 for bad options, 126 if COMMAND cannot be run, 127 if "
		"it\n"
		"does not exist.\n"
		"Example: ferry threads --report stunnel4 stunnel.conf\n",
	.run = run,
};
