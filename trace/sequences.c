// SPDX-License-Identifier: MIT
#include "sequences.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "shapes.h"

#define LEAST_SHARE 0.01 /* of all crossings, that a sequence would save */

/* ---- runs ---- */

static bool same_kind(const struct run_of_calls *a, const struct run_of_calls *b)
{
	return a->nr == b->nr && a->failed == b->failed;
}

static struct line line_of(const struct window *window)
{
	struct line line = { .window = window };
	size_t i;

	line.runs = keep(window->count, sizeof(*line.runs));
	for (i = 0; i < window->count; i++) {
		const struct traced_call *call = &window->calls[i];
		struct run_of_calls run = { .nr = (short)call->nr,
					    .failed = call_failed(call),
					    .sequence = NO_SEQUENCE,
					    .first = (unsigned short)i,
					    .count = 1 };

		if (line.count && same_kind(&line.runs[line.count - 1], &run))
			line.runs[line.count - 1].count++;
		else
			line.runs[line.count++] = run;
	}
	return line;
}

const struct run_of_calls *sequence_run(const struct sequences *sequences, struct place place,
					size_t step)
{
	return &sequences->lines[place.line].runs[place.run + step];
}

const struct traced_call *sequence_call(const struct sequences *sequences, struct place place,
					size_t step, int n)
{
	const struct run_of_calls *run = sequence_run(sequences, place, step);

	return &sequences->lines[place.line]
			.window->calls[run->first + (n < 0 ? run->count + n : n)];
}

/* ---- a table of all candidates ---- */

struct candidate {
	struct place place; /* where it is first */
	size_t length;	    /* 0: this entry of the table is free */
	long count, calls;
};

struct table {
	struct candidate *of;
	size_t size; /* a power of two */
};

static size_t run_count(const struct sequences *sequences)
{
	size_t count = 0, i;

	for (i = 0; i < sequences->line_count; i++)
		count += sequences->lines[i].count;
	return count;
}

static bool same_runs(const struct sequences *sequences, struct place a, struct place b,
		      size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (!same_kind(sequence_run(sequences, a, i), sequence_run(sequences, b, i)))
			return false;
	return true;
}

/* FNV-1a over the runs. */
static uint64_t add_to_hash(uint64_t hash, const struct run_of_calls *run)
{
	return (hash ^ (uint64_t)(2 * run->nr + run->failed)) * 0x100000001b3;
}

static void count_candidate(const struct sequences *sequences, struct table *table,
			    struct place place, size_t length, uint64_t hash, long calls)
{
	size_t at = (hash ^ hash >> 32) & (table->size - 1);
	struct candidate *entry;

	for (;; at = (at + 1) & (table->size - 1)) {
		entry = &table->of[at];
		if (!entry->length ||
		    (entry->length == length && same_runs(sequences, entry->place, place, length)))
			break;
	}
	if (!entry->length)
		*entry = (struct candidate){ .place = place, .length = length };
	entry->count++;
	entry->calls += calls;
}

/* All candidates that begin at PLACE, up to what is taken already. */
static void count_from(const struct sequences *sequences, struct table *table, struct place place)
{
	const struct line *line = &sequences->lines[place.line];
	uint64_t hash = 0xcbf29ce484222325;
	long calls = 0;
	size_t length;

	for (length = 1; length <= SEQUENCE_RUNS; length++) {
		const struct run_of_calls *run = &line->runs[place.run + length - 1];

		if (place.run + length > line->count || run->sequence != NO_SEQUENCE)
			return;
		hash = add_to_hash(hash, run);
		calls += run->count;
		count_candidate(sequences, table, place, length, hash, calls);
	}
}

static void count_all(const struct sequences *sequences, struct table *table)
{
	struct place place;

	memset(table->of, 0, table->size * sizeof(*table->of));
	for (place.line = 0; place.line < sequences->line_count; place.line++)
		for (place.run = 0; place.run < sequences->lines[place.line].count; place.run++)
			count_from(sequences, table, place);
}

static bool has_border(const struct sequences *sequences, const struct candidate *candidate)
{
	size_t length;

	for (length = 1; length < candidate->length; length++) {
		struct place end = candidate->place;

		end.run += (unsigned int)(candidate->length - length);
		if (same_runs(sequences, candidate->place, end, length))
			return true;
	}
	return false;
}

