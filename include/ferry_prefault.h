/* SPDX-License-Identifier: MIT */
/*
 * Fewer page faults: one call maps a whole range of memory that is going to be used, or makes
 * later faults of the process map several pages each.  libferry_prefault(3) describes both.
 *
 * Functions that can fail return -errno.  Nothing here touches errno.  Any thread may call any
 * function at any time.
 */
#ifndef FERRY_PREFAULT_H
#define FERRY_PREFAULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The mechanism that was used. */
enum ferry_prefault_way {
	FERRY_PREFAULT_NONE,	    /* nothing */
	FERRY_PREFAULT_AHEAD,	    /* multi_page_alloc(): later faults map several pages */
	FERRY_PREFAULT_POPULATE,    /* MADV_POPULATE_READ or MADV_POPULATE_WRITE */
	FERRY_PREFAULT_LARGE_PAGES, /* MADV_HUGEPAGE, and then MADV_POPULATE_WRITE */
	FERRY_PREFAULT_TOUCH,	    /* each page was touched separately */
	FERRY_PREFAULT_WAYS
};

/** The name of the mechanism ("populate"), or NULL for another number. */
const char *ferry_prefault_way_name(enum ferry_prefault_way way);

struct ferry_prefaulted {
	enum ferry_prefault_way way;
	size_t large_page;    /* bytes: the largest page that was advised, or 0 */
	unsigned long faults; /* page faults of this thread during the call */
};

#define FERRY_PREFAULT_READ 0x0u  /* the pages will be read, or stay as they are */
#define FERRY_PREFAULT_WRITE 0x1u /* the pages will be written: each gets memory of its own */
#define FERRY_PREFAULT_SMALL 0x2u /* does not advise large pages */

/**
 * Maps every page that has a byte of ADDRESS[0 .. LENGTH - 1], as touching each would, so that
 * a later access does not fault.  The contents do not change, even while other threads write
 * to them.  Use it for memory that will certainly be used, and for all of it at once.
 *
 * FLAGS is FERRY_PREFAULT_READ or FERRY_PREFAULT_WRITE, with FERRY_PREFAULT_SMALL or without.
 * For a write of 1 MiB or more it first advises large pages (MADV_HUGEPAGE), if the system uses
 * them on advice and they fit; the advice stays with the range.
 *
 * If DONE is not NULL, *DONE reports what was done, also after an error.
 *
 * Returns 0, or -EINVAL for other flags or a range that passes the end of the address space;
 * -ENOMEM where nothing is mapped, or no memory was left; -EFAULT where the mapping does not
 * allow the access, or lies beyond the end of its file; -EHWPOISON for broken memory.  After
 * an error a part of the range may have been mapped.  As with touching the pages, a full memory
 * cgroup can trigger the OOM killer.
 */
int ferry_prefault(const void *address, size_t length, unsigned int flags,
		   struct ferry_prefaulted *done);

/**
 * From now on a page fault in anonymous memory of this process maps up to PAGES pages, 1 to 512.
 * This needs a kernel with multi_page_alloc().  0 or 1 restores one page per fault.  It applies
 * to all threads, is inherited by fork() and cleared by exec().
 *
 * If DONE is not NULL, *DONE reports what was done, also after an error.
 *
 * Returns 0; -EINVAL for other numbers; -ENOSYS where the kernel has no such call, or the error
 * that a seccomp filter gives it, such as -EPERM: nothing has changed then.
 */
int ferry_prefault_process(long pages, struct ferry_prefaulted *done);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_PREFAULT_H */
