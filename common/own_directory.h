/* SPDX-License-Identifier: MIT */
#ifndef OWN_DIRECTORY_H
#define OWN_DIRECTORY_H

#include <limits.h>

/** The path of this program, links resolved: 0, or -errno.  It is found without /proc, too. */
int own_path(char path[PATH_MAX]);

/** The directory of this program, in the same way. */
int own_directory(char directory[PATH_MAX]);

#endif /* OWN_DIRECTORY_H */
