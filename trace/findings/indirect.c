// SPDX-License-Identifier: MIT
/* What calls cost beyond their own time: see ../indirect.h. */
#include "../indirect.h"

#include <math.h>
#include <string.h>

#include "../shapes.h"
#include "evidence.h"

static struct figure indirect_of(const struct evidence *evidence, const struct seen_call *seen)
{
	const struct call *shape = shape_of(seen->call->nr);
	enum call_kind kind = OF_NOTHING;

	if (first_argument(shape, "p") >= 0)
		kind = OF_PATH;
	else if (first_argument(shape, "d") >= 0)
		kind = OF_FILE;
	return evidence->costs->indirect[kind];
}

#define LEAST_WORK 50 /* ns: a loop that makes one call after the other evicts nothing */

/* As far as it is known: with ptrace(2), any call may have work before it. */
static bool has_work_before(const struct evidence *evidence, const struct seen_call *seen)
{
	const double empty = evidence->collected->empty_between.value;

	return isnan(evidence->fixed.value) || seen->call->between_ns > empty + LEAST_WORK;
}

/* Its own time was taken, or nobody's was. */
static bool is_timed(const struct evidence *evidence, const struct seen_call *seen)
{
	return isnan(evidence->fixed.value) || !isnan(seen->call->cpu_ns);
}

/*
 * Of the calls of findings of this KIND, or of all for NULL; those without a time are taken to be
 * like the others.  All err in the same direction.
 */
static struct figure sum_of(const struct evidence *evidence, const char *kind)
{
	struct figure sum = { 0 };
	double all = 0, timed = 0;
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		const struct seen_call *seen = &evidence->of[i];
		const struct figure one = indirect_of(evidence, seen);

		if (kind && (!seen->claimed || strcmp(seen->claimed, kind) != 0))
			continue;
		all += seen->calls;
		if (!is_timed(evidence, seen))
			continue;
		timed += seen->calls;
		if (!has_work_before(evidence, seen))
			continue;
		sum.value += seen->calls * one.value;
		sum.error += seen->calls * one.error;
	}
	sum.value *= timed ? all / timed : 0;
	sum.error *= timed ? all / timed : 0;
	return sum;
}

/* No cost is more than what the program's time leaves to it. */
static struct figure within(struct figure cost, double left_ns)
{
	if (!isnan(left_ns))
		cost.value = fmin(cost.value, fmax(0, left_ns));
	return cost;
}

struct figure indirect_cost(const struct evidence *evidence)
{
	const double crossings = (double)evidence->totals->calls * evidence->costs->crossing.value;

	return within(sum_of(evidence, NULL), evidence->cpu_ns - crossings);
}

/* Where threads wait, the time on the wall is saved; and only calls that are not made evict
 * nothing. */
void add_indirect(const struct evidence *evidence, struct findings *findings)
{
	size_t i;

	for (i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->of[i];
		const double saved = fmin(1, finding->saved.value / finding->cost.value);

		if (finding->waits)
			continue;
		finding->indirect = sum_of(evidence, finding->kind);
		finding->indirect.value *= saved;
		finding->indirect.error *= saved;
		finding->indirect =
			within(finding->indirect, evidence->cpu_ns - finding->saved.value);
	}
}
