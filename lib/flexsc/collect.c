// SPDX-License-Identifier: MIT
/* Collecting single calls: polling, waiting, and moving calls away from a blocked runner. */
#include <string.h>

#include "event.h"
#include "futex.h"
#include "spin.h"
#include "ticket.h"

/* How often a waiter checks its call and, while that has not begun, its runner. */
#define LOOK_AGAIN_NS 1000000000L
#define LOOK_AT_RUNNER_NS 1000000L

/*
 * Steps of spinning between two looks at the clock, which are crossings in user-mode Linux: about
 * 10 us, in which a runner makes tens of calls.
 */
#define STEPS 256

/* In a child, entries of calls under way read as FREE. */
static bool is_over(const struct runner *runner, const struct flexsc_entry *entry)
{
	return entry_is_over(entry) || set_is_wiped(runner->set);
}

/* Only the thread that posted a refused call may make it. */
static long make_refused(const struct flexsc_entry *entry)
{
	return entry->result == ferry__poster_id() ? ferry__entry_run(entry) : -EPERM;
}

static long collect(struct runner *runner, struct flexsc_entry *entry)
{
	long result = -ECANCELED;

	if (entry_is_refused(entry))
		result = make_refused(entry);
	else if (entry_is_done(entry))
		result = entry->nr == MADE_HERE ? entry->arg[0] : entry->result;
	result = ferry__event_collect(entry, result);
	__atomic_store_n(&entry->status, FLEXSC_ENTRY_FREE, __ATOMIC_RELAXED);
	ferry__runner_free(runner, entry);
	return result;
}

/* Where the call of TICKET is now: it has moved once, as far as its ticket shows. */
static long current_ticket(const struct ferry_flexsc *flexsc, long ticket)
{
	const struct flexsc_entry *entry = ticket_entry(flexsc, ticket);

	return entry->nr == MOVED ? entry->arg[0] : ticket;
}

/* The same, and frees the entry of TICKET if the call has left it. */
static long follow(const struct ferry_flexsc *flexsc, long ticket)
{
	long current = current_ticket(flexsc, ticket);

	if (current != ticket)
		ferry__runner_free(ticket_runner(flexsc, ticket), ticket_entry(flexsc, ticket));
	return current;
}

/* A runner that does not block, instead of BLOCKED; NULL if there are too many. */
static struct runner *other_runner(struct ferry_flexsc *flexsc, const struct runner *blocked)
{
	unsigned int slot;

	for (slot = 0; slot < flexsc->slots; slot++)
		if (flexsc_slot(flexsc, slot) == blocked)
			break;
	if (slot == flexsc->slots)
		slot = 0;
	else if (ferry__runner_replace(flexsc, slot, blocked))
		return NULL;
	return flexsc_slot(flexsc, slot);
}

/*
 * Moves a withdrawn call to another runner.  Without one, it goes back to where it was.  The entry
 * that the ticket names, FIRST, keeps the new place; other entries that the call leaves are free.
 */
static void move(struct ferry_flexsc *flexsc, struct flexsc_entry *first, struct runner *from,
		 struct flexsc_entry *old)
{
	struct runner *to = other_runner(flexsc, from);
	struct flexsc_entry *new = to ? ferry__runner_claim(to) : NULL;

