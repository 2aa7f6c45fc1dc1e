// SPDX-License-Identifier: MIT
#include "busy.h"

#include "home.h"
#include "lot.h"

static bool call_again(struct thread *thread, const void *data)
{
	(void)data;
	if (__atomic_load_n(&thread->called, __ATOMIC_SEQ_CST) &&
	    wait_claim(thread, WAIT_CALLED) == CLAIMED_PARKED)
		wait_resume(thread);
	return false;
}

void busy_catch_up(void)
{
	unsigned int deferred;

	while ((deferred = __atomic_exchange_n(&ferry_self.deferred, 0, __ATOMIC_RELAXED))) {
		if (deferred & DEFERRED_LOT)
			lot_wake_all();
		if (deferred & DEFERRED_CALLS)
			home_find(call_again, NULL);
	}
}
