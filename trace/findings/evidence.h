/* SPDX-License-Identifier: MIT */
/*
 * What findings are made from: the calls of the sample, each with its whole cost and the number of
 * calls that it stands for.  A call is a part of one finding only, so their savings add up.
 */
#ifndef TRACE_FINDINGS_EVIDENCE_H
#define TRACE_FINDINGS_EVIDENCE_H

#include <stdint.h>

#include "../call.h"
#include "../collect.h"
#include "../costs.h"
#include "../savings.h"
#include "../totals.h"
#include "../untraced.h"
#include "../windows.h"
#include "finding.h"

struct seen_call {
	const struct traced_call *call;
	double calls;	     /* of the program that it stands for */
	double ns;	     /* CPU time of one, with the crossing */
	uint32_t window;     /* calls of one are neighbours */
	const char *claimed; /* by a finding of this kind, or NULL */
};

struct evidence {
	struct seen_call *of;
	size_t count;
	double error_of_calls; /* relative: of what is scaled up from the sample */
	double error_of_ns;    /* relative, of each call */
	struct figure fixed;   /* ns of each call that were measured apart from it */

	const struct totals *totals;
	const struct costs *costs;
	const struct times *times;
	const struct collected *collected;
	const struct conclusions *conclusions;
	double cpu_ns, wall_ns; /* of the program, or NAN */
	struct findings findings;
};

/* ---- sums ---- */

struct tally {
	double calls, ns;
};

/** Adds SEEN, of whose calls PART is meant. */
static inline void tally_add(struct tally *tally, const struct seen_call *seen, double part)
{
	tally->calls += seen->calls * part;
	tally->ns += seen->calls * seen->ns * part;
}

/** Adds SEEN, which no finding of another KIND may claim from now on. */
static inline void claim(struct tally *tally, struct seen_call *seen, const char *kind)
{
	seen->claimed = kind;
	tally_add(tally, seen, 1);
}

/** The CPU time of the calls in TALLY with its error. */
struct figure cost_of_tally(const struct evidence *evidence, const struct tally *tally);

/* ---- calls that are alike ---- */

struct member {
	uint64_t key;
	struct seen_call *seen;
};

struct groups {
	struct member *of;
	size_t count, room;
};

void groups_add(struct groups *groups, uint64_t key, struct seen_call *seen);

/** Brings those with one key together, in the order in which they were added. */
void groups_sort(struct groups *groups);

/** How many from AT on have its key. */
size_t group_size(const struct groups *groups, size_t at);

void groups_free(struct groups *groups);

/* ---- findings ---- */

/** Adds FINDING, whose share is computed here, unless it saves nothing. */
void add_finding(struct evidence *evidence, struct finding finding);

/**
 * Adds to FINDING half of the code between two calls in a row that are both a part of it: from
 * none to all of it may go with them, as far as it takes no longer than the calls.
 */
void add_code_between(const struct evidence *evidence, struct finding *finding);

/** The last part of PATH, or the beginning of a long path; printable, kept. */
const char *name_of_path(const char *path);
const char *shown_path(const char *path);

/** A number as text with the noun, which has an s at its end unless the number is 1; kept. */
const char *counted(double number, const char *noun);

/* One of each kind; those that come first claim calls first. */
void find_reopened(struct evidence *evidence);
void find_questions(struct evidence *evidence);
void find_values(struct evidence *evidence);
void find_failed_lookups(struct evidence *evidence);
void find_clocks(struct evidence *evidence);
void find_tiny(struct evidence *evidence);
void find_split(struct evidence *evidence);
void find_growth(struct evidence *evidence);
void find_bulk(struct evidence *evidence);
void find_syncs(struct evidence *evidence);
void find_locks(struct evidence *evidence);
void find_one_by_one(struct evidence *evidence);
void find_switches(struct evidence *evidence);
void find_faults(struct evidence *evidence);
void find_processes(struct evidence *evidence);

/** Whether CALL has started a process. */
bool starts_process(const struct traced_call *call);

/** What all calls cost indirectly, ns. */
struct figure indirect_cost(const struct evidence *evidence);

/** Adds to FINDINGS what their calls cost indirectly. */
void add_indirect(const struct evidence *evidence, struct findings *findings);

/** All findings, ranked by what they save. */
struct findings find_waste(struct evidence *evidence);

/** How long one took on the wall, ns. */
double wall_of(const struct seen_call *seen);

/** Gives TOTALS the times of the calls. */
void add_times(const struct evidence *evidence, struct totals *totals);

/** The evidence of a trace, with OF to free(); CPU_NS and WALL_NS are the program's, or NAN. */
struct evidence collect_evidence(const struct windows *windows, const struct totals *totals,
				 const struct costs *costs, const struct times *times,
				 const struct collected *collected,
				 const struct conclusions *conclusions, double cpu_ns,
				 double wall_ns);

#endif /* TRACE_FINDINGS_EVIDENCE_H */
