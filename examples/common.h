/* SPDX-License-Identifier: MIT */
/* What every example does alike: options, numbers, the engine's check, a checked end. */
#ifndef COMMON_H
#define COMMON_H

#include <ferry.h>

#define EXIT_USAGE 2 /* the command line or the environment is wrong; nothing was done */

/**
 * The next option among LETTERS, as getopt(3) spells them, or -1 after the last.
 * --help prints HELP and exits; an option that is not there exits with EXIT_USAGE.
 */
int next_option(int argc, char *argv[], const char *letters, const char *help);

/** Exits with EXIT_USAGE after "PROGRAM: MESSAGE" and where help is. */
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The number that TEXT spells, MIN to MAX, for the option called WHAT; else a usage error. */
long parse_number(const char *what, const char *text, long min, long max);

/**
 * To be called once the options are known: makes sure that descriptors 0 to 2 are taken,
 * so that no file of ours is mistaken for one of them, and that the engine is there.
 */
void begin(void);

/** ferry_batch() that exits with a message where the batch could not run. */
unsigned long run_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall);

/** Flushes standard output: STATUS, or EXIT_FAILURE with a message when that fails. */
int finish(int status);

#endif /* COMMON_H */
