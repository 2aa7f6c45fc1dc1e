// SPDX-License-Identifier: MIT
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include <ferry.h>

#include "common/memory.h"
#include "common/record.h"
#include "names.h"
#include "shapes.h"

#define PLACES_MAX 1000 /* that are looked at */
#define MOST 0.95	/* of the places: an exception may be another branch */
#define CHOICES 4

/* One argument, in all places. */
struct view {
	const struct sequences *sequences;
	const struct sequence *sequence;
	size_t step;
	int arg;
	bool later; /* the second call of a run, with the first as what came before */
};

/* ---- one place ---- */

static size_t place_count(const struct view *view)
{
	return view->sequence->count < PLACES_MAX ? view->sequence->count : PLACES_MAX;
}

/* The call whose argument it is, or NULL where the run has no second call. */
static const struct traced_call *consumer(const struct view *view, size_t place)
{
	const struct place at = view->sequence->places[place];

	if (view->later && sequence_run(view->sequences, at, view->step)->count < 2)
		return NULL;
	return sequence_call(view->sequences, at, view->step, view->later);
}

/* A call of the step FROM before it. */
static const struct traced_call *producer(const struct view *view, size_t place, size_t from)
{
	return sequence_call(view->sequences, view->sequence->places[place], from,
			     from == view->step ? 0 : -1);
}

/* Whether ADDRESS is where CALL put something. */
static bool is_filled(const struct traced_call *call, unsigned long address)
{
	const struct call *shape = shape_of(call->nr);
	int k;

	for (k = 0; kind_of(shape, k) && !call_failed(call); k++)
		if (strchr("rsx", kind_of(shape, k)) && call->args[k] &&
		    address - call->args[k] < call_argument_size(shape, k, call->args))
			return true;
	return false;
}

static bool is_result(const struct traced_call *call, char kind, unsigned long value)
{
	const struct call *shape = shape_of(call->nr);

	return shape && shape->result == kind && !call_failed(call) &&
	       (unsigned long)call->result == value;
}

static bool same_path(const struct traced_call *a, const struct traced_call *b)
{
	return a->paths[0] && b->paths[0] && !strcmp(a->paths[0], b->paths[0]);
}

/* ---- all places ---- */

enum question { IS_RESULT, IS_FILLED, IS_START, IS_SAME_PATH };

static bool answer(const struct view *view, enum question question,
		   const struct traced_call *before, const struct traced_call *call, char kind)
{
	const unsigned long value = call->args[view->arg];
	int buffer;

	switch (question) {
	case IS_RESULT:
		return is_result(before, kind, value);
	case IS_FILLED:
		return is_filled(before, value);
	case IS_START:
		buffer = first_argument(shape_of(before->nr), "r");
		return buffer >= 0 && before->args[buffer] == value;
	default:
		return same_path(before, call);
	}
}

/* Whether it is so in most places. */
static bool mostly(const struct view *view, enum question question, size_t from, char kind)
{
	size_t i, asked = 0, yes = 0;

	for (i = 0; i < place_count(view); i++) {
		const struct traced_call *call = consumer(view, i);

		if (!call)
			continue;
		asked++;
		yes += answer(view, question, producer(view, i, from), call, kind);
	}
	return asked && (double)yes >= MOST * (double)asked;
}

static bool is_constant(const struct view *view, bool is_path)
{
	const struct traced_call *first = NULL;
	size_t i;

	for (i = 0; i < place_count(view); i++) {
		const struct traced_call *call = consumer(view, i);

		if (!call)
			continue;
		if (!first)
			first = call;
		if (is_path ? !same_path(call, first) :
			      call->args[view->arg] != first->args[view->arg])
			return false;
	}
	return true;
}

/* Flags and other choices have few values; what is computed, such as an offset, has many. */
static bool is_choice(const struct view *view)
{
	unsigned long seen[CHOICES];
	size_t count = 0, i, k;

	for (i = 0; i < place_count(view); i++) {
		const struct traced_call *call = consumer(view, i);

		if (!call)
			continue;
		for (k = 0; k < count && seen[k] != call->args[view->arg]; k++)
			;
		if (k == CHOICES)
			return false;
		if (k == count)
			seen[count++] = call->args[view->arg];
	}
	return true;
}

/* ---- what a step leaves behind ---- */

static const struct traced_call *sample(const struct view *view, size_t step)
{
	return sequence_call(view->sequences, view->sequence->places[0], step, -1);
}

static bool fills_buffer(const struct traced_call *call)
{
	return !call_failed(call) && first_argument(shape_of(call->nr), "r") >= 0;
}

/* Something that a program may compute a number from. */
static bool informs(const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);

	if (call_failed(call) || !shape)
		return !call_failed(call);
	return shape->result || first_argument(shape, "rsx") >= 0;
}

