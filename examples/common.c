// SPDX-License-Identifier: MIT
/* Shared by all examples: options, numbers, checking the engine, flushing the output. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

_Noreturn void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
	fprintf(stderr, "Try '%s --help'.\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

int next_option(int argc, char *argv[], const char *letters, const char *help)
{
	static const struct option words[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	int letter = getopt_long(argc, argv, letters, words, NULL);

	if (letter == 'h') {
		fputs(help, stdout);
		exit(finish(EXIT_SUCCESS));
	}
	if (letter == '?') {
		fprintf(stderr, "Try '%s --help'.\n", program_invocation_short_name);
		exit(EXIT_USAGE);
	}
	return letter;
}

long parse_number(const char *what, const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < min || value > max)
		usage_error("%s is '%s': it must be a number from %ld to %ld", what, text, min,
			    max);
	return value;
}

/* A closed descriptor is opened in the wrong direction, so using it fails with EBADF. */
static void take_standard_descriptors(void)
{
	static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
			exit(EXIT_FAILURE);
}

static _Noreturn void bad_engine(int error)
{
	const char *name = getenv("FERRY_ENGINE");
	int engine = name ? ferry_engine_by_name(name) : error;
	const char *why = strerror(-error);

	if (engine < 0)
		errx(EXIT_USAGE, "FERRY_ENGINE is '%s': it must be auto, loop, device or syscall",
		     name ? name : "");
	ferry_engine_probe(engine, &why);
	errx(EXIT_USAGE, "FERRY_ENGINE is '%s', which cannot run here: %s", name, why);
}

void begin(void)
{
	int engine;

	take_standard_descriptors();
	engine = ferry_engine_in_use();
	if (engine < 0)
		bad_engine(engine);
}

unsigned long run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	long last = ferry_batch(rets, calls, ncall, 0, 0);

	if (last < 0)
		errx(EXIT_FAILURE, "the batch could not run: %s", strerror((int)-last));
	return (unsigned long)last;
}

int finish(int status)
{
	/* The stream remembers that an earlier write failed, but not its errno. */
	if (ferror(stdout))
		errx(EXIT_FAILURE, "cannot write to standard output");
	if (fclose(stdout))
		err(EXIT_FAILURE, "cannot write to standard output");
	return status;
}
