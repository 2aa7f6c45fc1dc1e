/* SPDX-License-Identifier: MIT */
/* Which CPUs runners use. */
#ifndef FLEXSC_TOPOLOGY_H
#define FLEXSC_TOPOLOGY_H

/**
 * Chooses CPUs for COUNT runners: cpus[i] is the CPU of runner i, or -1 for any.  Returns how
 * many CPUs the caller may use.
 */
int ferry__flexsc_choose_cpus(int cpus[], unsigned int count);

#endif /* FLEXSC_TOPOLOGY_H */
