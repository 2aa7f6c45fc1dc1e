// SPDX-License-Identifier: MIT
/* Look-ups that found nothing: a name is tried in one directory after the other. */
#include <errno.h>
#include <string.h>

#include "../hash.h"
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "search";

#define OFTEN 3 /* look-ups of a name */

static bool finds_nothing(const struct traced_call *call)
{
	return (call->result == -ENOENT || call->result == -ENOTDIR) && call->paths[0] &&
	       *call->paths[0];
}

static uint64_t key_of_name(const struct traced_call *call)
{
	const char *slash = strrchr(call->paths[0], '/');

	return hash_text(slash ? slash + 1 : call->paths[0], 0);
}

static bool is_elsewhere(const struct traced_call *one, const struct traced_call *other)
{
	return strcmp(one->paths[0], other->paths[0]) != 0 ||
	       one->directory_id != other->directory_id;
}

/*
 * More than one: a name in one directory is asked for by several processes.  A relative path and an
 * absolute one may be the same.
 */
static bool has_several_paths(const struct member *first, size_t size)
{
	const struct traced_call *seen[2] = { NULL }; /* the first that is relative, and absolute */
	size_t i;

	for (i = 0; i < size; i++) {
		const struct traced_call *call = first[i].seen->call;
		const bool is_absolute = *call->paths[0] == '/';

		if (!seen[is_absolute])
			seen[is_absolute] = call;
		if (is_elsewhere(call, seen[is_absolute]))
			return true;
	}
	return false;
}

void find_failed_lookups(struct evidence *evidence)
{
	struct groups groups = { 0 };
	struct tally all = { 0 };
	struct finding finding;
	double names = 0, lookups = 0, most = 0;
	const char *example = NULL;
	size_t i, k, size;

	for (i = 0; i < evidence->count; i++) {
		struct seen_call *seen = &evidence->of[i];

		if (seen->call->paths[0])
			lookups += seen->calls;
		if (!seen->claimed && finds_nothing(seen->call))
			groups_add(&groups, key_of_name(seen->call), seen);
	}
	groups_sort(&groups);
	for (i = 0; i < groups.count; i += size) {
		struct tally name = { 0 };

		size = group_size(&groups, i);
		if (size < OFTEN || !has_several_paths(&groups.of[i], size))
			continue;
		for (k = i; k < i + size; k++)
			claim(&name, groups.of[k].seen, kind);
		names++;
		all.calls += name.calls;
		all.ns += name.ns;
		if (name.calls > most) {
			most = name.calls;
			example = groups.of[i].seen->call->paths[0];
		}
	}
	groups_free(&groups);
	if (!example)
		return;
	finding = (struct finding){
		.kind = kind,
		.what = keep_text("%s, %.0f %% of all, find nothing while %s %s tried "
				  "in several directories, %s %.0f times",
				  counted(all.calls, "look-up"), 100 * all.calls / lookups,
				  counted(names, "name"), names > 1 ? "are" : "is",
				  name_of_path(example), most),
		.cure = "a shorter search path, or keeping the places,",
		.calls = all.calls,
		.cost = cost_of_tally(evidence, &all),
		.saved = cost_of_tally(evidence, &all),
	};
	add_code_between(evidence, &finding);
	add_finding(evidence, finding);
}
