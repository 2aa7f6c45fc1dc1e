/* SPDX-License-Identifier: MIT */
/* A batch program in a file. */
#ifndef PROGRAM_FILE_H
#define PROGRAM_FILE_H

#include "lib/text/text.h"

/**
 * The program in PATH ("-" is standard input), which the caller frees with image_free(), or
 * NULL after complaining about every mistake.
 */
struct image *read_program(const char *path);

/** read_program() and image_load(); an image that could not be loaded is freed. */
struct image *load_program(const char *path, struct loaded *loaded);

#endif /* PROGRAM_FILE_H */
