// SPDX-License-Identifier: MIT
/*
 * The first touch of each page of an anonymous mapping, by how many pages a fault maps:
 * multi_page_alloc() of 1 to 512 pages, and MADV_POPULATE_* in one call, in order, in a random
 * order, and one page in 64.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>

#include "clear.h"
#include "count.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: pagefault [--passes N]\n"
	"Prints a JSON line per way to map pages and order of touching them: in each of N (5)\n"
	"passes, the cost of a page's first touch, and what of it is beyond clearing the page;\n"
	"the number of faults, and of pages that are resident in the end.\n"
	"\n"
	"Example: pagefault --passes 3\n";

#define PAGE 4096UL
#define PAGES 1024UL
#define TABLE (512 * PAGE) /* what a page-table page maps */
#define SPARSE 64
#define REPEATS 3
#define LONGEST 512 /* pages per fault */
#define SEED 0x9e3779b9u

enum order { SEQUENTIAL, RANDOM, ONE_IN_64, ORDERS };

static const char *const order_names[] = { "sequential", "random", "one page in 64" };

/* The pages to touch, in each order. */
static unsigned int pages_of[ORDERS][PAGES];
static const unsigned int touches[ORDERS] = { PAGES, PAGES, PAGES / SPARSE };

static char *region;

struct way {
	bool write;
	enum order order;
	int per_fault; /* 0: populated by one call */
	double touch[MAX_PASSES], later[MAX_PASSES];
	long faults;
	unsigned long resident;
};

static bool have_multi_page_alloc(void)
{
	return !ferry_rawcall(FERRY_NR_MULTI_PAGE_ALLOC, 0, 0, 0, 0, 0, 0);
}

static void fill_orders(void)
{
	unsigned int state = SEED, i;

	for (i = 0; i < PAGES; i++) {
		pages_of[SEQUENTIAL][i] = pages_of[RANDOM][i] = i;
		pages_of[ONE_IN_64][i] = i * SPARSE % PAGES;
	}
	for (i = PAGES - 1; i; i--) {
		unsigned int *pages = pages_of[RANDOM], other, page = pages[i];

		state = state * 1664525 + 1013904223;
		other = (unsigned int)(((uint64_t)state * (i + 1)) >> 32);
		pages[i] = pages[other];
		pages[other] = page;
	}
}

/* A mapping that begins with a page-table page, and never is one huge page. */
static char *map_region(void)
{
	char *map = mmap(NULL, PAGES * PAGE + TABLE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		err(EXIT_FAILURE, "cannot map %lu pages", PAGES);
	madvise(map, PAGES * PAGE + TABLE, MADV_NOHUGEPAGE);
	return map + (-(unsigned long)map & (TABLE - 1));
}

static void discard(void *context)
{
	(void)context;
	madvise(region, PAGES * PAGE, MADV_DONTNEED);
}

static void touch_pages(void *context)
{
	const struct way *way = context;
	const unsigned int *pages = pages_of[way->order];
	unsigned int i;

	for (i = 0; i < touches[way->order]; i++) {
		volatile char *page = region + pages[i] * PAGE;

		if (way->write)
			*page = 1;
		else
			(void)*page;
	}
}

static void first_touch(void *context)
{
	const struct way *way = context;

	if (!way->per_fault)
		madvise(region, PAGES * PAGE,
			way->write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	else
		touch_pages(context);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static unsigned long resident_pages(void)
{
	unsigned char resident[PAGES];
	unsigned long count = 0, i;

	if (mincore(region, PAGES * PAGE, resident))
		err(EXIT_FAILURE, "cannot tell which pages are resident");
	for (i = 0; i < PAGES; i++)
		count += resident[i] & 1;
	return count;
}

static void measure(struct way *way, int pass)
{
	double count = touches[way->order];

	if (have_multi_page_alloc())
		ferry_rawcall(FERRY_NR_MULTI_PAGE_ALLOC, way->per_fault, 0, 0, 0, 0, 0);
	way->touch[pass] = (double)count_least(first_touch, discard, way, REPEATS) / count;
	way->later[pass] = (double)count_least(touch_pages, NULL, way, REPEATS) / count;
	discard(NULL);
	way->faults = -faults();
	first_touch(way);
	way->faults += faults();
	way->resident = resident_pages();
	discard(NULL);
	if (have_multi_page_alloc())
		ferry_rawcall(FERRY_NR_MULTI_PAGE_ALLOC, 0, 0, 0, 0, 0, 0);
}

static void print_costs(const char *name, const struct way *way, double less, int passes)
{
	int i;

	printf(",\"%s\":[", name);
	for (i = 0; i < passes; i++) {
		/* One call that populates touches nothing by itself. */
		double loop = way->per_fault ? way->later[i] : 0;

		printf("%s%.1f", i ? "," : "", way->touch[i] - loop - less);
	}
	printf("]");
}

static void print_way(const struct way *way, double clearing, int passes)
{
	double cleared = way->write ? clearing : 0;

	/* What was mapped ahead was cleared as well. */
	cleared *= (double)way->resident / touches[way->order];
	printf("{\"bench\":\"pagefault\",\"unit\":\"%s\",\"how\":\"%s\",\"per_fault\":%d,"
	       "\"access\":\"%s\",\"order\":\"%s\"",
	       count_unit(),
	       !way->per_fault	   ? "populate" :
	       way->per_fault == 1 ? "single" :
				     "multi_page_alloc",
	       way->per_fault, way->write ? "write" : "read", order_names[way->order]);
	print_costs("touch", way, 0, passes);
	print_costs("beyond_clearing", way, cleared, passes);
	printf(",\"clearing\":%.1f,\"touched\":%u,\"faults\":%ld,\"resident\":%lu}\n", cleared,
	       touches[way->order], way->faults, way->resident);
}

#define MAX_WAYS 64

static struct way ways[MAX_WAYS];
static int way_count;

static void add_ways(bool write, enum order order)
{
	int longest = have_multi_page_alloc() ? LONGEST : 1, n;

	for (n = 1; n <= longest; n *= write ? 2 : 8)
		ways[way_count++] = (struct way){ .write = write, .order = order, .per_fault = n };
	if (order == SEQUENTIAL)
		ways[way_count++] = (struct way){ .write = write, .order = order };
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	double clearing;
	int pass, i;

	region = map_region();
	fill_orders();
	add_ways(true, SEQUENTIAL);
	add_ways(true, RANDOM);
	add_ways(true, ONE_IN_64);
	add_ways(false, SEQUENTIAL);
	clearing = clear_cost();
	for (pass = 0; pass < options.passes; pass++)
		for (i = 0; i < way_count; i++)
			measure(&ways[i], pass);
	for (i = 0; i < way_count; i++)
		print_way(&ways[i], clearing, options.passes);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
