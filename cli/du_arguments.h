/* SPDX-License-Identifier: MIT */
/* The files that ferry du is about: of the command line, or of --files0-from. */
#ifndef DU_ARGUMENTS_H
#define DU_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct du_arguments {
	char **paths;
	size_t count;
	bool is_known; /* they are the command line's: one alone is known to be alone */
	bool complete; /* false: complained about some, which are left out */
};

/** The COUNT words of the command line, which have to stay; none: the working directory. */
struct du_arguments du_arguments_of(char *words[], size_t count);

/**
 * The names in the file PATH, each with a NUL after it; "-" is standard input.  Returns false after
 * complaining if the file cannot be opened.
 */
bool du_arguments_from(struct du_arguments *arguments, const char *path);

#endif /* DU_ARGUMENTS_H */
