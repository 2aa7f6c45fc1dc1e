// SPDX-License-Identifier: MIT
/* What the rows of `ferry bench pagefault` mean, in words. */
#include <math.h>
#include <string.h>

#include "measure/harness/json.h"
#include "pagefault_touches.h"

#define NEARLY 1.1 /* of the best time: more pages per fault gain next to nothing */
#define MIB (1 << 20)

static double median(const json_t *touch)
{
	return json_number_at(touch, "median");
}

static double mib(const json_t *touch, const char *field)
{
	return json_number_at(touch, field) / MIB;
}

static void say_base(struct run *run, const json_t *touches)
{
	const json_t *in_order = find_touch(touches, "write", "sequential", "base", 0);
	const json_t *random = find_touch(touches, "write", "random", "base", 0);
	const json_t *clear = find_touch(touches, "write", "sequential", "clear", 0);

	if (!in_order || !random || !clear)
		return;
	add_finding(
		run, NULL,
		"The first write to a page takes %.0f ns in order and %.0f ns in a random "
		"order, with a fault for each; clearing a page takes %.0f of that, which no way "
		"saves. Later writes take %.1f and %.1f ns.",
		median(in_order), median(random), median(clear),
		json_number_at(in_order, "later_ns"), json_number_at(random, "later_ns"));
}

static bool saves(const json_t *touch)
{
	return json_number_at(touch, "ratio") > 1 && json_true_at(touch, "significant");
}

/* The fastest of those that map a whole range at once, or NULL. */
static const json_t *best_for_range(const json_t *touches)
{
	const json_t *touch, *best = NULL;
	size_t i;

	json_array_foreach(touches, i, touch) {
		const char *way = json_string_at(touch, "way", "");

		if (!json_true_at(touch, "available") || !saves(touch) ||
		    strcmp(json_string_at(touch, "access", ""), "write") != 0 ||
		    strcmp(json_string_at(touch, "order", ""), "sequential") != 0)
			continue;
		if (!strcmp(way, "base") || !strcmp(way, "clear") || !strcmp(way, "ahead"))
			continue;
		if (!best || median(touch) < median(best))
			best = touch;
	}
	return best;
}

static void say_range(struct run *run, const json_t *touches)
{
	const json_t *best = best_for_range(touches);
	const json_t *populate = find_touch(touches, "write", "sequential", "populate", 0);

	if (best)
		add_finding(run, "sequential",
			    "For a range that will be used whole, %s is the fastest: %.0f ns per "
			    "page, %.2f times as fast as a fault a page.",
			    json_string_at(best, "label", ""), median(best),
			    json_number_at(best, "ratio"));
	else if (populate)
		add_finding(run, "sequential",
			    "No way to have a range at once was faster than a fault a page by "
			    "more than the noise of this run.");
	if (populate && populate != best)
		add_finding(run, "sequential",
			    "MADV_POPULATE_WRITE takes %.0f ns per page: %.2f times as fast.",
			    median(populate), json_number_at(populate, "ratio"));
}

/* What disturbs a trial only adds to it. */
static double least(const json_t *touch)
{
	return json_number_at(touch, "min");
}

static double least_ahead(const json_t *touches, const char *order, const struct settings *s)
{
	double found = NAN;
	size_t i;

	for (i = 0; i < s->sizes.count; i++)
		found = fmin(found, least(find_touch(touches, "write", order, "ahead",
						     (long)s->sizes.of[i])));
	return found;
}

/* The least pages per fault that are nearly the best in both orders, or 0. */
static long enough_ahead(const json_t *touches, const struct settings *s)
{
	double in_order = least_ahead(touches, "sequential", s);
	double random = least_ahead(touches, "random", s);
	size_t i;

	for (i = 0; i < s->sizes.count; i++) {
		long n = (long)s->sizes.of[i];

		if (least(find_touch(touches, "write", "sequential", "ahead", n)) <=
			    NEARLY * in_order &&
		    least(find_touch(touches, "write", "random", "ahead", n)) <= NEARLY * random)
			return n;
	}
	return 0;
}

