// SPDX-License-Identifier: MIT
/* ferry bench pagefault: the first touch of memory, and cheaper ways to map it. */
#include "pagefault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "lib/prefault/large_pages.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/options.h"
#include "measure/harness/turns.h"
#include "pagefault_memory.h"

#define MAX_ROWS 256
#define MIB ((size_t)1 << 20)
#define USUAL (2048 * MIB)
#define LEAST (4 * MIB)

struct session {
	struct run *run;
	const struct region *region;
	struct touched *rows; /* shared, since children store what they measure; kept */
	size_t count;
	double *later; /* shared: a value for each row and trial; kept */
	int counter;   /* of exceptions, or -1; in a child */
};

/* ---- the rows ---- */

/* Follows the name of a way that has several sizes. */
static const char *size_of(const struct touch *touch)
{
	if (touch->way == AHEAD && touch->per_fault)
		return keep_text(" %ld", touch->per_fault);
	return touch->large_page ? keep_text(" %zu", touch->large_page >> 10) : "";
}

static const char *label_of(const struct touch *touch)
{
	static const char *const labels[WAYS] = { "a fault a page",   "clearing alone",
						  "multi_page_alloc", "MADV_POPULATE",
						  "ferry_prefault",   "ferry_prefault, one CPU",
						  "MAP_POPULATE",     "large pages" };

	if (touch->way == AHEAD && touch->per_fault)
		return keep_text("%ld pages a fault", touch->per_fault);
	if (touch->way == LARGE_PAGES && touch->large_page)
		return keep_text("pages of %zu KiB", touch->large_page >> 10);
	return labels[touch->way];
}

/* What is not available is listed once, with the first order. */
static void add_row(struct session *session, struct touch touch, size_t base)
{
	struct touched *row = &session->rows[session->count];
	const char *missing = touch_missing(session->region, &touch);

	if (session->count == MAX_ROWS || (missing && touch.order != SEQUENTIAL))
		return;
	*row = (struct touched){
		.touch = touch,
		.missing = missing,
		.base = base,
		.access = orders[touch.order].access,
		.order = orders[touch.order].name,
		.way = way_names[touch.way],
		.label = label_of(&touch),
		.pages = (double)session->region->touched[touch.order],
		.later.of =
			session->later + session->count * (size_t)session->run->settings->trials,
	};
	row->name = keep_text("%s %s %s%s", row->access, row->order, row->way, size_of(&touch));
	session->count++;
}

static void add_ahead(struct session *session, struct touch touch, size_t base)
{
	const struct pagefault_settings *s = pagefault_settings(session->run);
	size_t i;

	if (touch_missing(session->region, &touch))
		add_row(session, touch, base);
	for (i = 0; i < s->sizes.count && !touch_missing(session->region, &touch); i++) {
		touch.per_fault = (long)s->sizes.of[i];
		if (touch.per_fault > 1)
			add_row(session, touch, base);
	}
}

static void add_large_pages(struct session *session, struct touch touch, size_t base)
{
	bool any = false;

	for (touch.large_page = SMALLEST_LARGE_PAGE; touch.large_page <= LARGEST_LARGE_PAGE;
	     touch.large_page <<= 1) {
		if (ferry__large_pages_setting(LARGE_PAGES_SETTINGS, touch.large_page) ==
		    NO_LARGE_PAGES)
			continue;
		add_row(session, touch, base);
		any = true;
	}
	touch.large_page = 0;
	if (!any)
		add_row(session, touch, base);
}

static void list_rows(struct session *session)
{
	enum order order;
	size_t base;

	for (order = SEQUENTIAL; order < ORDERS; order++) {
		base = session->count;
		add_row(session, (struct touch){ order, BASE }, base);
		add_ahead(session, (struct touch){ order, AHEAD }, base);
		add_row(session, (struct touch){ order, POPULATE }, base);
		if (order == SEQUENTIAL) {
			add_row(session, (struct touch){ order, PREFAULT }, base);
			add_row(session, (struct touch){ order, PREFAULT_HERE }, base);
			add_row(session, (struct touch){ order, MAP_POPULATED }, base);
		}
		add_large_pages(session, (struct touch){ order, LARGE_PAGES }, base);
		if (order == SEQUENTIAL)
			add_row(session, (struct touch){ order, CLEAR }, base);
	}
}

