/* SPDX-License-Identifier: MIT */
/*
 * Fewer page faults: one call maps a whole range of memory that is going to be used, or makes
 * later faults of the process map several pages each.  ferry_prefault(3) is the contract.
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
	unsigned long faults; /* page faults of the threads below during the call */
	unsigned int threads; /* that mapped something, including the calling one */
};

#define FERRY_PREFAULT_READ 0x0u  /* the pages will be read, or stay as they are */
#define FERRY_PREFAULT_WRITE 0x1u /* the pages will be written: each gets memory of its own */
#define FERRY_PREFAULT_SMALL 0x2u /* does not advise large pages */
#define FERRY_PREFAULT_ALONE 0x4u /* no other thread helps */

/**
 * Maps every page that has a byte of ADDRESS[0 .. LENGTH - 1], as touching each would.  FLAGS are
 * above.  Other threads help where the range is large and CPUs are idle.  *DONE (or NULL) reports
 * what was done.  Returns 0, or -errno: -ENOMEM before the memory of the system or of a control
 * group runs out, with a part of the range mapped.
 */
int ferry_prefault(const void *address, size_t length, unsigned int flags,
		   struct ferry_prefaulted *done);

/**
 * Makes each later fault of this process map up to PAGES pages, 1 to 512, where the kernel has
 * multi_page_alloc(); 0 or 1: off.  *DONE (or NULL) reports what was done.  Returns 0 or -errno.
 */
int ferry_prefault_process(long pages, struct ferry_prefaulted *done);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_PREFAULT_H */
