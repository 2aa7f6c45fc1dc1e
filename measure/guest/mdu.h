/* SPDX-License-Identifier: MIT */
/* The example mdu within another program, its batches run by io_uring or not. */
#ifndef MDU_H
#define MDU_H

#include <stdbool.h>

/** The example's main(). */
int mdu_main(int argc, char *argv[]);

/** Whether its calls of statx go through io_uring; otherwise the engine in use runs them. */
extern bool batches_by_uring;

#endif /* MDU_H */