/* ---- counting ---- */

/* The kernel's event counts exceptions, which faults by MADV_POPULATE_* are not. */
static int open_counter(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	/* Counting an exception takes some 200 instructions. */
	if (clock_counts_instructions())
		return -1;
	return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

struct counts {
	double faults, exceptions;
};

static struct counts count_now(const struct session *session)
{
	struct counts counts = { .exceptions = NAN };
	struct rusage usage;
	uint64_t count;

	getrusage(RUSAGE_SELF, &usage);
	counts.faults = (double)(usage.ru_minflt + usage.ru_majflt);
	if (session->counter >= 0 && read(session->counter, &count, sizeof(count)) == sizeof(count))
		counts.exceptions = (double)count;
	return counts;
}

static double mapped_pages(const struct region *region)
{
	unsigned char *vector = allocate(region->pages, 1);
	size_t mapped = 0, i;

	if (!mincore(region->start, region->length, vector))
		for (i = 0; i < region->pages; i++)
			mapped += vector[i] & 1;
	free(vector);
	return (double)mapped;
}

/* Of the whole process; /proc/self/statm is not exact. */
static double resident_so_far(void)
{
	const char *kib = line_after("/proc/self/smaps_rollup", "Rss:");

	return *kib ? 1024 * strtod(kib, NULL) : NAN;
}

/* Once, because looking at every page is slow. */
static void look_at_memory(const struct session *session, struct touched *row, double before)
{
	double resident = resident_so_far() - before, page = (double)session->region->page;
	bool written = row->touch.order != READ;
	double used = written ? row->pages * page : 0;

	row->mapped = mapped_pages(session->region);
	if (isnan(resident) && written)
		resident = row->mapped * page;
	row->resident = isnan(resident) ? resident : fmax(0, resident);
	row->wasted = row->resident - used < 0 ? 0 : row->resident - used;
}

/* ---- measuring ---- */

/* Clearing needs pages that are mapped before the clock starts. */
static int prepare(const struct session *session, const struct touch *touch)
{
	int error;

	way_prepare(touch);
	if (touch->way != CLEAR)
		return 0;
	error = way_map(session->region, touch);
	if (!error)
		visit_pages(session->region, touch, false);
	return error;
}

/* The time of the first pass includes whatever causes its faults. */
static int first_pass(const struct session *session, const struct touch *touch, double *mapping)
{
	double start = clock_now();
	int error = touch->way == CLEAR ? 0 : way_map(session->region, touch);

	*mapping = clock_now() - start;
	if (error)
		return error;
	visit_pages(session->region, touch, touch->way == CLEAR);
	return 0;
}

static int complain_of_memory(const struct session *session, const struct touch *touch, int error)
{
	complain("bench: pagefault: cannot map %zu MiB by %s: %s", session->region->length >> 20,
		 way_names[touch->way], strerror(-error));
	region_unmap(session->region);
	return EXIT_FOUND;
}

static int measure_row(void *context, size_t index, size_t trial, double *value)
{
	struct session *session = context;
	struct touched *row = &session->rows[index];
	const struct touch *touch = &row->touch;
	double before = trial ? 0 : resident_so_far(), mapping, first, later;
	int error = prepare(session, touch);
	struct counts start, end;

	if (error)
		return complain_of_memory(session, touch, error);
	clock_align();
	start = count_now(session);
	first = clock_now();
	error = first_pass(session, touch, &mapping);
	first = clock_now() - first;
	end = count_now(session);
	if (error)
		return complain_of_memory(session, touch, error);
	later = clock_now();
	visit_pages(session->region, touch, false);
	later = clock_now() - later;
	if (!interrupted()) {
		if (!trial)
			look_at_memory(session, row, before);
		row->faults = end.faults - start.faults;
		row->exceptions = end.exceptions - start.exceptions;
		row->mapping = mapping / row->pages;
		row->later.of[row->later.count++] = later / row->pages;
		note_duration(session->run, first);
		*value = first / row->pages;
	}
	region_unmap(session->region);
	return 0;
}

/* If memory runs out after all, the kernel ends this process and no other. */
static void volunteer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		errno = 0;
	close(fd);
}

/*
 * Passes that are not timed: a host may give its guest the memory only now, and this process maps
 * what it needs for itself.
 */
