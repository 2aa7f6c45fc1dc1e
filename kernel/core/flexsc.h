/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_FLEXSC_H
#define _FERRY_FLEXSC_H

#include <linux/ferry_sched.h>
#include <linux/kconfig.h>
#include <linux/types.h>
#include <uapi/linux/ferry_flexsc.h>

#include "batch.h"

/* What flexsc_register(NULL, 0) returns. */
#define FERRY_FLEXSC_ANSWER								\
	(FERRY_FLEXSC_VERSION |								\
	 ((IS_ENABLED(CONFIG_MEMBARRIER) ? FERRY_FLEXSC_FEATURE_MEMBARRIER : 0) |	\
	  (FERRY_REPORTS_SLEEP ? FERRY_FLEXSC_FEATURE_BLOCKED : 0))			\
		 << FERRY_FEATURE_SHIFT)

/* Implements flexsc_register() for a set of SIZE bytes. */
long ferry_flexsc_check(struct ferry_flexsc_set __user *set, size_t size);

/*
 * Makes current the runner of SET, and returns the result of flexsc_serve(); or
 * one of -ERESTART* to be called again after pending signals have been handled, with
 * INTERRUPTED if a handler ended the call that was left.  Between two calls all other state
 * is in the set.
 */
long ferry_flexsc_serve(struct ferry_caller *caller, struct ferry_flexsc_set __user *set,
			bool interrupted);

#endif /* _FERRY_FLEXSC_H */