static bool reports_descriptors(const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);

	return shape && shape->waits == WAITS_FOR_EVENT && shape->result == 'l';
}

static bool returns_address(const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);

	return shape && shape->result == 'a';
}

/* ---- one argument ---- */

/* The last step before it of which TEST is true, or -1. */
static int last_that(const struct view *view, bool (*test)(const struct traced_call *call))
{
	int from = (int)view->step - !view->later;

	while (from >= 0 && !test(sample(view, (size_t)from)))
		from--;
	return from;
}

/* The last step before it that answers QUESTION, or -1. */
static int last_with(const struct view *view, enum question question, char kind)
{
	int from = (int)view->step - !view->later;

	while (from >= 0 && !mostly(view, question, (size_t)from, kind))
		from--;
	return from;
}

static struct argument from_user(struct argument argument, int from)
{
	if (from >= 0) {
		argument.source = SOURCE_USER;
		argument.from = from;
	}
	return argument;
}

/* What a pointer leads to may depend on whatever was read before. */
static struct argument pointer_source(const struct view *view, struct argument argument)
{
	const int filled = last_with(view, IS_FILLED, argument.kind);
	const int same = argument.kind == 'p' ? last_with(view, IS_SAME_PATH, 0) : -1;

	if (filled >= 0 && argument.kind == 'w' && mostly(view, IS_START, (size_t)filled, 0)) {
		argument.source = SOURCE_BUFFER;
		argument.from = filled;
		return argument;
	}
	if (filled >= 0)
		return from_user(argument, filled);
	if (argument.source == SOURCE_CONSTANT && !sample(view, view->step)->args[view->arg])
		return argument; /* NULL */
	/* A path that an earlier step had is known as early as that step. */
	if (same >= 0 || (argument.kind == 'p' && argument.source == SOURCE_CONSTANT))
		return argument;
	return from_user(argument, last_that(view, fills_buffer));
}

static struct argument value_source(const struct view *view, struct argument argument)
{
	const int result = last_with(view, IS_RESULT, argument.kind);

	if (result >= 0 && !view->later) {
		argument.source = SOURCE_RESULT;
		argument.from = result;
		return argument;
	}
	if (argument.source == SOURCE_CONSTANT)
		return argument;
	if (argument.kind == 'd')
		return from_user(argument, last_that(view, reports_descriptors));
	if (argument.kind == 'a')
		return from_user(argument, last_that(view, returns_address));
	if (argument.kind == 'n' && is_choice(view))
		return argument;
	return from_user(argument, last_that(view, informs));
}

static struct argument source_of(const struct view *view, char kind)
{
	struct argument argument = { .kind = kind, .from = -1 };

	argument.source = is_constant(view, kind == 'p') ? SOURCE_CONSTANT : SOURCE_BEFORE;
	if (strchr("pwt", kind))
		return pointer_source(view, argument);
	if (strchr("dlna", kind))
		return value_source(view, argument);
	return argument; /* where to put something: any place will do */
}

/* ---- one step ---- */

static const char *kind_name(char kind)
{
	return kind == 'd' ? "a descriptor" :
	       kind == 'p' ? "a path" :
	       kind == 'w' ? "data" :
	       kind == 'a' ? "an address" :
	       kind == 't' ? "a structure" :
			     "a number";
}

static const char *why_user(const struct view *view, const struct argument *argument)
{
	return keep_text("%s takes %s that the program may compute from what %s returned",
			 name_of_call(sample(view, view->step)->nr), kind_name(argument->kind),
			 name_of_call(sample(view, (size_t)argument->from)->nr));
}

/* A file is ready at once, whereas a pipe, a socket or a terminal waits for the other end. */
static bool waits(const struct traced_call *call)
{
	static const char *const ready[] = { "/dev/null", "/dev/zero", "/dev/urandom", NULL };
	const struct call *shape = shape_of(call->nr);

	if (!shape || shape->waits != WAITS_FOR_FILE)
		return waits_for_others(call);
	if (!call->file || call->file[0] != '/')
		return true;
	return is_device(call->file) && !is_among(call->file, ready);
}

/* Whether STEP gives up memory that was mapped in this batch: the program uses it in between. */
static bool ends_use(const struct step *step, size_t batch)
{
	return step->nr == SYS_munmap && step->args[0].source == SOURCE_RESULT &&
	       step->args[0].from >= (int)batch;
}

