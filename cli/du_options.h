/* SPDX-License-Identifier: MIT */
/* The command line of ferry du. */
#ifndef DU_OPTIONS_H
#define DU_OPTIONS_H

#include "du_count.h"
#include "du_unit.h"

struct du {
	struct du_options count;
	struct du_unit unit;
	du_bytes at_least, at_most; /* list what has as many bytes or inodes */
	const char *time_format;
	const char *files_from; /* NULL: the arguments are on the command line */
	bool total, by_size, json;
	char end_of_line;
};

/** Parses the options, of which --help prints HELP: -1 to go on with the words at optind, or the
 * exit status. */
int du_parse(struct du *du, const char *help, int argc, char *argv[]);

#endif /* DU_OPTIONS_H */
