/* SPDX-License-Identifier: MIT */
#ifndef OWN_DIRECTORY_H
#define OWN_DIRECTORY_H

#include <limits.h>

/** The path of this program, links resolved: 0, or -errno.  It is found without /proc, too. */
int own_path(char path[PATH_MAX]);

/** PLACE, relative to the directory of this program, as a path that is kept; NULL if not known. */
char *beside(const char *place);

/** The example or script NAME, in the build tree or installed: its path, kept, or NULL. */
char *find_example(const char *name);

#endif /* OWN_DIRECTORY_H */
