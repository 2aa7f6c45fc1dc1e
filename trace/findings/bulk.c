// SPDX-License-Identifier: MIT
/* One call for many files. */
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "files";

void find_bulk(struct evidence *evidence)
{
	const struct way way = evidence->costs->statx_many;
	struct tally all = { 0 };
	size_t i;

	for (i = 0; i < evidence->count; i++)
		if (!evidence->of[i].claimed && asks_attributes(evidence->of[i].call))
			claim(&all, &evidence->of[i], kind);
	if (way.missing || !all.calls || way.saved.value <= way.saved.error)
		return;
	add_finding(evidence,
		    (struct finding){
			    .kind = kind,
			    .what = keep_text("%s ask%s for the attributes of a file each",
					      counted(all.calls, "call"), all.calls > 1 ? "" : "s"),
			    .cure = "ferry_statx_many() or ferry_walk(), on all CPUs,",
			    .calls = all.calls,
			    .cost = cost_of_tally(evidence, &all),
			    .saved = { all.calls * way.saved.value, all.calls * way.saved.error },
		    });
}
