// SPDX-License-Identifier: MIT
#include "carrier.h"

#include <string.h>
#include <sys/prctl.h>

#include "cpu.h"
#include "end.h"
#include "monitor.h"
#include "real.h"
#include "report.h"
#include "signals.h"
#include "timer.h"
#include "wait.h"
#include "watch.h"

#define LOOK_EVERY 64		  /* switches */
#define CARRIER_STACK (128 << 10) /* for its loop and the handlers of libc's own signals */

struct carrier carriers[MOST_CARRIERS];
struct carrier_state carrier_state;

static int kicked;     /* an idle carrier is on its way */
static int spare_word; /* futex: changes when a spare is needed */

/* ---- queues ---- */

static void append(struct carrier *carrier, struct thread *thread)
{
	thread->next = NULL;
	lock_take(&carrier->queue.lock);
	if (!carrier->queue.end)
		carrier->queue.end = &carrier->queue.first;
	*carrier->queue.end = thread;
	carrier->queue.end = &thread->next;
	__atomic_store_n(&carrier->queue.length, carrier->queue.length + 1, __ATOMIC_RELAXED);
	lock_give(&carrier->queue.lock);
}

static struct thread *take(struct carrier *carrier)
{
	struct thread *thread;

	if (!__atomic_load_n(&carrier->queue.length, __ATOMIC_RELAXED))
		return NULL;
	lock_take(&carrier->queue.lock);
	thread = carrier->queue.first;
	if (thread) {
		carrier->queue.first = thread->next;
		if (!thread->next)
			carrier->queue.end = &carrier->queue.first;
		__atomic_store_n(&carrier->queue.length, carrier->queue.length - 1,
				 __ATOMIC_RELAXED);
	}
	lock_give(&carrier->queue.lock);
	return thread;
}

static struct thread *steal(const struct carrier *thief)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	struct thread *thread;
	int i;

	for (i = 1; i < made; i++) {
		thread = take(&carriers[(thief->index + i) % made]);
		if (thread)
			return thread;
	}
	return NULL;
}

/* Nobody runs the queue of a carrier that is stuck or spare, however busy the others are. */
static struct thread *relieve(void)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	struct thread *thread;
	int i;

	if (__atomic_load_n(&carrier_state.running, __ATOMIC_RELAXED) == made)
		return NULL;
	for (i = 0; i < made; i++) {
		if (!__atomic_load_n(&carriers[i].stuck, __ATOMIC_RELAXED) &&
		    !__atomic_load_n(&carriers[i].spare, __ATOMIC_RELAXED))
			continue;
		thread = take(&carriers[i]);
		if (thread)
			return thread;
	}
	return NULL;
}

bool carrier_has_work(void)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	int i;

	for (i = 0; i < made; i++)
		if (__atomic_load_n(&carriers[i].queue.length, __ATOMIC_RELAXED))
			return true;
	return false;
}

/* Without one, OWN soon runs itself what it pushes. */
static bool needs_another(struct carrier *own)
{
	return !own || __atomic_load_n(&own->stuck, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&own->queue.length, __ATOMIC_RELAXED) > 1;
}

