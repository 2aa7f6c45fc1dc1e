/* SPDX-License-Identifier: MIT */
/*
 * The collector for those who may use BPF: the kernel counts all calls, and sends a sample of
 * them.  No call is stopped.
 */
#ifndef TRACE_BPF_COLLECT_H
#define TRACE_BPF_COLLECT_H

#include "../collect.h"
#include "../totals.h"
#include "../windows.h"

/** Why this ferry was built without BPF, and what brings it: a sentence without its end, or NULL.
 */
const char *bpf_missing(void);

/** Whether BPF can be used: NULL, or why not: a sentence without its end, kept. */
const char *bpf_prepare(void);

/**
 * Traces TARGET, after bpf_prepare(), as collect_with_ptrace() does; OBSERVER is asked for reports
 * alone, for which TOTALS and COLLECTED are filled in.  Returns 0, or -errno after
 * complaining.
 */
int collect_with_bpf(const struct target *target, const struct observer *observer,
		     struct windows *windows, struct totals *totals, struct collected *collected);

#endif /* TRACE_BPF_COLLECT_H */
