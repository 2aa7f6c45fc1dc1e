/* SPDX-License-Identifier: MIT */
/* Whole files in, whole files out: nothing is left half written. */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>

/**
 * Writes LENGTH bytes to the file PATH, or to standard output for NULL or "-".  A regular
 * file is replaced at once or not at all.  Returns 0, or -errno after complaining.
 */
int write_file(const char *path, const void *bytes, size_t length);

/** The same for a file that nobody asked for: without a complaint. */
int try_to_write_file(const char *path, const void *bytes, size_t length);

/** Whether write_file() could begin with PATH now: 0, or -errno after complaining. */
int check_writable(const char *path);

/** How messages name the file PATH that is read: "standard input" for "-". */
const char *display_name(const char *path);

/**
 * Reads all of the file PATH, or of standard input for "-": 0 and *LENGTH bytes, which the
 * caller frees, or -errno after complaining.
 */
int read_file(const char *path, void **bytes, size_t *length);

/**
 * What follows START on the first line of a file of /proc or /sys that begins with it, without the
 * end of the line; kept, and "" when there is none.
 */
char *line_after(const char *path, const char *start);

/** The first line of such a file, or NULL when there is none. */
char *first_line(const char *path);

#endif /* FILE_H */
