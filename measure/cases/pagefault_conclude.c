// SPDX-License-Identifier: MIT
/* What follows from the rows of `ferry bench pagefault`. */
#include "pagefault.h"

#include <math.h>

#include "common/memory.h"

#define NEARLY 1.1 /* of the best time: more pages per fault gain next to nothing */
#define MIB (1 << 20)

/* ---- finding rows ---- */

/* SIZE is pages per fault; 0 stands for any other way than AHEAD. */
static const struct touched *find_row(const struct pagefault *p, enum order order, enum way way,
				      long size)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		const struct touched *row = &p->rows[i];

		if (row->trials.count && row->touch.order == order && row->touch.way == way &&
		    row->touch.per_fault == size)
			return row;
	}
	return NULL;
}

static double median(const struct touched *row)
{
	return row->summary.median;
}

/* ---- comparing ---- */

static bool is_beside_populate(enum way way)
{
	return way == LARGE_PAGES || way == PREFAULT || way == PREFAULT_HERE;
}

static void compare_with_populate(struct run *run, const struct pagefault *p)
{
	const struct touched *small = find_row(p, SEQUENTIAL, POPULATE, 0);
	size_t i;

	for (i = 0; small && i < p->count; i++) {
		struct touched *row = &p->rows[i];

		if (row->trials.count && is_beside_populate(row->touch.way) &&
		    row->touch.order == SEQUENTIAL)
			compare_trials(run, &row->trials, &small->trials, &row->beside);
	}
}

static void compare_all(struct run *run, struct pagefault *p)
{
	size_t i;

	p->count = compare_contestants(run, p->rows, p->count, sizeof(*p->rows));
	compare_with_populate(run, p);
	judge_run(run);
	for (i = 0; i < p->count; i++)
		p->rows[i].later_median = median_of(p->rows[i].later.of, p->rows[i].later.count);
}

static bool saves(const struct touched *row)
{
	return row->ratio.ratio > 1 && row->ratio.significant;
}

/* ---- in words ---- */

static void say_base(struct run *run, const struct pagefault *p)
{
	const struct touched *in_order = find_row(p, SEQUENTIAL, BASE, 0);
	const struct touched *random = find_row(p, RANDOM, BASE, 0);
	const struct touched *clear = find_row(p, SEQUENTIAL, CLEAR, 0);

	if (!in_order || !random || !clear)
		return;
	add_finding(run, NULL,
		    "The first write to a page takes %.0f %s in order and %.0f in a random order, "
		    "with a fault for each; clearing a page takes %.0f of that, which no way "
		    "saves. Later writes take %.1f and %.1f.",
		    median(in_order), clock_unit(), median(random), median(clear),
		    in_order->later_median, random->later_median);
}

/* The fastest row that maps a whole range at once, or NULL. */
static const struct touched *best_for_range(const struct pagefault *p)
{
	const struct touched *best = NULL;
	size_t i;

	for (i = 0; i < p->count; i++) {
		const struct touched *row = &p->rows[i];

		if (!row->trials.count || row->touch.order != SEQUENTIAL ||
		    row->touch.way == BASE || row->touch.way == CLEAR || row->touch.way == AHEAD)
			continue;
		if (saves(row) && (!best || median(row) < median(best)))
			best = row;
	}
	return best;
}

static void say_range(struct run *run, const struct pagefault *p)
{
	const struct touched *best = best_for_range(p);
	const struct touched *populate = find_row(p, SEQUENTIAL, POPULATE, 0);

	if (best)
		add_finding(run, orders[SEQUENTIAL].name,
			    "For a range that will be used whole, %s is the fastest: %.0f %s per "
			    "page, %.2f times as fast as a fault a page.",
			    best->label, median(best), clock_unit(), best->ratio.ratio);
	else if (populate)
		add_finding(run, orders[SEQUENTIAL].name,
			    "No way to map a range at once was faster than a fault a page by more "
			    "than the noise of this run.");
	if (populate && populate != best && saves(populate))
		add_finding(run, orders[SEQUENTIAL].name,
			    "MADV_POPULATE_WRITE takes %.0f %s per page: %.2f times as fast.",
			    median(populate), clock_unit(), populate->ratio.ratio);
}

/* What ferry_prefault() gains by threads, and loses where it uses none. */
static void say_prefault(struct run *run, const struct pagefault *p, enum way way,
			 const char *sentence)
{
	const struct touched *row = find_row(p, SEQUENTIAL, way, 0);

	if (!row || !find_row(p, SEQUENTIAL, POPULATE, 0))
		return;
	add_finding(run, orders[SEQUENTIAL].name, sentence, row->beside.ratio,
		    row->beside.quartile_low, row->beside.quartile_high);
	add_figure(run, keep_text("%s against MADV_POPULATE_WRITE", row->label), "ratio",
		   (struct estimate){ row->beside.ratio, row->beside.se }, row->trials.count);
}

