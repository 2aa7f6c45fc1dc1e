/* SPDX-License-Identifier: MIT */
/* A subcommand of ferry: one per file, cmd_*.c. */
#ifndef COMMAND_H
#define COMMAND_H

/* Exit statuses, the same for every subcommand. */
enum {
	EXIT_OK = 0,
	EXIT_FOUND = 1, /* it ran, and the answer is no: check found errors, run could not start */
	EXIT_USAGE = 2, /* bad options or bad input */
};

struct command {
	const char *name;
	const char *summary;
	const char *help; /* printed by --help */
	int (*run)(int argc, char *argv[]);
};

extern const struct command probe_command;
extern const struct command run_command;
extern const struct command check_command;
extern const struct command bench_command;
extern const struct command report_command;

#endif /* COMMAND_H */
