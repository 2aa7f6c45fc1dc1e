// SPDX-License-Identifier: MIT
/*
 * The home of a carried thread is a loop at the top of the thread's stack, above its frames.  It
 * is a host like a carrier: the thread's context is switched out, its home is called by a futex,
 * and switches onto the same stack with the same thread pointer.
 *
 * All signals but libc's for set*id() are blocked there.  A signal for the thread stays pending,
 * and is taken when the thread is at home, on its own stack, with its own mask.
 */
#include "home.h"

#include <string.h>
#include <sys/auxv.h>

#include "binds.h"
#include "busy.h"
#include "carrier.h"
#include "cpu.h"
#include "end.h"
#include "lock.h"
#include "report.h"
#include "rest.h"
#include "signals.h"
#include "start.h"
#include "untried.h"
#include "wait.h"

#define TRIP_COST 4 /* a trip home costs what so many carried waits save */
#define SCORE_TO_BIND (-256)
#define SCORE_MOST 256
#define HOGS_TO_BIND 3

__thread struct thread ferry_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

static struct {
	struct lock lock;
	struct link threads;
	struct work ended; /* of the threads that have ended */
} all;

/* ---- the loop of a home ---- */

unsigned long home_room(void)
{
	static unsigned long room;
	unsigned long frame;

	if (room)
		return room;
	frame = getauxval(AT_MINSIGSTKSZ); /* of a signal's frame, with all registers */
	if (frame < 2048)
		frame = 2048;
	room = (3 * frame + 6144) & ~63UL; /* and its handler's, and this loop's */
	return room;
}

static void call_home(struct thread *thread)
{
	__atomic_store_n(&thread->home_word, 1, __ATOMIC_RELEASE);
	futex_wake(&thread->home_word, 1);
}

/* Runs with the thread pointer of a thread that runs elsewhere: it must leave its TLS alone. */
static void home_loop(struct thread *thread)
{
	for (;;) {
		thread->after(thread);
		while (!__atomic_load_n(&thread->home_word, __ATOMIC_ACQUIRE))
			futex_wait(&thread->home_word, 0, -1);
		thread->home_word = 0;
		thread->host = &thread->home;
		ferry_threads_switch(&thread->home.sp, thread->sp, thread->tp);
	}
}

void home_prepare(struct thread *thread, void *top)
{
	thread->home.sp = (void *)(((unsigned long)top & ~15UL) - CONTEXT_SIZE);
	thread->tp = thread->home.tp = thread_pointer();
}

/* Only now: a thread that never leaves does not touch this page. */
static void build_home(struct thread *thread)
{
	ferry_threads_context(thread->home.sp, home_loop, thread);
}

/* Not inlined: nothing that depends on the host may be kept across it. */
__attribute__((noinline)) void home_leave_host(struct thread *thread)
{
	struct host *host = thread->host;

	ferry_threads_switch(&thread->sp, host->sp, host->tp);
}

static void arrive(const char *reason)
{
	struct thread *thread = &ferry_self;

	report_home(reason);
	thread->place = PLACE_HOME;
	thread->after = call_home;
	home_leave_host(thread);
}

/* ---- departing ---- */

static struct thread *of_link(struct link *link)
{
	return (struct thread *)((char *)link - offsetof(struct thread, all));
}

static void list(struct thread *thread)
{
	busy_begin();
	lock_take(&all.lock);
	list_append(&all.threads, &thread->all);
	thread->listed = thread->works = true;
	lock_give(&all.lock);
	busy_end();
}

static void add_work(struct work *work, const struct thread *thread)
{
	int kind;

	for (kind = 0; kind < CALL_KINDS; kind++)
		work->calls[kind] += __atomic_load_n(&thread->work[kind], __ATOMIC_RELAXED);
	work->cpu += cpu_ns(thread->tid) - thread->cpu_before;
}

/* With the lock held: from now on, what THREAD does is the same in both ways. */
static void end_work(struct thread *thread)
{
	if (!thread->works)
		return;
	add_work(&all.ended, thread);
	thread->works = false;
}

static void settle(struct thread *thread, const char *reason)
{
	if (!is_busy()) { /* a handler may interrupt who has the lock */
		busy_begin();
		lock_take(&all.lock);
		end_work(thread);
		lock_give(&all.lock);
		busy_end();
	}
	thread->place = PLACE_NATIVE;
	thread->bound = reason;
	report_bound(reason);
}

static void leave_home(struct thread *thread)
{
	const uint64_t mask = signals_block();
	uint64_t pending;

	/* In a handler: the function that it interrupted goes on at home. */
	if (mask != thread->mask) {
		signals_set(mask);
		return;
	}
	thread->signal_stack = signals_stack();
	/* Before the look at what is pending: who sends a signal later sees that it must call. */
	__atomic_store_n(&thread->place, PLACE_CARRIED, __ATOMIC_SEQ_CST);
	if (is_over()) {
		settle(thread, "a seccomp filter for all threads");
		signals_set(thread->mask);
		return;
	}
	pending = signals_pending();
	thread->held = pending & thread->mask;
	if (pending & ~thread->mask)
		__atomic_fetch_or(&thread->called, CALL_SIGNAL, __ATOMIC_SEQ_CST);
	thread->host = &thread->home;
	thread->after = carrier_push;
	home_leave_host(thread);
}

