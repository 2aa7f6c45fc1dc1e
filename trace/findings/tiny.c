// SPDX-License-Identifier: MIT
/* Reads and writes of few bytes, each of which goes on where the one before ended. */
#include "../savings.h"
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "tiny";

static const char *reads_and_writes(double reads, double writes)
{
	if (!reads)
		return counted(writes, "write");
	if (!writes)
		return counted(reads, "read");
	return keep_text("%s and %s", counted(reads, "read"), counted(writes, "write"));
}

void find_tiny(struct evidence *evidence)
{
	struct tally all = { 0 }, needless = { 0 };
	double bytes = 0, reads = 0;
	struct finding finding;
	size_t i, at = 0;

	for (i = 0; i < evidence->count; i++) {
		struct seen_call *seen = &evidence->of[i];

		at = i && seen->window == seen[-1].window ? at + 1 : 0;
		if (seen->claimed || !is_needless_transfer(seen->call, at))
			continue;
		claim(&all, seen, kind);
		tally_add(&needless, seen, 1 - (double)seen->call->result / LARGE);
		bytes += seen->calls * (double)seen->call->result;
		reads += reads_data(seen->call) ? seen->calls : 0;
	}
	if (!all.calls)
		return;
	finding = (struct finding){
		.kind = kind,
		.what = keep_text("%s of %s on average go on where the one before ended",
				  reads_and_writes(reads, all.calls - reads),
				  counted(bytes / all.calls, "byte")),
		.cure = "a buffer of 64 KiB",
		.calls = all.calls,
		.cost = cost_of_tally(evidence, &all),
		.saved = cost_of_tally(evidence, &needless),
	};
	add_code_between(evidence, &finding);
	add_finding(evidence, finding);
}
