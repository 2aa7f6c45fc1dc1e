/* SPDX-License-Identifier: MIT */
/* What tracing by BPF costs a program: by what it does, measured with this process. */
#ifndef TRACE_BPF_COST_H
#define TRACE_BPF_COST_H

#include "../costs.h"
#include "../windows.h"
#include "object.h"

/* What a program does: calls, by what the kernel looks at if they are in the sample, and others. */
enum deed {
	AT_NOTHING,
	AT_FILE,
	AT_PATH,
	AT_BOTH,
	LOOKS,
	FAULT = LOOKS, /* of a page */
	TURN,	       /* a thread comes to a CPU */
	THREAD,	       /* begins and ends */
	DEEDS
};

/* How long the kernel's program took to send calls of the sample, by what it looked at. */
struct sendings {
	double ns[LOOKS], count[LOOKS];
};

/* The call before in a window, if it was timed: its end tells when that began. */
struct sending {
	double since;
	enum deed deed;
};

/* ns. */
struct tracing_cost {
	struct figure of[DEEDS];     /* each, outside of the sample */
	struct figure sent[LOOKS];   /* besides: a call in it */
	struct figure timed[LOOKS];  /* besides: one whose beginning was noted */
	struct figure stack;	     /* besides: of one that is sent */
	struct figure empty_call;    /* what the clock shows of a call that no kernel has */
	struct figure empty_between; /* and of the time between two such calls */
	struct sendings sendings;    /* of the calls that were measured */
};

/* How many there were. */
struct traced_events {
	double calls, sent, timed, stacks, faults, turns, threads;
};

/** Measures it, while nobody else is traced, and leaves BPF attached: 0 or -errno. */
int measure_tracing(struct bpf *bpf, bool stacks, struct tracing_cost *cost);

/** Adds to SENDINGS what CALL tells of the call LAST before it, which it becomes. */
void note_sending(struct sendings *sendings, struct sending *last, const struct bpf_call *call);

/**
 * ns: of EVENTS, whose calls are like those of WINDOWS, and were sent as SENDINGS say: what took
 * longer than in a loop, took longer everywhere.
 */
struct figure cost_of_events(const struct tracing_cost *cost, const struct windows *windows,
			     const struct sendings *sendings, const struct traced_events *events);

#endif /* TRACE_BPF_COST_H */
