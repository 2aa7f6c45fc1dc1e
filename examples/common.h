/* SPDX-License-Identifier: MIT */
/* Shared by all examples: options, numbers, checking the engine, flushing the output. */
#ifndef COMMON_H
#define COMMON_H

#include <ferry.h>

#define EXIT_USAGE 2 /* the command line or the environment is wrong; nothing was done */

/**
 * The next option among LETTERS, as getopt(3) spells them, or -1 after the last.
 * --help prints HELP and exits; an unknown option exits with EXIT_USAGE.
 */
int next_option(int argc, char *argv[], const char *letters, const char *help);

/** Prints "PROGRAM: MESSAGE" and a hint at --help, and exits with EXIT_USAGE. */
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Parses TEXT, the value of option WHAT; anything but MIN to MAX is a usage error. */
long parse_number(const char *what, const char *text, long min, long max);

/**
 * Call this after parsing options.  It makes sure that descriptors 0 to 2 are open, so that
 * no file of ours gets one of these numbers, and that the engine is available.
 */
void begin(void);

/** ferry_batch() that exits with a message if the batch could not run. */
unsigned long run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall);

/** Flushes standard output.  Returns STATUS, or EXIT_FAILURE after a message if that fails. */
int finish(int status);

#endif /* COMMON_H */
