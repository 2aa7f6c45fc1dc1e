// SPDX-License-Identifier: MIT
/* Where libbpf, or a compiler for BPF, was missing when ferry was built. */
#include <errno.h>

#include "collect.h"

const char *bpf_missing(void)
{
	return "this ferry was built without it: " WHY_NO_BPF;
}

const char *bpf_prepare(void)
{
	return bpf_missing();
}

int collect_with_bpf(const struct target *target, const struct observer *observer,
		     struct windows *windows, struct totals *totals, struct collected *collected)
{
	(void)observer;
	(void)target;
	(void)windows;
	(void)totals;
	(void)collected;
	return -ENOSYS;
}
