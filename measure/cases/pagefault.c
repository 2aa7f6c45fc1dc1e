// SPDX-License-Identifier: MIT
/* ferry bench pagefault: what the first touch of memory costs, and what saves most of it. */
#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "cases.h"
#include "measure/harness/json.h"
#include "pagefault_memory.h"
#include "pagefault_touches.h"

#define MIB ((size_t)1 << 20)
#define USUAL (2048 * MIB)
#define LEAST (16 * MIB)
#define MOST_PER_FAULT 512

static const struct json_column columns[] = {
	{ "WAY", "label", TEXT, 0 },
	{ "FIRST", "median", NUMBER, 1 },
	{ "SD", "sd", NUMBER, 1 },
	{ "RATIO", "ratio", NUMBER, 2 },
	{ "LATER", "later_ns", NUMBER, 1 },
	{ "FAULTS", "faults", NUMBER, 0 },
	{ "TRAPS", "exceptions", NUMBER, 0 },
	{ "MIB", "resident_bytes", MEBIBYTES, 1 },
	{ "WASTED", "wasted_bytes", MEBIBYTES, 1 },
};

static const struct json_column csv_columns[] = {
	{ NULL, "name", TEXT, 0 },
	{ NULL, "label", TEXT, 0 },
	{ NULL, "access", TEXT, 0 },
	{ NULL, "order", TEXT, 0 },
	{ NULL, "way", TEXT, 0 },
	{ NULL, "per_fault", NUMBER, 0 },
	{ NULL, "large_page", NUMBER, 0 },
	{ NULL, "available", YES_NO, 0 },
	{ NULL, "touched", NUMBER, 0 },
	{ NULL, "mean", NUMBER, 0 },
	{ NULL, "min", NUMBER, 0 },
	{ NULL, "max", NUMBER, 0 },
	{ NULL, "sd", NUMBER, 0 },
	{ NULL, "median", NUMBER, 0 },
	{ NULL, "se", NUMBER, 0 },
	{ NULL, "ratio", NUMBER, 0 },
	{ NULL, "ratio_se", NUMBER, 0 },
	{ NULL, "later_ns", NUMBER, 0 },
	{ NULL, "faults", NUMBER, 0 },
	{ NULL, "exceptions", NUMBER, 0 },
	{ NULL, "mapped_pages", NUMBER, 0 },
	{ NULL, "resident_bytes", NUMBER, 0 },
	{ NULL, "wasted_bytes", NUMBER, 0 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int check(const struct settings *settings)
{
	if (settings->sizes.of[settings->sizes.count - 1] <= MOST_PER_FAULT)
		return 0;
	complain("bench: pagefault: --sizes is %.0f: a fault maps at most %d pages",
		 settings->sizes.of[settings->sizes.count - 1], MOST_PER_FAULT);
	return EXIT_USAGE;
}

/* ---- how much memory ---- */

/* Half of what can be had leaves the rest of the machine alone. */
static size_t usual_memory(struct run *run, struct memory_room room)
{
	size_t bytes = room.bytes / 2 & ~(4 * MIB - 1);

	if (bytes >= USUAL)
		return USUAL;
	add_warning(run, "little-memory", "Only %zu MiB are touched, not %zu: %s leaves %zu.",
		    bytes / MIB, USUAL / MIB, room.limit, room.bytes / MIB);
	return bytes;
}

/* What is touched, or 0 after complaining. */
static size_t choose_memory(struct run *run)
{
	struct memory_room room = memory_room();
	size_t asked = (size_t)run->settings->memory * MIB;
	size_t bytes = asked ? asked : usual_memory(run, room);

	if (bytes >= LEAST && bytes <= room.bytes / 10 * 9)
		return bytes;
	complain("bench: pagefault: %s leaves %zu MiB, and %zu MiB and a tenth more are wanted",
		 room.limit, room.bytes / MIB, (bytes < LEAST ? LEAST : bytes) / MIB);
	return 0;
}

static int measure(struct run *run)
{
	size_t bytes = choose_memory(run);
	struct region region;
	json_t *touches;
	int status;

	if (!bytes)
		return EXIT_USAGE;
	if (!region_open(&region, bytes, run->settings->bootstrap.seed)) {
		complain("bench: pagefault: no address space for %zu MiB", bytes / MIB);
		return EXIT_FOUND;
	}
	status = measure_touches(run, &region, &touches);
	json_object_set_new(run->document, "memory_bytes", json_integer((json_int_t)bytes));
	json_object_set_new(run->document, "page_bytes", json_integer((json_int_t)region.page));
	region_close(&region);
	conclude_touches(run, touches);
	json_object_set_new(run->document, "touches", touches);
	return status;
}

/* ---- tables ---- */

static void print_order(const json_t *document, const char *access, const char *order,
			const char *title)
{
	static const struct table table = { columns, COUNT(columns) };
	json_t *rows = json_array(), *touch;
	size_t i;

	json_array_foreach(json_object_get(document, "touches"), i, touch) {
		if (!strcmp(json_string_at(touch, "access", ""), access) &&
		    !strcmp(json_string_at(touch, "order", ""), order))
			json_array_append(rows, touch);
	}
	if (json_array_size(rows)) {
		print_heading("%s, ns", title);
		print_table(&table, rows);
		putchar('\n');
	}
	json_decref(rows);
}

static void print(const json_t *document)
{
	print_heading("What touching a page costs, in %.0f MiB of anonymous memory\n",
		      json_number_at(document, "memory_bytes") / (double)MIB);
	print_order(document, "write", "sequential", "Every page written, one after another");
	print_order(document, "write", "random", "Every page written, in a random order");
	print_order(document, "write", "one_in_64", "One page in 64 written");
	print_order(document, "read", "sequential", "Every page read, one after another");
	print_paragraph("",
			"FIRST: of the first touch of a page, mapping and populating included, "
			"median; SD: of a trial. RATIO: times as fast as a fault a page. LATER: of "
			"the second touch. FAULTS: that the kernel handled; TRAPS: those that the "
			"CPU raised. MIB: memory that it takes; WASTED: of pages never touched.");
}

const struct bench pagefault_bench = {
	.name = "pagefault",
	.summary = "what the first touch of memory costs, and what saves most of it",
	.rows = "touches",
	.csv = { csv_columns, COUNT(csv_columns) },
	.defaults = { .warmup = 1,
		      .trials = 5,
		      .sizes = { { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 }, 10 } },
	.check = check,
	.measure = measure,
	.example = "pagefault --memory 256",
	.print_document = print,
};
