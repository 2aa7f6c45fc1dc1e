/* SPDX-License-Identifier: MIT */
/* Privileges and placement that belong to a kernel thread. */
#ifndef THREADS_BINDS_H
#define THREADS_BINDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a number is one of a list. */
#define IS_AMONG(number, ...)                                                  \
	({                                                                     \
		static const int list_[] = { __VA_ARGS__ };                    \
		bool found_ = false;                                           \
		for (size_t i_ = 0; i_ < sizeof(list_) / sizeof(*list_); i_++) \
			found_ |= list_[i_] == (number);                       \
		found_;                                                        \
	})

/*
 * A domain is a set of threads whose kernel threads have the same privileges and placement,
 * inherited from the first.  A thread that changes its own leaves for a new domain before the
 * change, for good; carriers belong to the domain of the thread that started them, and carry no
 * other.
 */

/* Notes the domain of the calling thread as that of the carriers. */
void binds_start(void);
unsigned int binds_domain(void);

/* The calling thread is about to change its own: goes home for good. */
void binds_self(const char *reason);

/* The same for a seccomp filter: its threads are never carried.  FLAGS: of seccomp(). */
void binds_filter(unsigned long flags);

/* The thread TID is about to be changed: 0 or the caller's own, or another. */
void binds_tid(int tid, const char *reason);

#endif /* THREADS_BINDS_H */