	if (!new) {
		/* Polls of other calls here would fail, too: they try again when they look again.
		 */
		__atomic_store_n(&from->was_blocked, false, __ATOMIC_RELAXED);
		ferry__entry_submit(from->set, old);
		return;
	}
	memcpy(new->arg, old->arg, sizeof(new->arg));
	new->nr = old->nr;
	new->result = old->result;
	__atomic_store_n(&new->argc, __atomic_load_n(&old->argc, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	if (old != first)
		ferry__runner_free(from, old);
	first->nr = MOVED;
	first->arg[0] = ticket_of(to, new);
	ferry__entry_submit(to->set, new);
}

/* Whether RUNNER is blocked, or was less than a millisecond ago. */
static bool was_blocked(struct runner *runner)
{
	long now = clock_ns();

	if (now - __atomic_load_n(&runner->looked_ns, __ATOMIC_RELAXED) >= LOOK_AT_RUNNER_NS) {
		__atomic_store_n(&runner->looked_ns, now, __ATOMIC_RELAXED);
		__atomic_store_n(&runner->was_blocked, ferry__runner_is_blocked(runner),
				 __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&runner->was_blocked, __ATOMIC_RELAXED);
}

/* A call behind one that blocks would never be made: no thread sleeps on it. */
static void move_if_behind(struct ferry_flexsc *flexsc, struct flexsc_entry *first,
			   struct runner *runner, struct flexsc_entry *entry)
{
	if (!entry_is_begun(entry) && was_blocked(runner) && ferry__runner_withdraw(runner, entry))
		move(flexsc, first, runner, entry);
}

/* Sleeps until the call is over and returns 0, or takes it back and returns 1. */
static int sleep_until_over(struct runner *runner, struct flexsc_entry *entry)
{
	bool begun;

	while (!is_over(runner, entry)) {
		begun = entry_is_begun(entry);
		if (ferry__entry_expect_wake(entry, runner->set->flags))
			ferry__futex_wait(&entry->status, FLEXSC_ENTRY_SUBMITTED,
					  begun ? LOOK_AGAIN_NS : LOOK_AT_RUNNER_NS);
		ferry__entry_expect_none(entry);
		if (!begun && !entry_is_begun(entry) && ferry__runner_is_blocked(runner) &&
		    ferry__runner_withdraw(runner, entry))
			return 1;
	}
	return 0;
}

int ferry_flexsc_poll(struct ferry_flexsc *flexsc, long ticket, long *result)
{
	struct flexsc_entry *entry;
	struct runner *runner;
	long current;

	if (!is_ticket(flexsc, ticket))
		return 0;
	current = current_ticket(flexsc, ticket);
	entry = ticket_entry(flexsc, current);
	runner = ticket_runner(flexsc, current);
	/* The event comes before DONE. */
	if (ferry__event_has_result(entry))
		sleep_until_over(runner, entry);
	if (!is_over(runner, entry)) {
		move_if_behind(flexsc, ticket_entry(flexsc, ticket), runner, entry);
		return 0;
	}
	follow(flexsc, ticket);
	*result = collect(runner, entry);
	return 1;
}

static bool spin_until_over(const struct ferry_flexsc *flexsc, const struct runner *runner,
			    const struct flexsc_entry *entry)
{
	long start = 0;
	unsigned int steps;

	for (steps = 1; !is_over(runner, entry); steps++) {
		pause_briefly();
		if (steps % STEPS)
			continue;
		if (!start)
			start = clock_ns();
		if (clock_ns() - start >= flexsc->spin_ns)
			return false;
	}
	return true;
}

long ferry_flexsc_wait(struct ferry_flexsc *flexsc, long ticket)
{
	struct flexsc_entry *entry;
	struct runner *runner;
	long result;

	if (!is_ticket(flexsc, ticket) ||
	    ferry__runner_has_free(ticket_runner(flexsc, ticket), ticket_entry(flexsc, ticket)))
		return -EINVAL;
	for (;;) {
		ticket = follow(flexsc, ticket);
		runner = ticket_runner(flexsc, ticket);
		entry = ticket_entry(flexsc, ticket);
		if (spin_until_over(flexsc, runner, entry) || !sleep_until_over(runner, entry))
			return collect(runner, entry);
		if (entry->result == ferry__poster_id())
			break;
		/* This thread may have more rights than the poster. */
		move(flexsc, entry, runner, entry);
	}
	result = ferry__event_collect(entry, ferry__entry_run(entry));
	ferry__runner_free(runner, entry);
	return result;
}
