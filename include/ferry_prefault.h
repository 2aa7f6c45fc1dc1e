/* SPDX-License-Identifier: MIT */
/*
 * Page faults in bulk, by the best means that the kernel has: one call maps a range of memory
 * that is going to be used, or makes later faults of the process map several pages each.
 * libferry_prefault(3) tells the whole story.
 *
 * Functions that can fail return -errno.  Nothing here touches errno.  Any thread may call all
 * of it at any time.
 */
#ifndef FERRY_PREFAULT_H
#define FERRY_PREFAULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was done. */
enum ferry_prefault_way {
	FERRY_PREFAULT_NONE,	    /* nothing */
	FERRY_PREFAULT_AHEAD,	    /* multi_page_alloc(): later faults map several pages */
	FERRY_PREFAULT_POPULATE,    /* MADV_POPULATE_READ or MADV_POPULATE_WRITE */
	FERRY_PREFAULT_LARGE_PAGES, /* MADV_HUGEPAGE, and then MADV_POPULATE_WRITE */
	FERRY_PREFAULT_TOUCH,	    /* each page was touched by itself */
	FERRY_PREFAULT_WAYS
};

/** The way's name ("populate"), or NULL for a number that is none. */
const char *ferry_prefault_way_name(enum ferry_prefault_way way);

struct ferry_prefaulted {
	enum ferry_prefault_way way;
	size_t large_page;    /* bytes: the largest page that was asked for by advice, or 0 */
	unsigned long faults; /* that the kernel counted for this thread meanwhile */
};

#define FERRY_PREFAULT_READ 0x0u  /* the pages will be read, or are to stay what they are */
#define FERRY_PREFAULT_WRITE 0x1u /* the pages will be written: each gets memory of its own */
#define FERRY_PREFAULT_SMALL 0x2u /* does not advise large pages */

/**
 * Maps every page that has a byte of ADDRESS[0 .. LENGTH - 1], as touching each would, so that
 * the first touch of it is no fault.  What the memory holds stays, also while other threads
 * write to it.  For memory that will surely be used, and best for all of it at once.
 *
 * FLAGS is FERRY_PREFAULT_READ or FERRY_PREFAULT_WRITE, with FERRY_PREFAULT_SMALL or without.
 * A write of 1 MiB or more advises large pages (MADV_HUGEPAGE) first where the system has them
 * for those who ask, and they fit; that advice stays with the range.
 *
 * *DONE, where DONE is not NULL, says what was done, also after an error.
 *
 * Returns 0, or -EINVAL for other flags or a range that passes the end of the address space;
 * -ENOMEM where nothing is mapped, or no memory was left; -EFAULT where the mapping does not
 * allow the access, or lies beyond the end of its file; -EHWPOISON for broken memory.  After
 * an error a part of the range may have been mapped.  As with touching, a memory cgroup that
 * is full can call the OOM killer.
 */
int ferry_prefault(const void *address, size_t length, unsigned int flags,
		   struct ferry_prefaulted *done);

/**
 * From now on a fault in anonymous memory of this process maps up to PAGES pages, 1 to 512,
 * where the kernel can be told so: today by multi_page_alloc() alone.  0 or 1: one page each,
 * as ever.  For all threads, inherited by fork(), cleared by exec().
 *
 * *DONE, where DONE is not NULL, says what was done, also after an error.
 *
 * Returns 0; -EINVAL for other numbers; -ENOSYS when nothing here can do it, or -EPERM or what
 * else a seccomp filter makes of the call: nothing was changed then.
 */
int ferry_prefault_process(long pages, struct ferry_prefaulted *done);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_PREFAULT_H */
