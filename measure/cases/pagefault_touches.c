// SPDX-License-Identifier: MIT
#include "pagefault_touches.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/messages.h"
#include "measure/harness/child.h"
#include "measure/harness/memory.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/json.h"
#include "lib/prefault/large_pages.h"
#include "measure/harness/memory.h"
#include "measure/harness/progress.h"
#include "measure/harness/trials.h"

#define MAX_ROWS 256

struct row {
	struct touch touch;
	char *missing; /* why it is, or NULL */
	size_t base;   /* the row with a fault for each page */
};

/* What is known of a row; the children write it to shared memory. */
struct measured {
	size_t count;	   /* trials */
	double faults;	   /* that the kernel counted */
	double exceptions; /* of the CPU, NAN where they cannot be counted */
	double mapped;	   /* pages */
	double resident;   /* bytes, NAN where not known */
};

struct session {
	struct run *run;
	const struct region *region;
	struct row rows[MAX_ROWS];
	size_t count;
	struct measured *measured; /* shared */
	double *first, *later;	   /* shared: ns per touch, row by row, trial by trial */
	size_t trial;
	int counter; /* of exceptions, or -1; in a child */
};

/* ---- which there are ---- */

static void add_row(struct session *session, struct touch touch, size_t base)
{
	if (session->count < MAX_ROWS)
		session->rows[session->count++] = (struct row){
			.touch = touch,
			.missing = touch_missing(session->region, &touch),
			.base = base,
		};
}

/* What is missing is told once, with the first order. */
static void add_unless_told(struct session *session, struct touch touch, size_t base)
{
	char *missing = touch_missing(session->region, &touch);
	bool first = touch.write && touch.order == SEQUENTIAL;

	free(missing);
	if (!missing || first)
		add_row(session, touch, base);
}

static void add_ahead(struct session *session, struct touch touch, size_t base)
{
	const struct settings *s = session->run->settings;
	char *missing;
	size_t i;

	touch.way = AHEAD;
	missing = touch_missing(session->region, &touch);
	free(missing);
	if (missing) {
		add_unless_told(session, touch, base);
		return;
	}
	for (i = 0; i < s->sizes.count; i++) {
		touch.per_fault = (long)s->sizes.of[i];
		if (touch.per_fault > 1)
			add_row(session, touch, base);
	}
}

static void add_large_pages(struct session *session, struct touch touch, size_t base)
{
	bool any = false;

	touch.way = LARGE_PAGES;
	for (touch.large_page = SMALLEST_LARGE_PAGE; touch.large_page <= LARGEST_LARGE_PAGE;
	     touch.large_page <<= 1) {
		if (ferry__large_pages_setting(LARGE_PAGES_SETTINGS, touch.large_page) ==
		    NO_LARGE_PAGES)
			continue;
		add_unless_told(session, touch, base);
		any = true;
	}
	touch.large_page = 0;
	if (!any)
		add_unless_told(session, touch, base);
}

static void add_way(struct session *session, struct touch touch, enum way way, size_t base)
{
	touch.way = way;
	add_unless_told(session, touch, base);
}

static void add_order(struct session *session, bool write, enum order order)
{
	struct touch touch = { .write = write, .order = order };
	size_t base = session->count;

	add_row(session, touch, base);
	add_ahead(session, touch, base);
	add_way(session, touch, POPULATE, base);
	if (write && order == SEQUENTIAL)
		add_way(session, touch, MAP_POPULATED, base);
	add_large_pages(session, touch, base);
	if (write && order == SEQUENTIAL)
		add_way(session, touch, CLEAR, base);
}

static void list_rows(struct session *session)
{
	add_order(session, true, SEQUENTIAL);
	add_order(session, true, RANDOM);
	add_order(session, true, ONE_IN_64);
	add_order(session, false, SEQUENTIAL);
}

/* ---- counting ---- */

static double faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_minflt + usage.ru_majflt);
}

