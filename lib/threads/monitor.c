// SPDX-License-Identifier: MIT
/*
 * A carrier is replaced if threads wait, or nobody waits for events, and its thread sleeps in the
 * kernel or has computed for long.  One that was merely preempted is not: another would only make
 * the CPUs busier.
 */
#include "monitor.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "carrier.h"
#include "end.h"
#include "real.h"
#include "report.h"
#include "rest.h"
#include "signals.h"
#include "start.h"
#include "timer.h"

#ifndef REST_TRIAL
#define TICK 2000000L /* ns */
#else
#define TICK 50000L
#endif
#ifndef MARK_LATE
#define MARK_LATE 0L /* ns between a look at a carrier and its mark */
#endif
#define SHORT_TICK 40000L /* after a carrier was replaced: the next one may run into the same */
#define LONG_COMPUTING 4000000L /* ns of CPU time in one go */
#define SHORT_TICKS 5
#define MOST_EXTRA 64 /* carriers, while each new one is held as well */
#define QUIET_TICKS 5 /* all carriers idle: the monitor sleeps */
#define MONITOR_STACK (128 << 10)

static int asleep; /* futex: 1 while the monitor sleeps */
static int hurry;  /* short ticks, still to come */

void monitor_wake(void)
{
	if (__atomic_load_n(&asleep, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&asleep, 0, __ATOMIC_SEQ_CST))
		futex_wake(&asleep, 1);
}

static bool all_idle(void)
{
	return __atomic_load_n(&carrier_state.idle, __ATOMIC_SEQ_CST) >=
		       __atomic_load_n(&carrier_state.running, __ATOMIC_SEQ_CST) &&
	       !carrier_has_work();
}

/* Going idle and leaving it are followed by monitor_wake(), so no work is overlooked. */
static void sleep_while_idle(void)
{
	__atomic_store_n(&asleep, 1, __ATOMIC_SEQ_CST);
	if (!all_idle())
		__atomic_store_n(&asleep, 0, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST))
		if (futex_wait(&asleep, 1, rest_due()) == -ETIMEDOUT)
			return;
}

static void pause_for(long ns)
{
	const struct timespec span = { 0, ns };

	raw3(SYS_nanosleep, (long)&span, 0, 0);
}

static bool sleeps_in_kernel(int tid)
{
	char path[64], text[256], *state;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	if (read_text(path, text, sizeof(text)) < 0)
		return true; /* a chroot without /proc: rather a carrier too many than none */
	state = strrchr(text, ')');
	return state && (state[2] == 'S' || state[2] == 'D');
}

/* Whether CARRIER has run the same thread since the last tick, and why that is too long. */
static bool is_held(struct carrier *carrier)
{
	const unsigned long switches = __atomic_load_n(&carrier->switches, __ATOMIC_RELAXED);

	if (switches != carrier->seen) {
		carrier->seen = switches;
		carrier->cpu_seen = cpu_ns(carrier->tid);
		return false;
	}
	if (cpu_ns(carrier->tid) - carrier->cpu_seen > LONG_COMPUTING) {
		__atomic_store_n(&carrier->hogged, true, __ATOMIC_RELAXED);
		return true;
	}
	return sleeps_in_kernel(carrier->tid);
}

static bool is_newly_held(struct carrier *carrier)
{
	return __atomic_load_n(&carrier->current, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&carrier->stuck, __ATOMIC_ACQUIRE) && is_held(carrier);
}

/* Whoever clears the mark counts the carrier again: the carrier itself between two threads. */
static bool replace(struct carrier *carrier)
{
	if (MARK_LATE)
		pause_for(MARK_LATE);
	__atomic_store_n(&carrier->stuck, true, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&carrier_state.running, 1, __ATOMIC_SEQ_CST);
	/* Its thread has ended its turn meanwhile: idle, it would not look for the mark. */
	if (!__atomic_load_n(&carrier->current, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&carrier->stuck, false, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&carrier_state.running, 1, __ATOMIC_SEQ_CST);
		return false;
	}
	report_count(COUNT_STUCK);
	return true;
}

static bool is_needed(void)
{
	return carrier_has_work() || !__atomic_load_n(&carrier_state.idle, __ATOMIC_SEQ_CST);
}

/* More threads may be about to hold their carriers: these are replaced sooner and by more. */
static void make_haste(void)
{
	int extra = __atomic_load_n(&carrier_state.extra, __ATOMIC_RELAXED);

	if (hurry)
		extra = extra ? 2 * extra : 1;
	if (extra > MOST_EXTRA)
		extra = MOST_EXTRA;
	__atomic_store_n(&carrier_state.extra, extra, __ATOMIC_RELAXED);
	hurry = SHORT_TICKS;
}

static void take_time(void)
{
	if (!hurry)
		return;
	hurry--;
	if (!hurry)
		__atomic_store_n(&carrier_state.extra, 0, __ATOMIC_RELAXED);
}

static void replace_held(void)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	bool any = false;
	int i, missing;

	for (i = 0; i < made; i++)
		if (is_newly_held(&carriers[i]) && replace(&carriers[i]))
			any = true;
	if (any)
		make_haste();
	missing = carriers_allowed() - __atomic_load_n(&carrier_state.running, __ATOMIC_SEQ_CST);
	for (i = 0; i < missing; i++)
		carrier_add();
}

static void tick(void)
{
	take_time();
	timer_expire();
	if (start_waits())
		rest_judge(now_ns());
	if (!is_needed())
		return;
	if (carrier_has_work() && __atomic_load_n(&carrier_state.idle, __ATOMIC_SEQ_CST))
		carrier_kick();
	else
		replace_held();
}

static void *monitor_main(void *argument)
{
	int quiet = 0;

	(void)argument;
	raw3(SYS_prctl, PR_SET_NAME, (long)"ferry-monitor", 0);
	raw3(SYS_prctl, PR_SET_TIMERSLACK, 1, 0); /* ns: by default longer than a short tick */
	while (!carriers_end()) {
		pause_for(hurry ? SHORT_TICK : TICK);
		tick();
		quiet = all_idle() ? quiet + 1 : 0;
		if (quiet >= QUIET_TICKS)
			sleep_while_idle();
	}
	end_count(-1);
	return NULL;
}

int monitor_start(void)
{
	pthread_attr_t attributes;
	pthread_t pthread;
	uint64_t mask;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, MONITOR_STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	mask = signals_block();
	error = real()->pthread_create(&pthread, &attributes, monitor_main, NULL);
	signals_set(mask);
	pthread_attr_destroy(&attributes);
	if (!error)
		end_count(1);
	return error;
}

void monitor_reset(void)
{
	asleep = hurry = 0;
}
