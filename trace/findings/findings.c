// SPDX-License-Identifier: MIT
/* All kinds of waste. */
#include <stdlib.h>

#include "evidence.h"

static int by_saving(const void *a, const void *b)
{
	const struct finding *one = a, *other = b;

	return (one->saved.value < other->saved.value) - (one->saved.value > other->saved.value);
}

struct findings find_waste(struct evidence *evidence)
{
	find_reopened(evidence);
	find_questions(evidence);
	find_values(evidence);
	find_failed_lookups(evidence);
	find_clocks(evidence);
	find_tiny(evidence);
	find_split(evidence);
	find_growth(evidence);
	find_bulk(evidence);
	find_syncs(evidence);
	find_locks(evidence);
	find_one_by_one(evidence);
	find_switches(evidence);
	find_faults(evidence);
	find_processes(evidence);
	if (evidence->findings.count)
		qsort(evidence->findings.of, evidence->findings.count,
		      sizeof(*evidence->findings.of), by_saving);
	return evidence->findings;
}
