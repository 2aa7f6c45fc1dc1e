/* SPDX-License-Identifier: MIT */
/* What a crossing costs, measured on the spot. */
#ifndef TRACE_COSTS_H
#define TRACE_COSTS_H

/* A figure, and its standard error in the same unit. */
struct figure {
	double value, error;
};

struct costs {
	struct figure crossing; /* ns: a call that no kernel has */
};

struct costs measure_costs(void);

#endif /* TRACE_COSTS_H */
