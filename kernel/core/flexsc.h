/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FLEXSC_H
#define _FLEXSC_H

#include <linux/flexsc_sched.h>
#include <linux/kconfig.h>
#include <linux/types.h>
#include <uapi/linux/flexsc.h>

#include "batch.h"

/* What flexsc_register(NULL, 0) returns. */
#define FLEXSC_ANSWER								\
	(FLEXSC_VERSION |								\
	 ((IS_ENABLED(CONFIG_MEMBARRIER) ? FLEXSC_FEATURE_MEMBARRIER : 0) |	\
	  (FLEXSC_REPORTS_SLEEP ? FLEXSC_FEATURE_BLOCKED : 0))			\
		 << BATCH_FEATURE_SHIFT)

/* Implements flexsc_register() for a set of SIZE bytes. */
long flexsc_check_set(struct flexsc_set __user *set, size_t size);

/*
 * Makes current the runner of SET, and returns the result of flexsc_serve(); or
 * one of -ERESTART* to be called again after pending signals have been handled.  Between two
 * calls all state is in the set.
 */
long flexsc_serve_set(struct subcall_caller *caller, struct flexsc_set __user *set);

#endif /* _FLEXSC_H */