/* The kernel's event counts exceptions; faults that MADV_POPULATE_* makes are none. */
static int open_counter(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double exceptions_so_far(const struct session *session)
{
	uint64_t count;

	if (session->counter < 0 || read(session->counter, &count, sizeof(count)) != sizeof(count))
		return NAN;
	return (double)count;
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
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	double kib = NAN;
	char line[256];

	while (file && isnan(kib) && fgets(line, sizeof(line), file))
		if (!strncmp(line, "Rss:", 4))
			kib = (double)strtoul(line + 4, NULL, 10);
	if (file)
		fclose(file);
	return kib * 1024;
}

/* Once, since looking at every page takes its time. */
static void look_at_memory(const struct session *session, const struct touch *touch, double before,
			   struct measured *m)
{
	double resident = resident_so_far() - before;

	m->mapped = mapped_pages(session->region);
	if (isnan(resident) && touch->write)
		resident = m->mapped * (double)session->region->page;
	m->resident = isnan(resident) ? resident : fmax(0, resident);
}

/* ---- measuring ---- */

/* Clearing needs pages that are there before the clock starts. */
static int prepare(const struct session *session, const struct touch *touch)
{
	int error;

	way_prepare(touch);
	if (touch->way != CLEAR)
		return 0;
	error = way_map(session->region, touch);
	if (!error)
		touch_pages(session->region, touch);
	return error;
}

/* Whatever makes the faults of the first pass, it is in its time. */
static int first_pass(const struct session *session, const struct touch *touch)
{
	int error = touch->way == CLEAR ? 0 : way_map(session->region, touch);

	if (error)
		return error;
	if (touch->way == CLEAR)
		clear_pages(session->region, touch);
	else
		touch_pages(session->region, touch);
	return 0;
}

static void keep_times(struct session *session, size_t index, double first, double later)
{
	const struct touch *touch = &session->rows[index].touch;
	double touches = (double)session->region->touched[touch->order];
	size_t place =
		index * (size_t)session->run->settings->trials + session->measured[index].count++;

	note_duration(session->run, first);
	session->first[place] = first / touches;
	session->later[place] = later / touches;
}

static bool complain_of_memory(const struct session *session, const struct touch *touch, int error)
{
	complain("bench: pagefault: %zu MiB cannot be had by %s: %s", session->region->length >> 20,
		 way_names[touch->way], strerror(-error));
	region_unmap(session->region);
	return false;
}

struct counts {
	double ns, faults, exceptions;
};

static struct counts count_now(const struct session *session)
{
	struct counts counts = { .faults = faults_so_far(),
				 .exceptions = exceptions_so_far(session) };

	counts.ns = now_ns();
	return counts;
}

static struct counts count_since(const struct session *session, struct counts start)
{
	struct counts counts = { .ns = now_ns() - start.ns };

	counts.exceptions = exceptions_so_far(session) - start.exceptions;
	counts.faults = faults_so_far() - start.faults;
	return counts;
}

static bool measure_row(struct session *session, size_t index)
{
	const struct touch *touch = &session->rows[index].touch;
	struct measured *m = &session->measured[index];
	double before = session->trial ? 0 : resident_so_far(), later;
	int error = prepare(session, touch);
	struct counts counts;

	if (error)
		return complain_of_memory(session, touch, error);
	counts = count_now(session);
	error = first_pass(session, touch);
	counts = count_since(session, counts);
	if (error)
		return complain_of_memory(session, touch, error);
	later = now_ns();
	touch_pages(session->region, touch);
	later = now_ns() - later;
	if (!interrupted()) {
		if (!session->trial)
			look_at_memory(session, touch, before, m);
		m->faults = counts.faults;
		m->exceptions = counts.exceptions;
		keep_times(session, index, counts.ns, later);
	}
	region_unmap(session->region);
	return true;
}

/* Where memory runs out after all, this process goes, and no other. */
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
 * Passes that are not timed: a host may give its guest the memory only now.  This process has
 * then what it needs for itself, too.
 */
static bool warm_up(const struct session *session)
{
	const struct touch touch = { .write = true };
	long i;
	int error = 0;

	count_since(session, count_now(session));
	resident_so_far();
	way_prepare(&touch);
	for (i = 0; !session->trial && i < session->run->settings->warmup && !error; i++) {
		error = first_pass(session, &touch);
		region_unmap(session->region);
	}
	return error ? complain_of_memory(session, &touch, error) : true;
}

static int measure_trial(void *context)
{
	struct session *session = context;
	size_t i;

	volunteer();
	session->counter = open_counter();
	if (!warm_up(session))
		return EXIT_FOUND;
	for (i = 0; i < session->count && !interrupted(); i++) {
		if (!session->rows[i].missing && !measure_row(session, i))
			return EXIT_FOUND;
		progress_at(session->trial * session->count + i + 1);
	}
	return 0;
}

/* ---- as JSON ---- */

static const char *access_name(const struct touch *touch)
{
	return touch->write ? "write" : "read";
}

static long size_of(const struct touch *touch)
{
	return touch->way == AHEAD ? touch->per_fault : (long)(touch->large_page >> 10);
}

static void label_touch(const struct touch *touch, char *label, size_t size)
{
	static const char *const labels[WAYS] = { "a fault a page",   "clearing alone",
						  "multi_page_alloc", "MADV_POPULATE",
						  "MAP_POPULATE",     "large pages" };

	if (touch->way == AHEAD && touch->per_fault)
		snprintf(label, size, "%ld pages a fault", touch->per_fault);
	else if (touch->way == LARGE_PAGES && touch->large_page)
		snprintf(label, size, "pages of %zu KiB", touch->large_page >> 10);
	else
		snprintf(label, size, "%s", labels[touch->way]);
}

static json_t *base_of_row(const struct row *row)
{
	const struct touch *touch = &row->touch;
	char name[96], label[64], number[32] = "";

	if (size_of(touch))
		snprintf(number, sizeof(number), " %ld", size_of(touch));
	snprintf(name, sizeof(name), "%s %s %s%s", access_name(touch), order_names[touch->order],
		 way_names[touch->way], number);
	label_touch(touch, label, sizeof(label));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:s?}", "name", name, "label", label,
		"access", access_name(touch), "order", order_names[touch->order], "way",
		way_names[touch->way], "per_fault",
		touch->per_fault ? json_integer(touch->per_fault) : json_null(), "large_page",
		touch->large_page ? json_integer((json_int_t)touch->large_page) : json_null(),
		"available", !row->missing, "reason", row->missing);
}

