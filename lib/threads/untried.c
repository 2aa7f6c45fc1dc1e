// SPDX-License-Identifier: MIT
/*
 * A try without waiting tells whether a call waits, but is one more call, and many threads end
 * soon.  So libc makes the first calls, and the kernel's count of switches tells of waits.
 */
#include "untried.h"

#include <sys/resource.h>

#include "home.h"
#include "raw.h"
#include "rest.h"
#include "start.h"

#define LOOK_EVERY 16		   /* calls */
#define CALLS_TO_SETTLE 2000	   /* without enough waits: it is an event loop, or computes */
#define CPU_PER_WAIT_WORTH 100000L /* ns: with more work between waits, a carrier gains nothing */
#define COUNTS_TO_BIND 4	   /* of waits, each with more: one may have been a handshake */

static int64_t cpu_of(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * NS_PER_S +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000L;
}

/* Returns the CPU time since the first look of this count of waits. */
static int64_t look(struct thread *thread)
{
	struct rusage usage = { 0 };
	unsigned int waits;

	raw3(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0);
	if (!thread->cpu_before) {
		thread->cpu_before = cpu_of(&usage) + 1;
		thread->switches = (unsigned int)usage.ru_nvcsw;
	}
	waits = (unsigned int)usage.ru_nvcsw - thread->switches;
	if (waits > thread->blocks)
		thread->blocks = waits;
	return cpu_of(&usage) - thread->cpu_before;
}

bool untried_call(void)
{
	struct thread *thread = &ferry_self;

	if (is_rest())
		return true;
	if (thread->blocks + 1 >= start_waits())
		return false;
	if (++thread->calls % LOOK_EVERY == 0)
		look(thread);
	if (thread->calls >= CALLS_TO_SETTLE)
		home_bind("waits seldom");
	return true;
}

bool untried_wait(void)
{
	struct thread *thread = &ferry_self;
	const unsigned int waits = start_waits();

	if (++thread->blocks == 1 && waits > 1)
		look(thread);
	if (thread->blocks < waits)
		return false;
	if (waits <= 1 || look(thread) / thread->blocks < CPU_PER_WAIT_WORTH)
		return true;
	if (++thread->computes == COUNTS_TO_BIND)
		home_bind("computes between its waits");
	thread->blocks = 0;
	thread->cpu_before = 0;
	return false;
}
