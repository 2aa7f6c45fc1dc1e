/* SPDX-License-Identifier: MIT */
#ifndef OWN_DIRECTORY_H
#define OWN_DIRECTORY_H

#include <limits.h>

/** The directory of this program, links resolved: 0, or -errno.  It is found without /proc, too. */
int own_directory(char directory[PATH_MAX]);

#endif /* OWN_DIRECTORY_H */
