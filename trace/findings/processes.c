// SPDX-License-Identifier: MIT
/* Processes that live for moments: most of their time is their own start and end. */
#include <math.h>
#include <sched.h>
#include <sys/syscall.h>

#include "../names.h"
#include "common/memory.h"
#include "evidence.h"

#define OFTEN 20 /* a pipeline of different programs has fewer, which work */

/* The flags of clone3() are in the memory of the program. */
bool starts_process(const struct traced_call *call)
{
	static const char *const names[] = { "fork", "vfork", "clone", NULL };

	if (call->result <= 0 || !is_among(name_of_call(call->nr), names))
		return false;
	return call->nr != SYS_clone || !(call->args[0] & CLONE_THREAD);
}

/* ptrace(2) does not tell how long they lived: as many as were started, and no work of their own.
 */
static double cpu_ns_of(const struct evidence *evidence, const struct tally *starts, double *count)
{
	const struct collected *collected = evidence->collected;

	if (collected->empty_call.value > 0) {
		*count = collected->children;
		return collected->children_cpu_ns + starts->ns;
	}
	*count = starts->calls;
	return starts->calls < OFTEN ? 0 : starts->calls * measure_process().value;
}

void find_processes(struct evidence *evidence)
{
	struct tally starts = { 0 };
	double whole, count;
	size_t i;

	for (i = 0; i < evidence->count; i++)
		if (starts_process(evidence->of[i].call))
			tally_add(&starts, &evidence->of[i], 1);
	whole = cpu_ns_of(evidence, &starts, &count);
	if (count < OFTEN)
		return;
	add_finding(
		evidence,
		(struct finding){
			.kind = "processes",
			.what = keep_text("%.0f processes live for moments, %.3f ms of CPU time "
					  "each with their start",
					  count, whole / count / 1e6),
			.cure = "a shell's own commands, or one process for many things,",
			.calls = count,
			.cost = { whole, whole * evidence->error_of_ns },
			.saved = { whole, whole * fmax(0.2, evidence->error_of_ns) },
		});
}
