/* SPDX-License-Identifier: MIT */
/*
 * Whether the calling thread may do the same as the runners.  A runner in the kernel
 * compares itself with the poster at each call, but it may have to leave the kernel for good.
 * Nothing that a thread reads without a system call reports its credentials, filters and domains,
 * so for runners in user space
 *	- calls whose permission is checked when they are made stay with the caller,
 *	- the caller is compared with a runner once, before its first post,
 *	- and what it changes by ferry's own functions is noticed (here.h).
 */
#ifndef FLEXSC_CONFINEMENT_H
#define FLEXSC_CONFINEMENT_H

#include <stdbool.h>

struct ferry_flexsc;

/** What the calling thread may post: ANY_RUNNER, ALIKE_RUNNER or POST_NOTHING. */
int ferry__posting_limit(const struct ferry_flexsc *flexsc);

/** 1 if the processor and the kernel have protection keys.  Constant once a flexsc has started. */
extern unsigned char ferry__has_keys;

/** Sets it. */
void ferry__look_for_keys(void);

/** The thread's rights to memory with protection keys. */
static inline unsigned int key_rights(void)
{
#ifdef __x86_64__
	unsigned int rights, zero;

	if (!__builtin_expect(ferry__has_keys, 0))
		return 0;
	__asm__ volatile("rdpkru" : "=a"(rights), "=d"(zero) : "c"(0));
	return rights;
#else
	return 0;
#endif
}

#endif /* FLEXSC_CONFINEMENT_H */