static int warm_up(const struct session *session)
{
	const struct touch touch = { .order = SEQUENTIAL };
	double mapping;
	long i;
	int error = 0;

	for (i = 0; i < session->run->settings->warmup && !error; i++) {
		error = first_pass(session, &touch, &mapping);
		region_unmap(session->region);
	}
	return error ? complain_of_memory(session, &touch, error) : 0;
}

static int begin(void *context, size_t trial)
{
	struct session *session = context;

	volunteer();
	session->counter = open_counter();
	count_now(session);
	resident_so_far();
	way_prepare(&(struct touch){ .order = SEQUENTIAL });
	return trial ? 0 : warm_up(session);
}

/* ---- how much memory ---- */

/* Half of what is available leaves the rest of the machine alone. */
static size_t choose_memory(const struct pagefault_settings *settings, struct memory_room room)
{
	size_t half = room.bytes / 2 & ~(4 * MIB - 1);

	if (settings->memory)
		return (size_t)settings->memory * MIB;
	return half < USUAL ? half : USUAL;
}

static int check(struct settings *common)
{
	const struct pagefault_settings *settings = (struct pagefault_settings *)common;
	struct memory_room room = memory_room();
	size_t bytes = choose_memory(settings, room);

	if (bytes >= LEAST && bytes <= room.bytes / 10 * 9)
		return 0;
	return bad_input(
		"bench: pagefault: %s leaves %zu MiB, and this takes %zu MiB and a tenth more",
		room.limit, room.bytes / MIB, (bytes < LEAST ? LEAST : bytes) / MIB);
}

/* ---- the bench ---- */

static int measure(struct run *run)
{
	struct pagefault *pagefault = keep(1, sizeof(*pagefault));
	size_t values = MAX_ROWS * (size_t)run->settings->trials;
	/* One mapping for all rows: a fault looks its VMA up, and kernels differ in their rows. */
	struct session session = { .run = run,
				   .rows = share(MAX_ROWS * sizeof(struct touched)),
				   .later = share(values * sizeof(double)) };
	const struct turns turns = {
		.what = "trial and way", .begin = begin, .run = measure_row, .context = &session
	};
	struct memory_room room = memory_room();
	size_t bytes = choose_memory(pagefault_settings(run), room);
	struct region region;
	int status;

	if (!pagefault_settings(run)->memory && bytes < USUAL)
		add_warning(run, "little-memory",
			    "Only %zu MiB are touched, not %zu: %s leaves %zu.", bytes / MIB,
			    USUAL / MIB, room.limit, room.bytes / MIB);
	if (!region_open(&region, bytes, run->settings->bootstrap.seed))
		return failed("bench: pagefault: no address space for %zu MiB", bytes / MIB);
	session.region = &region;
	list_rows(&session);
	status = take_trials(run, turns, session.rows, session.count, sizeof(*session.rows));
	*pagefault = (struct pagefault){ .memory = (long)bytes,
					 .page = (long)region.page,
					 .rows = session.rows,
					 .count = session.count };
	region_close(&region);
	pagefault_conclude(run, pagefault);
	return status;
}

/* About 30 rows touch all pages, at some microseconds for each. */
static double seconds(const struct settings *common, double call_ns)
{
	const struct pagefault_settings *settings = (const struct pagefault_settings *)common;
	double mib = (double)choose_memory(settings, memory_room()) / (double)MIB;
	double page_ns = 500 + 4 * call_ns, rows = 10 + 2 * (double)settings->sizes.count;

	return mib * 256 * page_ns * rows * (double)settings->trials / 1e9;
}

#define AT(member) offsetof(struct pagefault_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	WARMUP_OPTION,
	{ 's', NUMBERS_OPTION, "sizes", "N,...", "sizes", AT(sizes), "pages that a fault maps", 1,
	  512, .condition = true },
	{ 'm', NUMBER_OPTION, "memory", "MIB", "memory_mib", AT(memory),
	  "memory to touch; by default 2048 or less", 4, 1L << 24 },
};

static const struct pagefault_settings defaults = {
	.warmup = 1, .trials = 5, .sizes = { { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 }, 10 }
};

const struct bench pagefault_bench = {
	.name = "pagefault",
	.summary = "the first touch of memory, and cheaper ways to map it",
	BENCH_SETTINGS(options, defaults),
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.example = "pagefault --memory 256",
};