/* Where two save as much, the one that comes first, so that the table's order has no influence. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
	const long gain_a = a->calls - a->count, gain_b = b->calls - b->count;

	if (gain_a != gain_b)
		return gain_a > gain_b;
	if (a->place.line != b->place.line)
		return a->place.line < b->place.line;
	if (a->place.run != b->place.run)
		return a->place.run < b->place.run;
	return a->length > b->length;
}

static bool is_rotation(const struct sequences *sequences, const struct candidate *a,
			const struct candidate *b)
{
	size_t shift, i;

	for (shift = 0; a->length == b->length && shift < a->length; shift++) {
		for (i = 0; i < a->length; i++)
			if (!same_kind(sequence_run(sequences, a->place, i),
				       sequence_run(sequences, b->place, (i + shift) % b->length)))
				break;
		if (i == a->length)
			return true;
	}
	return false;
}

/* How well a turn of a loop begins here: with what the other calls use, or with what happens. */
static int beginning(const struct sequences *sequences, const struct candidate *candidate)
{
	const struct traced_call *call = sequence_call(sequences, candidate->place, 0, 0);
	const struct call *shape = shape_of(call->nr);

	return shape && shape->result == 'd' ? 2 : waits_for_others(call);
}

/* A loop has as many turns from each of its calls, but for its ends. */
static const struct candidate *turn_of(const struct sequences *sequences, const struct table *table,
				       const struct candidate *best)
{
	const long least = (best->calls - best->count) * 9 / 10;
	const struct candidate *turn = best;
	size_t i;

	for (i = 0; i < table->size; i++) {
		const struct candidate *other = &table->of[i];
		int better;

		if (other->length != best->length || other->calls - other->count < least)
			continue;
		better = beginning(sequences, other) - beginning(sequences, turn);
		if ((better > 0 || (better == 0 && is_better(other, turn))) &&
		    is_rotation(sequences, best, other))
			turn = other;
	}
	return turn;
}

static const struct candidate *best_of(const struct sequences *sequences, const struct table *table)
{
	const struct candidate *best = NULL;
	size_t i;

	for (i = 0; i < table->size; i++) {
		const struct candidate *candidate = &table->of[i];

		if (candidate->count > 1 && (!best || is_better(candidate, best)) &&
		    !has_border(sequences, candidate))
			best = candidate;
	}
	if (best && (double)(best->calls - best->count) < LEAST_SHARE * (double)sequences->calls)
		return NULL;
	return best ? turn_of(sequences, table, best) : NULL;
}

/* ---- taking a sequence out ---- */

static bool is_free(const struct sequences *sequences, struct place place, size_t length)
{
	size_t i;

	if (place.run + length > sequences->lines[place.line].count)
		return false;
	for (i = 0; i < length; i++)
		if (sequence_run(sequences, place, i)->sequence != NO_SEQUENCE)
			return false;
	return true;
}

static void take(struct sequences *sequences, struct sequence *sequence, struct place place)
{
	struct run_of_calls *runs = &sequences->lines[place.line].runs[place.run];
	size_t i;

	for (i = 0; i < sequence->length; i++) {
		runs[i].sequence = (signed char)(sequence - sequences->of);
		sequence->calls += runs[i].count;
	}
	sequence->places[sequence->count++] = place;
}

static void take_out(struct sequences *sequences, const struct candidate *candidate)
{
	struct sequence *sequence = &sequences->of[sequences->count++];
	struct place place;

	sequence->length = candidate->length;
	sequence->places = keep((size_t)candidate->count, sizeof(*sequence->places));
	for (place.line = 0; place.line < sequences->line_count; place.line++) {
		place.run = 0;
		while (place.run < sequences->lines[place.line].count) {
			if (is_free(sequences, place, sequence->length) &&
			    same_runs(sequences, candidate->place, place, sequence->length)) {
				take(sequences, sequence, place);
				place.run += (unsigned int)sequence->length;
			} else {
				place.run++;
			}
		}
	}
}

/* ---- branches ---- */

static void count_followers(struct sequences *sequences, struct sequence *sequence)
{
	size_t i;

	for (i = 0; i < sequence->count; i++) {
		const struct line *line = &sequences->lines[sequence->places[i].line];
		const size_t next = sequence->places[i].run + sequence->length;

		if (next >= line->count)
			continue; /* the window ends here */
		if (line->runs[next].sequence == NO_SEQUENCE)
			sequence->followers[SEQUENCES_MAX]++;
		else
			sequence->followers[(size_t)line->runs[next].sequence]++;
	}
}

struct sequences *sequences_find(const struct windows *windows)
{
	struct sequences *sequences = keep(1, sizeof(*sequences));
	const struct candidate *best;
	struct table table = { .size = 1 };
	size_t i;

	sequences->lines = keep(windows->count, sizeof(*sequences->lines));
	sequences->line_count = windows->count;
	sequences->calls = (long)windows->calls;
	for (i = 0; i < windows->count; i++)
		sequences->lines[i] = line_of(windows->of[i]);
	while (table.size < 2 * SEQUENCE_RUNS * run_count(sequences))
		table.size *= 2;
	table.of = allocate(table.size, sizeof(*table.of));
	while (sequences->count < SEQUENCES_MAX) {
		count_all(sequences, &table);
		best = best_of(sequences, &table);
		if (!best)
			break;
		take_out(sequences, best);
	}
	free(table.of);
	for (i = 0; i < sequences->count; i++)
		count_followers(sequences, &sequences->of[i]);
	return sequences;
}