static void say_ahead(struct run *run, const json_t *touches, long n)
{
	const json_t *in_order = find_touch(touches, "write", "sequential", "ahead", n);
	const json_t *random = find_touch(touches, "write", "random", "ahead", n);

	if (!in_order || !random)
		return;
	add_finding(run, NULL,
		    "With %ld pages a fault a first write takes %.0f ns in order, and %.0f ns in a "
		    "random order: %.2f and %.2f times as fast as a fault a page. More pages a "
		    "fault gain less than 10 %%.",
		    n, median(in_order), median(random), json_number_at(in_order, "ratio"),
		    json_number_at(random, "ratio"));
}

static const json_t *find_large_pages(const json_t *touches, const char *order)
{
	const json_t *touch;
	size_t i;

	json_array_foreach(touches, i, touch)
		if (json_true_at(touch, "available") &&
		    !strcmp(json_string_at(touch, "access", ""), "write") &&
		    !strcmp(json_string_at(touch, "order", ""), order) &&
		    !strcmp(json_string_at(touch, "way", ""), "large_pages"))
			return touch;
	return NULL;
}

static void say_sparse_of(struct run *run, const json_t *base, const json_t *touch)
{
	if (!base || !touch)
		return;
	add_finding(run, "one_in_64",
		    "Where one page in 64 is touched, %s: %.1f times the time of a fault a page, "
		    "and %.1f MiB in place of %.1f.",
		    json_string_at(touch, "label", ""), median(touch) / median(base),
		    mib(touch, "resident_bytes"), mib(base, "resident_bytes"));
}

static void say_sparse(struct run *run, const json_t *touches, long n)
{
	const json_t *base = find_touch(touches, "write", "one_in_64", "base", 0);

	say_sparse_of(run, base, find_touch(touches, "write", "one_in_64", "ahead", n));
	say_sparse_of(run, base, find_large_pages(touches, "one_in_64"));
}

static struct estimate ratio_of_touch(const json_t *touch)
{
	return (struct estimate){ json_number_at(touch, "ratio"),
				  json_number_at(touch, "ratio_se") };
}

/* Whether large pages are slower than small ones, by more than the noise. */
static bool large_pages_lose(const json_t *touches)
{
	const json_t *large = find_large_pages(touches, "sequential");
	const json_t *small = find_touch(touches, "write", "sequential", "populate", 0);
	struct estimate one, other;

	if (!large || !small)
		return false;
	one = ratio_of_touch(large);
	other = ratio_of_touch(small);
	return one.value < other.value && differ(one, other);
}

/* Whether the kernel has no multi_page_alloc(), which is not the same as not measured. */
static bool ahead_missing(const json_t *touches)
{
	const json_t *touch;
	size_t i;

	json_array_foreach(touches, i, touch)
		if (!strcmp(json_string_at(touch, "way", ""), "ahead") &&
		    !json_true_at(touch, "available"))
			return true;
	return false;
}

static void recommend(struct run *run, const json_t *touches, long n)
{
	if (!find_touch(touches, "write", "sequential", "base", 0))
		return;
	add_finding(run, NULL, "Take ferry_prefault() for memory that will be used whole%s.",
		    large_pages_lose(touches) ?
			    ", with FERRY_PREFAULT_SMALL: large pages were slower in this run" :
			    "");
	if (n)
		add_finding(run, NULL,
			    "Take ferry_prefault_process(%ld) for a program that uses most of what "
			    "it maps, and not for one that touches memory here and there.",
			    n);
	else if (ahead_missing(touches))
		add_finding(run, NULL,
			    "For a whole program there is nothing on this kernel: "
			    "multi_page_alloc() is of ferry's patch series.");
}

void conclude_touches(struct run *run, const json_t *touches)
{
	long n = enough_ahead(touches, run->settings);

	say_base(run, touches);
	say_range(run, touches);
	say_ahead(run, touches, n);
	say_sparse(run, touches, n);
	recommend(run, touches, n);
}
