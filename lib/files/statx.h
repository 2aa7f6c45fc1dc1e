/* SPDX-License-Identifier: MIT */
/*
 * struct statx: of the C library, or of the kernel where that has none (musl before 1.2.5).  Other
 * headers of the kernel that include <linux/stat.h> then get no second one.
 */
#ifndef FILES_STATX_H
#define FILES_STATX_H

#include <sys/stat.h>

#ifdef STATX_TYPE
#define _LINUX_STAT_H
#else
#include <linux/stat.h>
#endif

#endif /* FILES_STATX_H */