/* The results of steps before BATCH have come back to the program anyway. */
static void look_at_arguments(struct view *view, struct step *step, size_t batch)
{
	const struct call *shape = shape_of(step->nr);
	struct argument later;

	for (view->arg = 0; view->arg < step->arg_count; view->arg++) {
		const char kind = kind_of(shape, view->arg);
		struct argument *argument = &step->args[view->arg];

		view->later = false;
		*argument = source_of(view, kind);
		if (argument->source == SOURCE_USER && argument->from >= (int)batch) {
			step->begins_batch = true;
			step->why = why_user(view, argument);
		}
		view->later = true;
		later = source_of(view, kind);
		if (later.source == SOURCE_USER && later.from == (int)view->step) {
			step->alone = true;
			step->why = why_user(view, &later);
		}
	}
}

static struct step step_of(struct view *view, size_t batch)
{
	const struct traced_call *call = sample(view, view->step);
	const struct call *shape = shape_of(call->nr);
	const char *blocked = ferry_blocked_reason(call->nr);
	struct step step = { .nr = call->nr, .failed = call_failed(call) };

	if (blocked || !shape) {
		step.begins_batch = step.alone = true;
		step.why = blocked ?
				   keep_text("%s %s", name_of_call(call->nr), blocked) :
				   keep_text("the meaning of the arguments of %s is not known here",
					     name_of_call(call->nr));
		return step;
	}
	step.arg_count = shape->most;
	if (waits(call)) {
		step.begins_batch = view->step > 0;
		step.why = keep_text("%s may block", name_of_call(call->nr));
	}
	look_at_arguments(view, &step, batch);
	if (ends_use(&step, batch)) {
		step.begins_batch = true;
		step.why = "the program uses the memory of mmap before munmap";
	}
	return step;
}

/* ---- the sequence ---- */

static double calls_per_turn(const struct view *view)
{
	double calls = 0;
	size_t i;

	for (i = 0; i < view->sequence->count; i++)
		calls +=
			sequence_run(view->sequences, view->sequence->places[i], view->step)->count;
	return calls / (double)view->sequence->count;
}

static void count_batches(struct plan *plan)
{
	const struct step *step;

	for (step = plan->steps; step < plan->steps + plan->length; step++) {
		plan->calls += step->calls;
		if (step->alone)
			plan->batches += step->calls;
		else if (step == plan->steps || step->begins_batch || step[-1].alone)
			plan->batches++;
		if (!plan->why && (step->begins_batch || step->alone))
			plan->why = step->why;
	}
	plan->verdict = !plan->why			    ? BATCH_ENTIRELY :
			plan->calls - plan->batches > 0.001 ? BATCH_IN_PARTS :
							      BATCH_NOT;
}

/* The places that the next turn follows at once, as a sequence of two turns. */
static struct sequence pairs_of(const struct sequence *sequence)
{
	struct sequence pairs = { .length = 2 * sequence->length };
	size_t i;

	pairs.places = allocate(sequence->count, sizeof(*pairs.places));
	for (i = 0; i + 1 < sequence->count; i++) {
		const struct place place = sequence->places[i], next = sequence->places[i + 1];

		if (next.line == place.line && next.run == place.run + sequence->length)
			pairs.places[pairs.count++] = place;
	}
	return pairs;
}

/* Whether no call of the second turn takes what the program may compute from the first. */
static bool fit_together(const struct sequences *sequences, const struct sequence *pairs)
{
	struct view view = { .sequences = sequences, .sequence = pairs };
	const size_t turn = pairs->length / 2;

	for (view.step = turn; view.step < pairs->length; view.step++) {
		const struct step step = step_of(&view, 0);

		if (step.begins_batch || step.alone)
			return false;
	}
	return true;
}

/* Turns that need a batch each may all be in one. */
static void join_turns(struct plan *plan, const struct sequences *sequences,
		       const struct sequence *sequence)
{
	struct sequence pairs = pairs_of(sequence);

	if (pairs.count && fit_together(sequences, &pairs))
		plan->batches = (double)(sequence->count - pairs.count) / (double)sequence->count;
	free(pairs.places);
}

struct plan plan_of(const struct sequences *sequences, const struct sequence *sequence,
		    double scale)
{
	struct plan plan = { .length = sequence->length, .turns = (double)sequence->count * scale };
	struct view view = { .sequences = sequences, .sequence = sequence };
	size_t batch = 0;

	for (view.step = 0; view.step < sequence->length; view.step++) {
		struct step *step = &plan.steps[view.step];

		*step = step_of(&view, batch);
		step->calls = calls_per_turn(&view);
		if (step->begins_batch)
			batch = view.step;
		if (step->alone)
			batch = view.step + 1;
	}
	count_batches(&plan);
	if (plan.verdict == BATCH_ENTIRELY)
		join_turns(&plan, sequences, sequence);
	return plan;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = { "entirely", "in parts", "not" };

	return names[verdict];
}
