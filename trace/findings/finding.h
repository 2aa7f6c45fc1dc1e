/* SPDX-License-Identifier: MIT */
/* Waste that was found in a program, and the cure. */
#ifndef TRACE_FINDINGS_FINDING_H
#define TRACE_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "../costs.h"
#include "../stacks/site.h"

struct finding {
	const char *kind;    /* a word that stays the same */
	const char *what;    /* a clause with the count: "900 calls of stat ask again ..." */
	const char *cure;    /* the subject of a clause: "keeping the answers" */
	double calls;	     /* that are a part of it; of page faults and switches, these */
	struct figure cost;  /* ns: the CPU time of these calls; of waits, their time on the wall */
	struct figure saved; /* ns of the same by the cure */
	struct figure indirect; /* ns of CPU time more that the cure saves, as the calls evict
				   nothing then; 0: none, or not known */
	double between_ns; /* CPU time of the code between these calls, besides what of it SAVED has
			    */
	bool waits;	   /* the time is on the wall, and others may use the CPU */
	struct sites sites; /* where these calls are made, if stacks were taken */
	double share;	    /* of the CPU time of the program, or of its time on the wall; or NAN */
};

/* The one that saves most comes first. */
struct findings {
	struct finding *of; /* kept */
	size_t count;
};

/** FINDING as one sentence, kept. */
const char *finding_sentence(const struct finding *finding);

/** Whether it is worth changing the program for. */
bool finding_is_notable(const struct finding *finding);

#endif /* TRACE_FINDINGS_FINDING_H */
