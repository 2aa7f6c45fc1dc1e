/* SPDX-License-Identifier: MIT */
/* Tickets: which entry of which runner holds a single call. */
#ifndef FLEXSC_TICKET_H
#define FLEXSC_TICKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "flexsc.h"

/* nr of an entry whose call the poster made itself: arg[0] is the result. */
#define MADE_HERE (-1)

/* nr of an entry whose call has moved to another runner: arg[0] is the new ticket. */
#define MOVED (-2)

static inline long ticket_of(const struct runner *runner, const struct flexsc_entry *entry)
{
	return (long)runner->index * FLEXSC_MAX_ENTRIES + (entry - runner->set->entry);
}

static inline bool is_ticket(const struct ferry_flexsc *flexsc, long ticket)
{
	unsigned int count = __atomic_load_n(&flexsc->count, __ATOMIC_ACQUIRE);

	return ticket >= 0 && ticket / FLEXSC_MAX_ENTRIES < count &&
	       ticket % FLEXSC_MAX_ENTRIES < flexsc->entries;
}

static inline struct runner *ticket_runner(const struct ferry_flexsc *flexsc, long ticket)
{
	return flexsc->runner[ticket / FLEXSC_MAX_ENTRIES];
}

static inline struct flexsc_entry *ticket_entry(const struct ferry_flexsc *flexsc, long ticket)
{
	return &ticket_runner(flexsc, ticket)->set->entry[ticket % FLEXSC_MAX_ENTRIES];
}

/** The calling thread's ID, which it stores in the entries that it posts. */
pid_t ferry__poster_id(void);

#endif /* FLEXSC_TICKET_H */
