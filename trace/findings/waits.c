// SPDX-License-Identifier: MIT
#include "waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../hash.h"
#include "../names.h"
#include "common/memory.h"

/* ---- one ---- */

const char *duration(double ns)
{
	if (ns < 1e6)
		return keep_text("%.0f us", ns / 1e3);
	return keep_text(ns < 10e6 ? "%.1f ms" : "%.0f ms", ns / 1e6);
}

static bool is_kind(const char *file, const char *kind)
{
	return !strncmp(file, kind, strlen(kind));
}

static const char *file_of(const struct traced_call *call)
{
	if (call->nr == SYS_futex)
		return keep_text("%#lx", call->args[0]);
	if (!call->file)
		return "";
	if (is_kind(call->file, "socket:"))
		return "a socket";
	if (is_kind(call->file, "pipe:"))
		return "a pipe";
	return *call->file == '/' && !call->file[1] ? "a file" : name_of_path(call->file);
}

static int ascending(const void *a, const void *b)
{
	const double *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Where it is known, or NAN. */
static double cpu_of(const struct evidence *evidence, const struct seen_call *seen)
{
	return isnan(evidence->fixed.value) ? NAN : seen->ns;
}

struct wait wait_of(const struct evidence *evidence, const struct member *group, size_t size)
{
	const struct traced_call *call = group->seen->call;
	struct wait wait = { .call = name_of_call(call->nr), .file = file_of(call) };
	double *each = allocate(size, sizeof(*each)), times = 0;
	size_t i;

	for (i = 0; i < size; i++) {
		const struct seen_call *seen = group[i].seen;

		each[i] = seen->call->waited_ns;
		times += seen->calls;
		wait.ns += seen->calls * each[i];
		wait.cpu_ns += seen->calls * cpu_of(evidence, seen);
	}
	qsort(each, size, sizeof(*each), ascending);
	wait.times = lround(times);
	wait.mean = wait.ns / times;
	wait.p99 = each[(size * 99 + 99) / 100 - 1]; /* so many are no longer */
	wait.spread = (each[(size - 1) * 3 / 4] - each[(size - 1) / 4]) / 2 / wait.mean;
	free(each);
	return wait;
}

/* ---- all ---- */

/* Sockets are one row, and so are pipes: there may be thousands. */
static uint64_t key_of(const struct traced_call *call)
{
	const uint64_t nr = hash_number((uint64_t)call->nr, 0);

	if (call->nr == SYS_futex)
		return hash_number(call->args[0], hash_number((uint64_t)call->process, nr));
	if (!call->file)
		return nr;
	if (is_kind(call->file, "socket:") || is_kind(call->file, "pipe:"))
		return hash_number((uint64_t)*call->file, nr);
	return hash_number(call->file_id, nr);
}

static int longest_first(const void *a, const void *b)
{
	const struct wait *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

struct wait *waits_of(const struct evidence *evidence, size_t *count)
{
	struct groups groups = { 0 };
	struct wait *waits = NULL;
	size_t i, size;

	*count = 0;
	for (i = 0; i < evidence->count; i++)
		if (evidence->of[i].call->waited_ns > 0)
			groups_add(&groups, key_of(evidence->of[i].call), &evidence->of[i]);
	groups_sort(&groups);
	for (i = 0; i < groups.count; i += size) {
		size = group_size(&groups, i);
		waits = keep_more(waits, *count, sizeof(*waits));
		waits[(*count)++] = wait_of(evidence, &groups.of[i], size);
	}
	groups_free(&groups);
	if (*count)
		qsort(waits, *count, sizeof(*waits), longest_first);
	return waits;
}
