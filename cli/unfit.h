/* SPDX-License-Identifier: MIT */
/* Programs whose threads cannot be carried. */
#ifndef UNFIT_H
#define UNFIT_H

/** The file that the shell would run for NAME, kept; NULL if there is none. */
char *find_executable(const char *name);

/**
 * Why `ferry threads` runs the program FILE plainly, as a sentence; NULL: it does not.  A script
 * stands for its interpreter.
 */
const char *why_unfit(const char *file);

/** The same for the machine and this process, whatever the program. */
const char *why_unfit_here(void);

#endif /* UNFIT_H */
