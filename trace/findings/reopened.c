// SPDX-License-Identifier: MIT
/* Files that are opened, read and closed again and again. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "../hash.h"
#include "../names.h"
#include "../shapes.h"
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "reopened";

#define OFTEN 3 /* opens of one file by one process */

static bool opens(int nr)
{
#ifdef SYS_open
	if (nr == SYS_open)
		return true;
#endif
	return nr == SYS_openat;
}

/* A device has another answer each time. */
static bool opens_to_read(const struct traced_call *call)
{
	const unsigned long flags = call->args[call->nr == SYS_openat ? 2 : 1];

	return opens(call->nr) && !call_failed(call) && call->paths[0] && *call->paths[0] &&
	       (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC)) &&
	       !is_device(call->paths[0]);
}

static uint64_t key_of(const struct traced_call *call)
{
	const uint64_t path = hash_text(call->paths[0], call->directory_id);

	return hash_number((uint64_t)call->process, path);
}

static bool uses(const struct traced_call *call, int descriptor)
{
	const int k = first_argument(shape_of(call->nr), "d");

	return k >= 0 && (int)call->args[k] == descriptor;
}

/* A directory is opened to be synced, too. */
static bool is_synced(const struct evidence *evidence, const struct seen_call *first)
{
	const struct seen_call *end = evidence->of + evidence->count, *seen;
	const int descriptor = (int)first->call->result;

	for (seen = first + 1; seen < end && seen->window == first->window; seen++) {
		if (!uses(seen->call, descriptor))
			continue;
		if (seen->call->nr == SYS_close)
			return false;
		if (seen->call->nr == SYS_fsync || seen->call->nr == SYS_fdatasync)
			return true;
	}
	return false;
}

static bool reads(const struct traced_call *call)
{
	static const char *const names[] = { "read",	   "pread64",  "readv", "preadv",
					     "getdents64", "sendfile", "mmap",	NULL };

	return is_among(name_of_call(call->nr), names);
}

/*
 * The open at FIRST, and what is done with its descriptor until that is closed.  Returns whether
 * something is read: a directory may be opened for its descriptor alone.
 */
static bool claim_file(const struct evidence *evidence, struct seen_call *first,
		       struct tally *tally)
{
	bool is_read = false;
	const struct seen_call *end = evidence->of + evidence->count;
	struct seen_call *seen;

	claim(tally, first, kind);
	for (seen = first + 1; seen < end && seen->window == first->window; seen++) {
		if (!uses(seen->call, (int)first->call->result))
			continue;
		if (!seen->claimed)
			claim(tally, seen, kind);
		is_read |= reads(seen->call);
		if (seen->call->nr == SYS_close)
			break;
	}
	return is_read;
}

void find_reopened(struct evidence *evidence)
{
	struct groups groups = { 0 };
	struct tally all = { 0 }, again = { 0 };
	double opened = 0, files = 0, most = 0;
	const struct traced_call *example = NULL;
	bool is_read = false;
	const char *read;
	struct finding finding = { .kind = kind };
	size_t i, k, size;

	for (i = 0; i < evidence->count; i++)
		if (opens_to_read(evidence->of[i].call) && !is_synced(evidence, &evidence->of[i]))
			groups_add(&groups, key_of(evidence->of[i].call), &evidence->of[i]);
	groups_sort(&groups);
	for (i = 0; i < groups.count; i += size) {
		struct tally file = { 0 };
		double times = 0;

		size = group_size(&groups, i);
		if (size < OFTEN)
			continue;
		for (k = i; k < i + size; k++) {
			is_read |= claim_file(evidence, groups.of[k].seen, &file);
			times += groups.of[k].seen->calls;
		}
		opened += times;
		files++;
		all.calls += file.calls;
		all.ns += file.ns;
		again.calls += file.calls * (1 - 1 / times);
		again.ns += file.ns * (1 - 1 / times);
		if (times > most) {
			most = times;
			example = groups.of[i].seen->call;
		}
	}
	groups_free(&groups);
	if (!example)
		return;
	read = is_read ? ", read" : "";
	finding.what = keep_text("%s %s opened%s and closed %.0f times, %s %.0f times",
				 counted(files, "file"), files > 1 ? "are" : "is", read, opened,
				 shown_path(example->paths[0]), most);
	if (files < 2)
		finding.what = keep_text("%s is opened%s and closed %.0f times",
					 shown_path(example->paths[0]), read, most);
	if (is_read)
		finding.cure = files > 1 ? "keeping them open, or keeping what they said," :
					   "keeping it open, or keeping what it said,";
	else
		finding.cure = files > 1 ? "keeping them open" : "keeping it open";
	finding.calls = all.calls;
	finding.cost = cost_of_tally(evidence, &all);
	finding.saved = cost_of_tally(evidence, &again);
	add_code_between(evidence, &finding);
	add_finding(evidence, finding);
}