void carrier_push(struct thread *thread)
{
	struct carrier *own = ferry_self.carrier;
	struct carrier *carrier = own ? own : &carriers[thread->last];

	append(carrier, thread);
	/* The queue before idle: a carrier counts itself as idle before it looks for work. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!needs_another(own))
		return;
	if (__atomic_load_n(&carrier_state.idle, __ATOMIC_RELAXED))
		carrier_kick();
	monitor_wake();
}

void carrier_kick(void)
{
	if (!__atomic_exchange_n(&kicked, 1, __ATOMIC_SEQ_CST)) {
		report_count(COUNT_KICKS);
		watch_kick();
	}
}

/* Before the queues are looked at: a push after that kicks again. */
void carrier_was_kicked(void)
{
	__atomic_store_n(&kicked, 0, __ATOMIC_SEQ_CST);
}

void carrier_look_soon(struct carrier *carrier)
{
	carrier->since_look = LOOK_EVERY;
}

/* ---- the loop ---- */

static void look(struct carrier *carrier, int64_t deadline)
{
	carrier->since_look = 0;
	watch_look(deadline);
	timer_expire();
}

static void wait_for_work(struct carrier *carrier)
{
	__atomic_fetch_add(&carrier_state.idle, 1, __ATOMIC_SEQ_CST);
	order_after_atomic(); /* idle before the queues: see carrier_push() */
	if (!carrier_has_work()) {
		__atomic_store_n(&carrier->sleeps, carrier->sleeps + 1, __ATOMIC_RELAXED);
		look(carrier, timer_next());
	}
	__atomic_fetch_sub(&carrier_state.idle, 1, __ATOMIC_SEQ_CST);
	order_after_atomic(); /* the monitor looks for the idle before it sleeps */
	monitor_wake();
}

/* A carrier that was stuck comes back, and there are enough. */
static void stand_aside(struct carrier *carrier)
{
	int word;

	if (__atomic_exchange_n(&carrier->stuck, false, __ATOMIC_ACQ_REL))
		__atomic_fetch_add(&carrier_state.running, 1, __ATOMIC_SEQ_CST);
	while (!carriers_end() &&
	       __atomic_load_n(&carrier_state.running, __ATOMIC_SEQ_CST) > carriers_allowed()) {
		word = __atomic_load_n(&spare_word, __ATOMIC_SEQ_CST);
		if (__atomic_sub_fetch(&carrier_state.running, 1, __ATOMIC_SEQ_CST) <
		    carriers_allowed()) {
			__atomic_fetch_add(&carrier_state.running, 1, __ATOMIC_SEQ_CST);
			continue;
		}
		__atomic_store_n(&carrier->spare, true, __ATOMIC_RELAXED);
		__atomic_fetch_add(&carrier_state.spares, 1, __ATOMIC_SEQ_CST);
		carrier_kick(); /* for what is in the queue, and for timers that were added here */
		while (__atomic_load_n(&spare_word, __ATOMIC_SEQ_CST) == word)
			futex_wait(&spare_word, word, -1);
		__atomic_fetch_sub(&carrier_state.spares, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&carrier->spare, false, __ATOMIC_RELAXED);
		__atomic_fetch_add(&carrier_state.running, 1, __ATOMIC_SEQ_CST);
	}
}

/* NULL: the layer is over. */
static struct thread *next_thread(struct carrier *carrier)
{
	struct thread *thread;

	for (;;) {
		stand_aside(carrier);
		thread = NULL;
		if (++carrier->since_look > LOOK_EVERY) {
			look(carrier, 0);
			thread = relieve();
		}
		if (!thread)
			thread = take(carrier);
		if (!thread)
			thread = steal(carrier);
		if (thread || carriers_end())
			return thread;
		wait_for_work(carrier);
	}
}

static void run(struct carrier *carrier, struct thread *thread)
{
	signals_follow(carrier, thread);
	thread->host = &carrier->host;
	thread->last = carrier->index;
	thread->carrier = carrier;
	__atomic_store_n(&carrier->current, thread, __ATOMIC_RELEASE);
	__atomic_store_n(&carrier->switches, carrier->switches + 1, __ATOMIC_RELAXED);
	ferry_threads_switch(&carrier->host.sp, thread->sp, thread->tp);
	__atomic_store_n(&carrier->current, NULL, __ATOMIC_RELEASE);
	thread->carrier = NULL;
	if (__atomic_load_n(&carrier->hogged, __ATOMIC_RELAXED)) {
		__atomic_store_n(&carrier->hogged, false, __ATOMIC_RELAXED);
		thread->hogged++;
	}
	thread->after(thread); /* which may give the thread away: it is not ours any more */
}

static void *carrier_main(void *argument)
{
	struct carrier *carrier = argument;
	struct thread *thread;

	raw3(SYS_prctl, PR_SET_NAME, (long)"ferry-carrier", 0);
	carrier->host.tp = thread_pointer();
	carrier->mask = signals_block();
	carrier->mask = ~0UL; /* unlike any thread's: the first one sets it */
	__atomic_store_n(&carrier->tid, (int)raw3(SYS_gettid, 0, 0, 0), __ATOMIC_RELEASE);
	ferry_self.carrier = carrier; /* for carrier_push() from this loop */
	while ((thread = next_thread(carrier)))
		run(carrier, thread);
	__atomic_store_n(&carrier->tid, 0, __ATOMIC_RELEASE); /* the number may be used again */
	end_count(-1);
	return NULL;
}

/* ---- creating ---- */

static int create(void)
{
	const int index = __atomic_load_n(&carrier_state.made, __ATOMIC_RELAXED);
	pthread_attr_t attributes;
	pthread_t pthread;
	uint64_t mask;
	int error;

	if (index == MOST_CARRIERS)
		return EAGAIN;
	carriers[index].index = index;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, CARRIER_STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	mask = signals_block();
	error = real()->pthread_create(&pthread, &attributes, carrier_main, &carriers[index]);
	signals_set(mask);
	pthread_attr_destroy(&attributes);
	if (error)
		return error;
	end_count(1);
	__atomic_fetch_add(&carrier_state.running, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&carrier_state.made, index + 1, __ATOMIC_RELEASE);
	return 0;
}

int carriers_start(int count)
{
	int i, error;

	carrier_state.wanted = carrier_state.used = count;
	for (i = 0; i < count; i++) {
		error = create();
		if (error && !i)
			return error;
	}
	return 0;
}

/* Each of them sees for itself whether it is needed. */
static void wake_spares(void)
{
	__atomic_fetch_add(&spare_word, 1, __ATOMIC_SEQ_CST);
	futex_wake(&spare_word, MOST_CARRIERS);
}

void carriers_use(int count)
{
	if (__atomic_exchange_n(&carrier_state.used, count, __ATOMIC_SEQ_CST) < count)
		wake_spares();
}

/* Only the monitor calls it. */
void carrier_add(void)
{
	if (__atomic_load_n(&carrier_state.spares, __ATOMIC_SEQ_CST))
		wake_spares();
	else
		create();
}

void carriers_wake(void)
{
	wake_spares();
	watch_kick();
}

struct carrier *carrier_of_tid(int tid)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	int i;

	for (i = 0; i < made; i++)
		if (__atomic_load_n(&carriers[i].tid, __ATOMIC_ACQUIRE) == tid)
			return &carriers[i];
	return NULL;
}

void carriers_reset(void)
{
	memset(carriers, 0, sizeof(*carriers) * (size_t)carrier_state.made);
	memset(&carrier_state, 0, sizeof(carrier_state));
	kicked = spare_word = 0;
}
