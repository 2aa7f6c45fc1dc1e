/* SPDX-License-Identifier: MIT */
/* What the BPF programs have counted: at a moment, or between two. */
#ifndef TRACE_BPF_COUNTED_H
#define TRACE_BPF_COUNTED_H

#include "object.h"

struct counted {
	struct bpf_count calls[NUMBERS];
	struct bpf_spent spent; /* by all threads, those that run included */
	struct bpf_faults faults;
	struct bpf_children children;
	uint64_t alive, threads, not_followed;
	uint64_t sent, lost, stacks, missed;
};

/** All until now. */
void count(struct bpf *bpf, struct counted *counted);

/** Takes BEFORE off NOW: what happened since then, with the threads that lived then. */
void count_since(struct counted *now, const struct counted *before);

#endif /* TRACE_BPF_COUNTED_H */