/* What disturbs a trial only adds to it. */
static double least(const struct touched *row)
{
	return row ? row->summary.min : NAN;
}

static double least_ahead(const struct pagefault *p, enum order order, const struct sizes *sizes)
{
	double found = NAN;
	size_t i;

	for (i = 0; i < sizes->count; i++)
		found = fmin(found, least(find_row(p, order, AHEAD, (long)sizes->of[i])));
	return found;
}

/* The least pages per fault that are nearly the best in both orders and save time, or 0. */
static long enough_ahead(const struct pagefault *p, const struct sizes *sizes)
{
	double in_order = least_ahead(p, SEQUENTIAL, sizes), random = least_ahead(p, RANDOM, sizes);
	size_t i;

	for (i = 0; i < sizes->count; i++) {
		long n = (long)sizes->of[i];
		const struct touched *one = find_row(p, SEQUENTIAL, AHEAD, n);
		const struct touched *other = find_row(p, RANDOM, AHEAD, n);

		if (one && other && saves(one) && saves(other) && least(one) <= NEARLY * in_order &&
		    least(other) <= NEARLY * random)
			return n;
	}
	return 0;
}

static void say_ahead(struct run *run, const struct pagefault *p, long n)
{
	const struct touched *in_order = find_row(p, SEQUENTIAL, AHEAD, n);
	const struct touched *random = find_row(p, RANDOM, AHEAD, n);

	if (!n || !in_order || !random)
		return;
	add_finding(run, NULL,
		    "With %ld pages a fault a first write takes %.0f %s in order, and %.0f in a "
		    "random order: %.2f and %.2f times as fast as a fault a page. More pages a "
		    "fault gain less than 10 %%.",
		    n, median(in_order), clock_unit(), median(random), in_order->ratio.ratio,
		    random->ratio.ratio);
}

static void say_sparse(struct run *run, const struct touched *base, const struct touched *row)
{
	if (!base || !row || !row->ratio.significant)
		return;
	add_finding(run, orders[ONE_IN_64].name,
		    "Where one page in 64 is touched, %s: %.1f times the time of a fault a page, "
		    "and %.1f MiB in place of %.1f.",
		    row->label, median(row) / median(base), row->resident / MIB,
		    base->resident / MIB);
}

/* Whether large pages are slower than small ones, by more than the noise. */
static bool large_pages_lose(const struct pagefault *p)
{
	const struct touched *large = find_row(p, SEQUENTIAL, LARGE_PAGES, 0);

	return large && large->beside.significant && large->beside.ratio < 1;
}

/* Whether the kernel has no multi_page_alloc(), which is not the same as not measured. */
static bool ahead_missing(const struct pagefault *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->rows[i].touch.way == AHEAD && p->rows[i].missing)
			return true;
	return false;
}

static void recommend(struct run *run, const struct pagefault *p, long n)
{
	if (!find_row(p, SEQUENTIAL, BASE, 0))
		return;
	if (best_for_range(p))
		add_finding(run, NULL, "Use ferry_prefault() for memory that will be used whole%s.",
			    large_pages_lose(p) ? ", with FERRY_PREFAULT_SMALL: large pages were "
						  "slower in this run" :
						  "");
	if (n)
		add_finding(run, NULL,
			    "Use ferry_prefault_process(%ld) for a program that uses most of what "
			    "it maps, and not for one that touches memory here and there.",
			    n);
	else if (ahead_missing(p))
		add_finding(run, NULL,
			    "For a whole program this kernel offers nothing: multi_page_alloc() "
			    "comes with ferry's patch series.");
}

static void say_everything(struct run *run, const struct pagefault *p)
{
	const struct touched *sparse = find_row(p, ONE_IN_64, BASE, 0);
	long n = enough_ahead(p, &pagefault_settings(run)->sizes);

	say_base(run, p);
	say_range(run, p);
	say_prefault(run, p, PREFAULT,
		     "ferry_prefault(), with the help of idle CPUs, is %.2f times as fast as "
		     "MADV_POPULATE_WRITE by one thread (quartiles %.2f to %.2f).");
	say_prefault(run, p, PREFAULT_HERE,
		     "On one CPU, where it maps alone, that is %.2f (%.2f to %.2f).");
	say_ahead(run, p, n);
	if (n)
		say_sparse(run, sparse, find_row(p, ONE_IN_64, AHEAD, n));
	say_sparse(run, sparse, find_row(p, ONE_IN_64, LARGE_PAGES, 0));
	recommend(run, p, n);
}

/* ---- records ---- */

#define ROW(member) offsetof(struct touched, member)

