// SPDX-License-Identifier: MIT
#include "uring_trial.h"

#include <time.h>

/* A signal handler may add to what it interrupts: a sum that is off by a run does no harm. */
struct trial {
	unsigned long slots[URING_WAYS];
	double best[URING_WAYS]; /* ns per slot of the fastest run; 0: none */
};

/* Initial-exec: a signal handler may be the first to touch it.  One for writes, one for reads. */
static _Thread_local struct trial trials[2] __attribute__((tls_model("initial-exec")));

static bool is_complete(const struct trial *trial)
{
	return trial->slots[URING_BY_LOOP] >= URING_TRIAL_SLOTS &&
	       trial->slots[URING_BY_RING] >= URING_TRIAL_SLOTS;
}

enum uring_way ferry__uring_trial_way(bool reads)
{
	const struct trial *trial = &trials[reads];

	if (trial->slots[URING_BY_LOOP] < URING_TRIAL_SLOTS)
		return URING_BY_LOOP;
	if (!is_complete(trial))
		return URING_BY_RING;
	return trial->best[URING_BY_RING] < trial->best[URING_BY_LOOP] ? URING_BY_RING :
									 URING_BY_LOOP;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

long ferry__uring_trial_start(bool reads)
{
	return is_complete(&trials[reads]) ? 0 : now();
}

void ferry__uring_trial_note(bool reads, enum uring_way way, unsigned long slots, long start)
{
	struct trial *trial = &trials[reads];
	double each = (double)(now() - start) / (double)slots;

	trial->slots[way] += slots;
	if (!trial->best[way] || each < trial->best[way])
		trial->best[way] = each;
}
