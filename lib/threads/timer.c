// SPDX-License-Identifier: MIT
/* A pairing heap of threads: no memory of its own, and far deadlines cost nothing to add. */
#include "timer.h"

#include "lock.h"
#include "wait.h"

static struct lock guard;
static struct thread *root;
static int64_t earliest = INT64_MAX; /* of the heap; read without the lock */

static struct thread *meld(struct thread *a, struct thread *b)
{
	struct thread *other;

	if (!a || !b)
		return a ? a : b;
	if (b->deadline < a->deadline) {
		other = a;
		a = b;
		b = other;
	}
	b->timer.back = a; /* the parent, of a first child; else the elder sibling */
	b->timer.sibling = a->timer.child;
	if (b->timer.sibling)
		b->timer.sibling->timer.back = b;
	a->timer.child = b;
	return a;
}

static struct thread *detach(struct thread *thread)
{
	thread->timer.sibling = thread->timer.back = NULL;
	return thread;
}

/* The two passes, without recursion: pairs from the left, then melded from the right. */
static struct thread *meld_children(struct thread *child)
{
	struct thread *pairs = NULL, *merged = NULL, *first, *second, *next;

	for (; child; child = next) {
		first = child;
		second = first->timer.sibling;
		next = second ? second->timer.sibling : NULL;
		detach(first);
		if (second)
			first = meld(first, detach(second));
		first->timer.sibling = pairs;
		pairs = first;
	}
	for (; pairs; pairs = next) {
		next = pairs->timer.sibling;
		merged = meld(merged, detach(pairs));
	}
	return merged;
}

static void unlink_from_parent(struct thread *thread)
{
	struct thread *back = thread->timer.back, *sibling = thread->timer.sibling;

	if (back->timer.child == thread)
		back->timer.child = sibling;
	else
		back->timer.sibling = sibling;
	if (sibling)
		sibling->timer.back = back;
}

static void remove_locked(struct thread *thread)
{
	struct thread *rest = meld_children(thread->timer.child);

	if (thread == root) {
		root = rest;
	} else {
		unlink_from_parent(thread);
		root = meld(root, rest);
	}
	if (root)
		root->timer.back = root->timer.sibling = NULL;
	thread->timer.queued = false;
}

static void publish(void)
{
	__atomic_store_n(&earliest, root ? root->deadline : INT64_MAX, __ATOMIC_RELEASE);
}

void timer_add(struct thread *thread)
{
	lock_take(&guard);
	thread->timer.child = NULL;
	detach(thread);
	thread->timer.queued = true;
	root = meld(root, thread);
	publish();
	lock_give(&guard);
}

void timer_cancel(struct thread *thread)
{
	lock_take(&guard);
	if (thread->timer.queued) {
		remove_locked(thread);
		publish();
	}
	lock_give(&guard);
}

/* A thread that was woken otherwise meanwhile is not ours to resume. */
static struct thread *take_expired(int64_t now)
{
	struct thread *expired = NULL, *thread;

	lock_take(&guard);
	while (root && root->deadline <= now) {
		thread = root;
		remove_locked(thread);
		if (wait_claim(thread, WAIT_TIMEOUT) != CLAIMED_PARKED)
			continue;
		thread->next = expired;
		expired = thread;
	}
	publish();
	lock_give(&guard);
	return expired;
}

int64_t timer_next(void)
{
	const int64_t next = __atomic_load_n(&earliest, __ATOMIC_ACQUIRE);

	return next == INT64_MAX ? -1 : next;
}

void timer_expire(void)
{
	const int64_t next = timer_next();
	int64_t now;

	if (next < 0)
		return;
	now = now_ns();
	if (next <= now)
		wait_resume_all(take_expired(now));
}

void timer_reset(void)
{
	guard.word = 0;
	root = NULL;
	earliest = INT64_MAX;
}
