// SPDX-License-Identifier: MIT
#include "end.h"

#include "carrier.h"
#include "home.h"
#include "monitor.h"
#include "raw.h"
#include "watch.h"

#define PATIENCE 100 /* ms, with threads that compute or are held, and again with carriers */

int end_state;

static int present; /* kernel threads of the layer */
static bool done;

void end_count(int change)
{
	__atomic_fetch_add(&present, change, __ATOMIC_SEQ_CST);
}

static void nap(void)
{
	const struct timespec span = { 0, 1000000 };

	raw3(SYS_nanosleep, (long)&span, 0, 0);
}

struct summons {
	const char *reason;
	int *carried;
};

static bool summon(struct thread *thread, const void *data)
{
	const struct summons *summons = data;

	if (__atomic_load_n(&thread->place, __ATOMIC_SEQ_CST) != PLACE_CARRIED)
		return false;
	thread->bound = summons->reason;
	home_call(thread, CALL_BIND);
	++*summons->carried;
	return false;
}

static void call_all_home(const char *reason)
{
	int carried, i;

	for (i = 0; i < PATIENCE; i++) {
		carried = 0;
		home_find(summon, &(struct summons){ reason, &carried });
		if (!carried)
			return;
		nap();
	}
}

void end_layer(const char *reason)
{
	int i;

	if (__atomic_exchange_n(&end_state, OVER, __ATOMIC_SEQ_CST) != NOT_OVER) {
		while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
			nap();
		return;
	}
	call_all_home(reason);
	__atomic_store_n(&end_state, NO_CARRIERS, __ATOMIC_SEQ_CST);
	for (i = 0; i < PATIENCE && __atomic_load_n(&present, __ATOMIC_SEQ_CST); i++) {
		carriers_wake();
		monitor_wake();
		nap();
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
}

/* A child has the confinement of its parent, so the layer stays over there. */
void end_reset(void)
{
	present = 0;
	done = is_over();
}
