/* SPDX-License-Identifier: MIT */
/* The BPF programs in the kernel: loaded, attached, asked. */
#ifndef TRACE_BPF_OBJECT_H
#define TRACE_BPF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shared.h"

struct bpf_object;
struct bpf_link;
struct ring_buffer;

#define ATTACHED 7

struct bpf {
	struct bpf_object *object;
	struct bpf_link *links[ATTACHED];
	volatile struct bpf_state *state; /* the programs' own, mapped */
	struct ring_buffer *ring;

	/* what bpf_receive() calls */
	void (*take)(void *context, const struct bpf_call *call);
	void *context;
};

/**
 * Loads the programs; BPF must stay where it is.  Returns NULL, or why they cannot be loaded: a
 * sentence without its end, kept.
 */
const char *bpf_load(struct bpf *bpf);

/** Attaches those to their tracepoints that are not attached: 0 or -errno. */
int bpf_attach(struct bpf *bpf);

/** From now on, no call of the machine is slowed down. */
void bpf_detach(struct bpf *bpf);

/** Detaches the program at the beginning of calls, which times them, unless it is detached. */
void bpf_detach_begins(struct bpf *bpf);

void bpf_unload(struct bpf *bpf);

/** Follows all threads of STATE->process that are not followed yet: 0 or -errno. */
int bpf_follow(struct bpf *bpf);

/** Sets STATE->running to what the threads that are followed have used: 0 or -errno. */
int bpf_tally(struct bpf *bpf);

/** Follows nobody any longer, and counts anew. */
void bpf_restart(struct bpf *bpf);

/** Whether page faults are counted: not every kernel has a tracepoint for them. */
bool bpf_sees_faults(const struct bpf *bpf);

/** How often call NR was made. */
struct bpf_count bpf_count_of(const struct bpf *bpf, uint32_t nr);

/** How many runs of the programs the kernel left out, since they were running already. */
unsigned long bpf_missed(const struct bpf *bpf);

/** Calls BPF->take for each call in the ring. */
void bpf_receive(struct bpf *bpf);

#endif /* TRACE_BPF_OBJECT_H */