static bool can_leave(struct thread *thread)
{
	if (thread->filtered || is_over())
		settle(thread, "a seccomp filter");
	else if (!start_layer())
		settle(thread, "no carriers");
	else if (thread->domain != binds_domain())
		settle(thread, "privileges or placement of its own");
	return thread->place == PLACE_NEW;
}

/* For its first departure. */
static void prepare(struct thread *thread)
{
	thread->cpu_before = cpu_ns(home_tid());
	thread->work[CALL_OF_DESCRIPTOR] = thread->work[CALL_OF_LOCK] = 0;
	thread->last = thread->tid % carrier_state.made;
	build_home(thread);
	list(thread);
	report_count(COUNT_CARRIED);
}

/* Unlike a trip home for a call, it says nothing about the thread. */
static bool rest(struct thread *thread)
{
	if (thread->place != PLACE_CARRIED)
		return false;
	arrive("rest");
	thread->place = PLACE_NEW;
	signals_set(thread->mask);
	return false;
}

bool home_depart(void)
{
	struct thread *thread = &ferry_self;

	if (thread->hogged >= HOGS_TO_BIND && is_watched() && start_waits())
		home_bind("computes for long");
	if (is_rest())
		return rest(thread);
	if (thread->place != PLACE_NEW || is_busy())
		return thread->place == PLACE_CARRIED;
	if ((is_untried(thread) && !untried_wait()) || !can_leave(thread))
		return false;
	thread->budget = CALL_BUDGET;
	if (is_untried(thread))
		prepare(thread);
	leave_home(thread);
	return thread->place == PLACE_CARRIED;
}

/* ---- going home ---- */

void home_enter(const char *reason)
{
	struct thread *thread = &ferry_self;

	if (thread->place != PLACE_CARRIED)
		return;
	arrive(reason);
	thread->score -= TRIP_COST;
	signals_set(thread->mask);
}

void home_leave(void)
{
	struct thread *thread = &ferry_self;

	if (thread->place != PLACE_HOME)
		return;
	if (thread->score < SCORE_TO_BIND)
		settle(thread, "goes home too often");
	else if (thread->hogged >= HOGS_TO_BIND)
		settle(thread, "computes for long");
	else if (thread->cancelled)
		settle(thread, "cancelled");
	else if (is_rest())
		thread->place = PLACE_NEW;
	else
		leave_home(thread);
}

void home_score(struct thread *thread)
{
	if (thread->score < SCORE_MOST)
		thread->score++;
}

void home_bind(const char *reason)
{
	struct thread *thread = &ferry_self;

	home_enter(reason);
	if (thread->place != PLACE_NATIVE && thread->tp)
		settle(thread, reason);
}

/* ---- being called ---- */

void home_call(struct thread *thread, int what)
{
	/* Before the claim: arm() reads it after it has opened the wait to claims. */
	__atomic_fetch_or(&thread->called, what, __ATOMIC_SEQ_CST);
	if (is_busy()) {
		busy_defer(DEFERRED_CALLS);
		return;
	}
	busy_begin();
	if (wait_claim(thread, WAIT_CALLED) == CLAIMED_PARKED)
		wait_resume(thread);
	busy_end();
}

long home_answer(bool restarts, bool cancellation_point)
{
	struct thread *thread = &ferry_self;
	const int called = __atomic_exchange_n(&thread->called, 0, __ATOMIC_SEQ_CST);
	long result = 0;

	if (thread->place == PLACE_CARRIED) {
		arrive("called");
		if (called & CALL_SIGNAL && signals_end_call(thread->mask, restarts))
			result = -EINTR;
		signals_set(thread->mask); /* handlers run here */
	}
	if (called & CALL_BIND && thread->place != PLACE_NATIVE)
		settle(thread, thread->bound ? thread->bound : "bound by another thread");
	if (thread->cancelled && cancellation_point)
		pthread_testcancel();
	if (thread->place == PLACE_HOME)
		home_leave();
	return result;
}

void home_end(void)
{
	struct thread *thread = &ferry_self;

	home_enter("the end of the thread");
	thread->place = PLACE_NATIVE;
	if (!thread->listed)
		return;
	busy_begin();
	lock_take(&all.lock);
	list_remove(&thread->all);
	end_work(thread);
	thread->listed = false;
	lock_give(&all.lock);
	busy_end();
}

struct thread *home_find(bool (*visit)(struct thread *thread, const void *data), const void *data)
{
	struct thread *found = NULL;
	struct link *link;

	if (is_busy()) /* a handler: the thread that it interrupted may have the lock */
		return NULL;
	busy_begin();
	lock_take(&all.lock);
	for (link = all.threads.next; link && link != &all.threads && !found; link = link->next) {
		if (visit(of_link(link), data))
			found = of_link(link);
	}
	/* It may end as soon as the lock is released: VISIT itself must call it. */
	lock_give(&all.lock);
	busy_end();
	return found;
}

void home_read_work(struct work *work)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	struct link *link;
	int i;

	busy_begin();
	lock_take(&all.lock);
	*work = all.ended;
	for (link = all.threads.next; link && link != &all.threads; link = link->next) {
		if (!of_link(link)->works)
			continue;
		add_work(work, of_link(link));
		work->threads++;
	}
	lock_give(&all.lock);
	busy_end();
	for (i = 0; i < made; i++)
		work->cpu += cpu_ns(__atomic_load_n(&carriers[i].tid, __ATOMIC_ACQUIRE));
	work->time = now_ns();
}

int64_t home_cpu(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void homes_reset(void)
{
	memset(&all, 0, sizeof(all));
}
