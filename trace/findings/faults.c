// SPDX-License-Identifier: MIT
/* Page faults in a row: one line for each way to have fewer of them. */
#include <math.h>

#include "common/memory.h"
#include "evidence.h"

static void add_way(struct evidence *evidence, struct way way, double faults, const char *row,
		    const char *cure)
{
	const struct figure fault = evidence->costs->fault;

	if (way.missing || faults < 1 || way.saved.value <= way.saved.error)
		return;
	add_finding(
		evidence,
		(struct finding){
			.kind = "faults",
			.what = keep_text("%s, %.0f %% of all, map one page after the other in "
					  "rows of %s and more",
					  counted(faults, "page fault"),
					  100 * fmin(1, faults / evidence->collected->faults), row),
			.cure = cure,
			.calls = faults,
			.cost = { faults * fault.value, faults * fault.error },
			.saved = { faults * way.saved.value,
				   faults * hypot(way.saved.error, way.saved.value * 0.1) },
		});
}

void find_faults(struct evidence *evidence)
{
	const struct costs *costs = evidence->costs;
	const struct collected *collected = evidence->collected;

	if (!collected->sees_faults)
		return;
	add_way(evidence, costs->large_pages, collected->faults_in_long_rows, "512",
		"large pages, by madvise(MADV_HUGEPAGE),");
	add_way(evidence, costs->several_pages, collected->faults_in_rows, "16",
		"several pages per fault, by MADV_HUGEPAGE and hugepages-64kB,");
	add_way(evidence, costs->prefault, collected->faults_in_rows, "16",
		"mapping them ahead, by ferry_prefault() or MAP_POPULATE,");
}
