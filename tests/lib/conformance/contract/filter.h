/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* seccomp filters for tests: an action for some calls; all others are allowed. */
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

/** Like filter_make() for the single call NR; allows the rest. */
void filter_one(struct filter *filter, int nr, unsigned int action);

/** Like filter_one(), but only if the low half of argument ARG is VALUE. */
void filter_argument(struct filter *filter, int nr, int arg, unsigned int value,
		     unsigned int action);

/** Installs FILTER for the calling thread. */
void filter_install(struct filter *filter);

/** Installs FILTER with FLAGS, those of seccomp(2). */
void filter_install_with(struct filter *filter, long flags);

#endif /* FILTER_H */
