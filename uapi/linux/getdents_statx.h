/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_GETDENTS_STATX_H
#define _UAPI_LINUX_GETDENTS_STATX_H

#include <linux/stat.h>
#include <linux/types.h>

/* An entry that getdents_statx() writes. */
struct dirent_statx {
	__u64 ino;
	__u32 reclen; /* bytes to the next entry */
	__u32 type; /* DT_* */
	struct statx stat; /* without stx_mask: ask statx() */
	char name[];
};

#endif /* _UAPI_LINUX_GETDENTS_STATX_H */
