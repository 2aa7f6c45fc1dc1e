// SPDX-License-Identifier: MIT
#include "start.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/rseq.h>
#include <unistd.h>

#include "binds.h"
#include "busy.h"
#include "carrier.h"
#include "cpu.h"
#include "create.h"
#include "end.h"
#include "home.h"
#include "monitor.h"
#include "lot.h"
#include "real.h"
#include "report.h"
#include "rest.h"
#include "signals.h"
#include "timer.h"
#include "watch.h"

static struct lock guard;
static enum { NOT_STARTED, STARTED, FAILED } state;
static const char *refusal;
static unsigned int waits_to_depart = 16;

/* ---- conditions ---- */

static bool has_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static const char *find_refusal(void)
{
	if (!can_set_thread_pointer())
		return "this machine has no instruction for the thread pointer (FSGSBASE)";
	if (getauxval(AT_SECURE))
		return "the program runs with privileges of its file";
	if (has_shadow_stack())
		return "shadow stacks are on";
	if (__rseq_size)
		return "libc uses rseq: set GLIBC_TUNABLES=glibc.pthread.rseq=0";
	if (has_symbol("__asan_init") || has_symbol("__tsan_init") || has_symbol("__msan_init"))
		return "the program was built with a sanitizer";
	if (has_symbol("runtime.rt0_go") || has_symbol("_cgo_topofstack"))
		return "the program is written in Go";
	return NULL;
}

const char *start_refusal(void)
{
	return refusal;
}

/* ---- fork ---- */

/* Only the caller of fork() lives on, at home for good; the layer is off until it starts anew. */
static void after_fork_in_child(void)
{
	struct thread *thread = &ferry_self;

	guard.word = 0;
	state = NOT_STARTED;
	thread->place = PLACE_NATIVE;
	thread->listed = thread->works = false;
	thread->called = thread->busy = thread->tid = 0;
	carriers_reset();
	create_reset();
	end_reset();
	homes_reset();
	lot_reset();
	monitor_reset();
	timer_reset();
	watch_reset();
	report_reset();
	rest_reset();
}

/* ---- starting ---- */

unsigned int start_waits(void)
{
	return waits_to_depart;
}

static int wanted_carriers(void)
{
	const char *text = getenv("FERRY_THREADS_CARRIERS");
	const int count = text ? atoi(text) : 0;

	if (count > 0 && count <= MOST_WANTED)
		return count;
	return carrier_cpus();
}

static bool start(void)
{
	if (watch_start())
		return false;
	signals_start();
	binds_start();
	if (carriers_start(wanted_carriers())) {
		watch_reset();
		return false;
	}
	return !monitor_start();
}

bool start_layer(void)
{
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != NOT_STARTED)
		return state == STARTED;
	busy_begin();
	lock_take(&guard);
	if (state == NOT_STARTED)
		__atomic_store_n(&state, start() ? STARTED : FAILED, __ATOMIC_RELEASE);
	lock_give(&guard);
	busy_end();
	return state == STARTED;
}

__attribute__((constructor(101))) static void load(void)
{
	const char *waits = getenv("FERRY_THREADS_AFTER");

	real_find();
	create_load();
	if (waits && *waits >= '0' && *waits <= '9')
		waits_to_depart = (unsigned int)atoi(waits);
	refusal = find_refusal();
	if (!refusal && watch_load())
		refusal = "there is no memory for the table of descriptors";
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

__attribute__((destructor)) static void unload(void)
{
	report_at_exit();
}
