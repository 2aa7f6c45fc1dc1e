// SPDX-License-Identifier: MIT
/* The time by a system call, where the vDSO reads it. */
#include <math.h>

#include "../names.h"
#include "../savings.h"
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "clock";

void find_clocks(struct evidence *evidence)
{
	const struct figure saved = evidence->costs->vdso.saved;
	struct tally all = { 0 };
	struct figure cost;
	size_t i;

	for (i = 0; i < evidence->count; i++)
		if (!evidence->of[i].claimed && asks_clock_by_call(evidence->of[i].call))
			claim(&all, &evidence->of[i], kind);
	cost = cost_of_tally(evidence, &all);
	cost.value = fmax(cost.value, all.calls * saved.value);
	add_finding(evidence,
		    (struct finding){
			    .kind = kind,
			    .what = keep_text("%s for the time enter%s the kernel",
					      counted(all.calls, "call"), all.calls > 1 ? "" : "s"),
			    .cure = "the C library's clock_gettime(), which reads the vDSO,",
			    .calls = all.calls,
			    .cost = cost,
			    .saved = { all.calls * saved.value, all.calls * saved.error },
		    });
}
