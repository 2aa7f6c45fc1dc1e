/* SPDX-License-Identifier: MIT */
/* What goes to standard output besides tables (show.h). */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/** Whether DESCRIPTOR is a terminal that can move its cursor. */
bool is_terminal(int descriptor);

/** Prints JSON on standard output, indented, with a newline at the end, and frees it. */
void print_json(json_t *json);

/** What is printed from keep_output() to write_kept() stays here. */
struct kept_output {
	FILE *standard;
	char *text;
	size_t length;
};

void keep_output(struct kept_output *kept);

/** Writes it to the file PATH, at once: 0, or -errno after complaining. */
int write_kept(struct kept_output *kept, const char *path);

/** Flushes standard output; complains and returns -errno when something was lost. */
int finish_output(void);

#endif /* OUTPUT_H */
