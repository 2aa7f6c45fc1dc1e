/* SPDX-License-Identifier: MIT */
/* struct statx: of the C library, or of the kernel where that has none (musl before 1.2.5). */
#ifndef FILES_STATX_H
#define FILES_STATX_H

#include <sys/stat.h>

#ifndef STATX_TYPE
#include <linux/stat.h>
#endif

#endif /* FILES_STATX_H */
