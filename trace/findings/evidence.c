// SPDX-License-Identifier: MIT
#include "evidence.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../names.h"
#include "../shapes.h"
#include "common/memory.h"

#define ERROR_OF_MODEL 0.5 /* relative: of calls that were not timed */
#define ERROR_OF_TIMER 0.05

/* ---- the cost of a call ---- */

/* Without a time of its own: what the like of it costs on this machine. */
static double cost_by_model(const struct costs *costs, const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);
	const double crossing = costs->crossing.value;

	if (is_transfer(call->nr) && call->file && is_device(call->file))
		return costs->tiny_device.saved.value;
	if (is_transfer(call->nr) && call->file && !strncmp(call->file, "pipe:", 5))
		return costs->tiny_pipe.saved.value;
	if (is_transfer(call->nr))
		return fmax(costs->tiny_read.saved.value, crossing);
	if (shape && shape->result == 'd' && first_argument(shape, "p") >= 0)
		return 2 * costs->path_call.value;
	if (first_argument(shape, "p") >= 0)
		return costs->path_call.value;
	return crossing;
}

/* Of one number: the CPU time of those that were timed. */
struct mean {
	double ns, calls;
};

static double cost_of_call(const struct evidence *evidence, const struct traced_call *call,
			   const struct mean means[])
{
	const struct mean mean = means[call->nr];
	const double least = evidence->costs->crossing.value / 2;

	if (!mean.calls || isnan(evidence->fixed.value))
		return cost_by_model(evidence->costs, call);
	if (isnan(call->cpu_ns))
		return fmax(least, mean.ns / mean.calls + evidence->fixed.value);
	return fmax(least, call->cpu_ns + evidence->fixed.value);
}

struct figure cost_of_tally(const struct evidence *evidence, const struct tally *tally)
{
	const double error = hypot(evidence->error_of_calls, evidence->error_of_ns);

	return (struct figure){ tally->ns,
				hypot(tally->calls * evidence->fixed.error, tally->ns * error) };
}

/* ---- the calls ---- */

/* How many calls each call of the sample stands for. */
static void find_scales(const struct windows *windows, const struct totals *totals, double scales[],
			struct mean means[])
{
	size_t i, k;
	int nr;

	for (i = 0; i < windows->count; i++)
		for (k = 0; k < windows->of[i]->count; k++) {
			const struct traced_call *call = &windows->of[i]->calls[k];

			scales[call->nr]++;
			if (isnan(call->cpu_ns))
				continue;
			means[call->nr].ns += call->cpu_ns;
			means[call->nr].calls++;
		}
	for (nr = 0; nr <= CALL_OTHER; nr++)
		scales[nr] = scales[nr] ? fmax(1, (double)totals->of[nr].calls / scales[nr]) : 0;
}

static void add_window(struct evidence *evidence, uint32_t number, const struct window *window,
		       const double scales[], const struct mean means[])
{
	size_t k;

	for (k = 0; k < window->count; k++) {
		const struct traced_call *call = &window->calls[k];

		evidence->of[evidence->count++] = (struct seen_call){
			.call = call,
			.calls = scales[call->nr],
			.ns = cost_of_call(evidence, call, means),
			.window = number,
		};
	}
}

struct evidence collect_evidence(const struct windows *windows, const struct totals *totals,
				 const struct costs *costs, const struct times *times,
				 const struct collected *collected,
				 const struct conclusions *conclusions, double cpu_ns,
				 double wall_ns)
{
	double *scales = allocate(CALL_OTHER + 1, sizeof(*scales));
	struct mean *means = allocate(CALL_OTHER + 1, sizeof(*means));
	struct evidence evidence = {
		.of = allocate(windows->calls + 1, sizeof(*evidence.of)),
		.totals = totals,
		.costs = costs,
		.times = times,
		.collected = collected,
		.conclusions = conclusions,
		.cpu_ns = cpu_ns,
		.wall_ns = wall_ns,
		.error_of_calls = conclusions->scale_error,
		.error_of_ns = ERROR_OF_MODEL,
		.fixed = { NAN, 0 },
	};
	size_t i;

	if (collected->empty_call.value > 0) {
		evidence.fixed.value = costs->crossing.value - collected->empty_call.value;
		evidence.fixed.error = hypot(costs->crossing.error, collected->empty_call.error);
		evidence.error_of_ns = ERROR_OF_TIMER;
	}
	find_scales(windows, totals, scales, means);
	for (i = 0; i < windows->count; i++)
		add_window(&evidence, (uint32_t)i, windows->of[i], scales, means);
	free(scales);
	free(means);
	return evidence;
}

double wall_of(const struct seen_call *seen)
{
	const struct traced_call *call = seen->call;

	if (isnan(call->cpu_ns))
		return call->wall_ns ? call->wall_ns : seen->ns + call->waited_ns;
	return seen->ns + fmax(0, call->wall_ns - call->cpu_ns);
}

void add_times(const struct evidence *evidence, struct totals *totals)
{
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		const struct seen_call *seen = &evidence->of[i];
		struct total *total = &totals->of[seen->call->nr];

		total->cpu_ns += seen->calls * seen->ns;
		total->wall_ns += seen->calls * wall_of(seen);
	}
	for (i = 0; i <= CALL_OTHER && isnan(evidence->fixed.value); i++)
		totals->of[i].cpu_ns = totals->of[i].wall_ns = NAN;
}

/* ---- groups ---- */

void groups_add(struct groups *groups, uint64_t key, struct seen_call *seen)
{
	if (groups->count == groups->room) {
		groups->room = groups->room ? 2 * groups->room : 256;
		groups->of = reallocate(groups->of, groups->room, sizeof(*groups->of));
	}
	groups->of[groups->count++] = (struct member){ key, seen };
}

static int by_key(const void *a, const void *b)
{
	const struct member *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return (one->seen > other->seen) - (one->seen < other->seen);
}

void groups_sort(struct groups *groups)
{
	if (groups->count)
		qsort(groups->of, groups->count, sizeof(*groups->of), by_key);
}

size_t group_size(const struct groups *groups, size_t at)
{
	size_t end = at;

	while (end < groups->count && groups->of[end].key == groups->of[at].key)
		end++;
	return end - at;
}

void groups_free(struct groups *groups)
{
	free(groups->of);
	*groups = (struct groups){ 0 };
}

/* ---- texts ---- */

#define SHOWN 60 /* characters of a path */

/* The traced program chooses its paths, and a terminal would obey them. */
const char *shown_path(const char *path)
{
	const size_t length = strlen(path);
	char *text =
		length > SHOWN ? keep_text("...%s", path + length - SHOWN) : keep_text("%s", path);
	char *byte;

	for (byte = text; *byte; byte++)
		if (iscntrl((unsigned char)*byte))
			*byte = '?';
	return text;
}

const char *name_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return shown_path(slash && slash[1] ? slash + 1 : path);
}

const char *counted(double number, const char *noun)
{
	return keep_text("%.0f %s%s", number, noun, fabs(number - 1) < 0.5 ? "" : "s");
}