static const struct field fields[] = {
	{ "name", F_TEXT, ROW(name), CSV | ALWAYS },
	{ "label", F_TEXT, ROW(label), CSV | ALWAYS },
	{ "access", F_TEXT, ROW(access), CSV | ALWAYS },
	{ "order", F_TEXT, ROW(order), CSV | ALWAYS },
	{ "way", F_TEXT, ROW(way), CSV | ALWAYS },
	{ "per_fault", F_OPTIONAL, ROW(touch.per_fault), CSV | ALWAYS },
	{ "large_page", F_OPTIONAL, ROW(touch.large_page), CSV | ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	{ "touched", F_NUMBER, ROW(pages), CSV },
	TRIAL_FIELDS(struct touched),
	RATIO_FIELDS(struct touched),
	{ "later_ns", F_NUMBER, ROW(later_median), CSV },
	{ "mapping_ns", F_NUMBER, ROW(mapping), CSV },
	{ "beyond_clearing_ns", F_NUMBER, ROW(beyond_clearing), CSV },
	{ "faults", F_NUMBER, ROW(faults), CSV },
	{ "exceptions", F_NUMBER, ROW(exceptions), CSV },
	{ "mapped_pages", F_NUMBER, ROW(mapped), CSV },
	{ "resident_bytes", F_NUMBER, ROW(resident), CSV },
	{ "wasted_bytes", F_NUMBER, ROW(wasted), CSV },
};

static const struct field run_fields[] = {
	{ "memory_bytes", F_COUNT, offsetof(struct pagefault, memory), 0 },
	{ "page_bytes", F_COUNT, offsetof(struct pagefault, page), 0 },
};

/*
 * Pages mapped ahead must be cleared as well; reading maps a page that is already clear.  What a
 * program needs to clear small pages says nothing of large ones, nor where the kernel needs less.
 */
static void set_beyond_clearing(struct pagefault *p)
{
	const struct touched *clear = find_row(p, SEQUENTIAL, CLEAR, 0);
	size_t i;

	for (i = 0; i < p->count; i++) {
		struct touched *row = &p->rows[i];
		double cleared = row->touch.order != READ ? row->mapped / row->pages : 0;
		double beyond = least(row) - row->later_median - cleared * least(clear);

		row->beyond_clearing = NAN;
		if (!row->missing && row->touch.way != CLEAR && row->touch.way != LARGE_PAGES &&
		    beyond > 0)
			row->beyond_clearing = beyond;
	}
}

/* ---- tables ---- */

static const struct column columns[] = {
	{ "WAY", F_TEXT, ROW(label), 0 },
	{ "FIRST", F_NUMBER, ROW(summary.median), 1 },
	{ "+-", F_NUMBER, ROW(summary.se), 2, PAGE_ONLY },
	{ "SD", F_NUMBER, ROW(summary.sd), 1 },
	{ "RATIO", F_NUMBER, ROW(ratio.ratio), 2 },
	{ "+-", F_NUMBER, ROW(ratio.se), 3, PAGE_ONLY },
	{ "LATER", F_NUMBER, ROW(later_median), 1 },
	{ "BEYOND", F_NUMBER, ROW(beyond_clearing), 1 },
	{ "FAULTS", F_NUMBER, ROW(faults), 0 },
	{ "TRAPS", F_NUMBER, ROW(exceptions), 0 },
	{ "MIB", F_MEBIBYTES, ROW(resident), 1 },
	{ "WASTED", F_MEBIBYTES, ROW(wasted), 1 },
};

static const char note[] =
	"FIRST: of the first touch of a page, mapping and populating included, median; SD: of a "
	"trial. RATIO: times as fast as a fault a page. LATER: of the second touch. BEYOND: the "
	"part of FIRST that is neither clearing nor LATER. FAULTS: faults that the kernel handled; "
	"TRAPS: exceptions that the CPU raised. MIB: memory that it takes; WASTED: of pages never "
	"touched.";

static void tabulate(struct run *run, const struct pagefault *p)
{
	struct table *table;
	enum order order;
	size_t i;

	for (order = SEQUENTIAL; order < ORDERS; order++) {
		table = add_table(run, columns, note, "%s: %s per page, in %ld MiB of memory",
				  orders[order].title, clock_unit(), p->memory / MIB);
		for (i = 0; i < p->count; i++)
			if (p->rows[i].touch.order == order)
				table_add(table, &p->rows[i]);
	}
}

void pagefault_conclude(struct run *run, struct pagefault *p)
{
	compare_all(run, p);
	set_beyond_clearing(p);
	say_everything(run, p);
	add_contestants(run, RECORDS("touches", fields, p->rows, p->count));
	add_fields(run, RECORDS(NULL, run_fields, p, 1));
	tabulate(run, p);
}