static json_t *memory_as_json(const struct session *session, const struct row *row,
			      const struct measured *m)
{
	double touched = (double)session->region->touched[row->touch.order];
	double used = row->touch.write ? touched * (double)session->region->page : 0;

	return json_pack("{s:f, s:f, s:o, s:f, s:o, s:o}", "touched", touched, "faults", m->faults,
			 "exceptions", json_number(m->exceptions), "mapped_pages", m->mapped,
			 "resident_bytes", json_number(m->resident), "wasted_bytes",
			 json_number(fmax(0, m->resident - used)));
}

static json_t *row_as_json(const struct session *session, size_t index)
{
	const struct row *row = &session->rows[index];
	const struct measured *m = &session->measured[index];
	size_t trials = (size_t)session->run->settings->trials;
	const double *first = &session->first[index * trials];
	const double *later = &session->later[index * trials];
	struct summary s = summarize(first, m->count, session->run->settings->bootstrap);
	json_t *json = base_of_row(row), *more = memory_as_json(session, row, m);

	json_object_update(json, more);
	json_decref(more);
	more = json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:f}", "trials_ns",
			 json_numbers(first, m->count), "mean", s.mean, "min", s.min, "max", s.max,
			 "sd", s.sd, "median", s.median, "se", json_number(s.se), "later_ns",
			 median_of(later, m->count));
	json_object_update(json, more);
	json_decref(more);
	set_paired_ratio(json, session->run, first, &session->first[row->base * trials], m->count);
	return json;
}

static json_t *rows_as_json(struct session *session)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < session->count; i++) {
		if (session->rows[i].missing)
			json_array_append_new(rows, base_of_row(&session->rows[i]));
		else if (session->measured[i].count)
			json_array_append_new(rows, row_as_json(session, i));
		free(session->rows[i].missing);
	}
	return rows;
}

int measure_touches(struct run *run, const struct region *region, json_t **touches)
{
	struct session session = { .run = run, .region = region };
	size_t size;
	int status;

	list_rows(&session);
	size = session.count * (size_t)run->settings->trials * sizeof(double);
	session.measured = share(session.count * sizeof(*session.measured));
	session.first = share(size);
	session.later = share(size);
	status = run_trials(run, "trial and way", session.count, &session.trial, measure_trial,
			    &session);
	*touches = rows_as_json(&session);
	unshare_memory(session.later, size);
	unshare_memory(session.first, size);
	unshare_memory(session.measured, session.count * sizeof(*session.measured));
	return status;
}

const json_t *find_touch(const json_t *touches, const char *access, const char *order,
			 const char *way, long size)
{
	const json_t *touch;
	size_t i;

	json_array_foreach(touches, i, touch) {
		if (json_true_at(touch, "available") &&
		    !strcmp(json_string_at(touch, "access", ""), access) &&
		    !strcmp(json_string_at(touch, "order", ""), order) &&
		    !strcmp(json_string_at(touch, "way", ""), way) &&
		    json_integer_value(json_object_get(touch, "per_fault")) == size)
			return touch;
	}
	return NULL;
}
