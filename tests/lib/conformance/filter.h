/* SPDX-License-Identifier: MIT */
/* seccomp filters for tests: what becomes of some calls, while all others are allowed. */
#ifndef FILTER_H
#define FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>

struct filter {
	struct sock_filter code[64];
	struct sock_fprog program; /* for seccomp(2) */
};

/** Answers each of the COUNT calls in NUMBERS with ACTION, a SECCOMP_RET value, others with REST.
 */
void filter_make(struct filter *filter, const int numbers[], int count, unsigned int action,
		 unsigned int rest);

/** As filter_make() for the single call NR, and allows the rest. */
void filter_one(struct filter *filter, int nr, unsigned int action);

/** As filter_one(), but only where the low half of argument ARG is VALUE. */
void filter_argument(struct filter *filter, int nr, int arg, unsigned int value,
		     unsigned int action);

/** Installs FILTER for the calling thread. */
void filter_install(struct filter *filter);

#endif /* FILTER_H */
