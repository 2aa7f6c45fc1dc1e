// SPDX-License-Identifier: MIT
#include <math.h>

#include "../indirect.h"
#include "common/memory.h"
#include "evidence.h"

#define LEAST_SHARE 0.01 /* of the program's time that is worth a change, */
#define LEAST_NS 100e3	 /* or of its time where that is not known */

#define SAID 0.25 /* of a saving: less code between its calls is not worth a word */

const char *finding_sentence(const struct finding *finding)
{
	const char *share = "", *indirect = "", *between = "";

	if (!isnan(finding->share))
		share = keep_text(", %.1f %% of its %s", 100 * finding->share,
				  finding->waits ? "time" : "CPU time");
	if (finding->indirect.value > 0 && indirect_is_known(finding->indirect))
		indirect = keep_text(", and %.3f ms (error %.3f) that the calls cost indirectly",
				     finding->indirect.value / 1e6, finding->indirect.error / 1e6);
	if (finding->between_ns > SAID * finding->saved.value)
		between = keep_text(
			" Of the code between these calls, %.3f ms more may go with them.",
			finding->between_ns / 1e6);
	return keep_text("%s, which takes %.3f ms; %s would save %.3f ms (error %.3f)%s%s.%s",
			 finding->what, finding->cost.value / 1e6, finding->cure,
			 finding->saved.value / 1e6, finding->saved.error / 1e6, share, indirect,
			 between);
}

bool finding_is_notable(const struct finding *finding)
{
	return isnan(finding->share) ? finding->saved.value >= LEAST_NS :
				       finding->share >= LEAST_SHARE;
}

/* In a row, and both a part of the finding. */
static bool goes_on(const struct seen_call *seen, const char *kind)
{
	return seen->window == seen[-1].window && seen->claimed == kind && seen[-1].claimed == kind;
}

void add_code_between(const struct evidence *evidence, struct finding *finding)
{
	const double empty = evidence->collected->empty_between.value;
	double timed = 0, all = 0, between = 0, whole = 0;
	size_t i;

	if (isnan(evidence->fixed.value))
		return;
	for (i = 1; i < evidence->count; i++) {
		const struct seen_call *seen = &evidence->of[i];

		if (!goes_on(seen, finding->kind))
			continue;
		all += seen->calls;
		if (isnan(seen->call->cpu_ns))
			continue;
		timed += seen->calls;
		between += seen->calls * fmax(0, fmin(seen->call->between_ns - empty, seen->ns));
		whole += seen->calls * fmax(0, seen->call->between_ns - empty);
	}
	between *= timed ? all / timed : 0;
	whole *= timed ? all / timed : 0;
	finding->between_ns = whole - between / 2;
	finding->cost.value += between / 2;
	finding->saved.value += between / 2;
	/* The deviation of a uniform distribution. */
	finding->saved.error = hypot(finding->saved.error, between / sqrt(12));
	finding->cost.error = hypot(finding->cost.error, between / sqrt(12));
}

/* No cure saves more than the program takes, whatever the errors. */
void add_finding(struct evidence *evidence, struct finding finding)
{
	const double whole = finding.waits ? evidence->wall_ns : evidence->cpu_ns;
	struct findings *findings = &evidence->findings;

	if (!(finding.saved.value > 0))
		return;
	if (!isnan(whole)) {
		finding.cost.value = fmin(finding.cost.value, whole);
		finding.saved.value = fmin(finding.saved.value, whole);
	}
	finding.share = finding.saved.value / whole;
	findings->of = keep_more(findings->of, findings->count, sizeof(finding));
	findings->of[findings->count++] = finding;
}
