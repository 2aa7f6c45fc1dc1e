/* SPDX-License-Identifier: MIT */
/* Ways to map the pages of an anonymous private mapping, and orders to touch them in. */
#ifndef PAGEFAULT_WAYS_H
#define PAGEFAULT_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages are written in all orders but READ. */
enum order { SEQUENTIAL, RANDOM, ONE_IN_64, READ, ORDERS };

extern const struct order_words {
	const char *access, *name, *title;
} orders[ORDERS];

#define SPARSE 64 /* pages, of which ONE_IN_64 touches one */

enum way {
	BASE,	       /* a fault for each page */
	CLEAR,	       /* no fault: mapped before, then cleared by the program */
	AHEAD,	       /* multi_page_alloc() */
	POPULATE,      /* MADV_POPULATE_WRITE or MADV_POPULATE_READ */
	PREFAULT,      /* ferry_prefault(), which may use all CPUs */
	PREFAULT_HERE, /* the same on one CPU */
	MAP_POPULATED, /* MAP_POPULATE */
	LARGE_PAGES,   /* MADV_HUGEPAGE */
	WAYS
};

extern const char *const way_names[WAYS];

/* What is measured, in one way. */
struct touch {
	enum order order;
	enum way way;
	long per_fault;	   /* of AHEAD: pages */
	size_t large_page; /* of LARGE_PAGES: bytes */
};

/* Address space to map in, aligned to the largest page. */
struct region {
	char *reserved, *start;
	size_t reserved_length, length; /* bytes */
	size_t page;
	size_t pages;
	uint32_t *orders[ORDERS]; /* the pages to touch, by number */
	size_t touched[ORDERS];	  /* how many of them */
};

/** Reserves LENGTH bytes, and shuffles the random order from SEED.  False: no address space. */
bool region_open(struct region *region, size_t length, uint64_t seed);

void region_close(struct region *region);

/**
 * Maps the region, and its pages as TOUCH says: 0, or -errno.  For BASE and AHEAD that maps
 * nothing yet.  Before it, outside of any clock, way_prepare() sets the process up.
 */
int way_map(const struct region *region, const struct touch *touch);

void way_prepare(const struct touch *touch);

/** Touches the pages, or clears them; ends early once interrupted(). */
void visit_pages(const struct region *region, const struct touch *touch, bool clear);

/** Gives everything back: the address space stays reserved. */
void region_unmap(const struct region *region);

/** Why TOUCH is not available, kept, or NULL. */
const char *touch_missing(const struct region *region, const struct touch *touch);

#endif /* PAGEFAULT_WAYS_H */
