// SPDX-License-Identifier: MIT
#include "counted.h"

/* Structures of the counts that the kernel keeps, as arrays of numbers. */
static void add(void *sum, const void *more, size_t size, int64_t sign)
{
	int64_t *numbers = sum;
	const int64_t *others = more;
	size_t i;

	for (i = 0; i < size / sizeof(*numbers); i++)
		numbers[i] += sign * others[i];
}

void count(struct bpf *bpf, struct counted *counted)
{
	const volatile struct bpf_state *state = bpf->state;
	struct bpf_spent running;
	uint32_t nr;

	*counted = (struct counted){
		.spent = state->spent,
		.faults = state->faults,
		.children = state->children,
		.alive = state->alive,
		.threads = state->threads,
		.not_followed = state->not_followed,
		.sent = state->sent,
		.lost = state->lost,
		.stacks = state->stacks_sent,
		.missed = bpf_missed(bpf),
	};
	if (!bpf_tally(bpf)) {
		running = state->running;
		add(&counted->spent, &running, sizeof(running), 1);
	}
	for (nr = 0; nr < NUMBERS; nr++)
		counted->calls[nr] = bpf_count_of(bpf, nr);
}

void count_since(struct counted *now, const struct counted *before)
{
	const uint64_t alive = now->alive;

	add(now, before, sizeof(*now), -1);
	now->threads += before->alive;
	now->alive = alive;
}
