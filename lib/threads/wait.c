// SPDX-License-Identifier: MIT
/*
 * A wait is linked after the thread's context is saved, by the host that ran it: whoever fires it
 * may resume the thread at once.  tests/lib/threads/parking.pml models this.
 */
#include "wait.h"

#include "busy.h"
#include "carrier.h"
#include "home.h"
#include "timer.h"

/* ---- claims ---- */

static bool change_state(struct thread *thread, int from, int to)
{
	return __atomic_compare_exchange_n(&thread->state, &from, to, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

enum claim wait_claim(struct thread *thread, enum wait_state why)
{
	/* In this order: it goes from linking to parked, never back within a wait. */
	if (change_state(thread, WAIT_LINKING, (int)why))
		return CLAIMED_LINKING;
	if (change_state(thread, WAIT_PARKED, (int)why))
		return CLAIMED_PARKED;
	return NOT_CLAIMED;
}

void wait_resume(struct thread *thread)
{
	if (thread->place == PLACE_CARRIED)
		carrier_push(thread);
	else
		futex_wake(&thread->state, 1);
}

void wait_resume_all(struct thread *threads)
{
	struct thread *next;

	for (; threads; threads = next) {
		next = threads->next; /* which a queue uses as well */
		wait_resume(threads);
	}
}

/* ---- waiting ---- */

/* False if the event came after the last try. */
static bool link_wait(struct wait *wait, struct thread *thread)
{
	bool quiet;

	wait->thread = thread;
	lock_take(&wait->list->lock);
	quiet = wait->list->seq == wait->seq;
	if (quiet) {
		list_append(&wait->list->waits, &wait->link);
		wait->linked = true;
	}
	lock_give(&wait->list->lock);
	return quiet;
}

/* On the host, after the context was saved; or at home, by the thread itself. */
static void arm(struct thread *thread)
{
	int i;

	/* Before called is read: whoever sets it reads the state afterwards. */
	__atomic_store_n(&thread->state, WAIT_LINKING, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&thread->called, __ATOMIC_SEQ_CST))
		wait_claim(thread, WAIT_CALLED);
	for (i = 0; i < thread->nwaits; i++)
		if (!link_wait(&thread->waits[i], thread)) {
			wait_claim(thread, WAIT_FIRED);
			break;
		}
	if (thread->deadline >= 0 && thread->place == PLACE_CARRIED)
		timer_add(thread);
	if (!change_state(thread, WAIT_LINKING, WAIT_PARKED) && thread->place == PLACE_CARRIED)
		carrier_push(thread);
}

static void unlink_wait(struct wait *wait)
{
	/* Cleared by wait_wake() with the lock held, when it has no more to do with the wait. */
	if (!__atomic_load_n(&wait->linked, __ATOMIC_ACQUIRE))
		return;
	busy_begin();
	lock_take(&wait->list->lock);
	if (wait->linked)
		list_remove(&wait->link);
	wait->linked = false;
	lock_give(&wait->list->lock);
	busy_end();
}

static void wait_at_home(struct thread *thread)
{
	busy_begin();
	arm(thread);
	busy_end();
	while (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == WAIT_PARKED)
		if (futex_wait(&thread->state, WAIT_PARKED, thread->deadline) == -ETIMEDOUT)
			change_state(thread, WAIT_PARKED, WAIT_TIMEOUT);
}

enum wait_state wait_for(struct wait *waits, int count, int64_t deadline)
{
	struct thread *thread = &ferry_self;
	enum wait_state why;
	int i;

	for (i = 0; i < count; i++)
		waits[i].linked = false;
	thread->waits = waits;
	thread->nwaits = count;
	thread->deadline = deadline;
	if (thread->place == PLACE_CARRIED) {
		struct carrier *carrier = thread->carrier;

		home_score(thread);
		__atomic_store_n(&carrier->waits, carrier->waits + 1, __ATOMIC_RELAXED);
		thread->after = arm;
		home_leave_host(thread);
		if (deadline >= 0)
			timer_cancel(thread);
	} else {
		wait_at_home(thread);
	}
	why = (enum wait_state)__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
	__atomic_store_n(&thread->state, WAIT_NONE, __ATOMIC_RELAXED);
	for (i = 0; i < count; i++)
		unlink_wait(&waits[i]);
	thread->budget = CALL_BUDGET;
	return why;
}

/* ---- waking ---- */

/* Claims one wait: the thread to resume goes to *RESUME. */
static bool fire(struct wait *wait, unsigned int fired, struct thread **resume)
{
	struct thread *thread = wait->thread;
	enum claim claim = wait_claim(thread, WAIT_FIRED);

	if (claim == NOT_CLAIMED)
		return false;
	wait->fired = fired;
	list_remove(&wait->link);
	/* The last that is done with the wait: its thread may run already, if it was linking. */
	__atomic_store_n(&wait->linked, false, __ATOMIC_RELEASE);
	if (claim == CLAIMED_PARKED) {
		thread->next = *resume;
		*resume = thread;
	}
	return true;
}

static struct thread *reverse(struct thread *threads)
{
	struct thread *reversed = NULL, *next;

	for (; threads; threads = next) {
		next = threads->next;
		threads->next = reversed;
		reversed = threads;
	}
	return reversed;
}

int wait_wake(struct wait_list *list, const void *key, int most, int most_exclusive,
	      unsigned int fired)
{
	struct thread *resume = NULL;
	struct link *link, *next;
	int count = 0, exclusive = 0;

	busy_begin();
	lock_take(&list->lock);
	__atomic_store_n(&list->seq, list->seq + 1, __ATOMIC_RELEASE);
	for (link = list->waits.next; link && link != &list->waits && count < most; link = next) {
		struct wait *wait = (struct wait *)((char *)link - offsetof(struct wait, link));
		const bool one = wait->exclusive;

		next = link->next;
		if ((wait->key != key && key != ANY_KEY) || (one && exclusive == most_exclusive))
			continue;
		if (!fire(wait, fired, &resume))
			continue;
		count++;
		exclusive += one;
	}
	lock_give(&list->lock);
	wait_resume_all(reverse(resume));
	busy_end();
	return count;
}

/* ---- giving way ---- */

void wait_yield(void)
{
	struct thread *thread = &ferry_self;

	thread->budget = CALL_BUDGET;
	carrier_look_soon(thread->carrier);
	thread->after = carrier_push;
	home_leave_host(thread);
}
