/* SPDX-License-Identifier: MIT */
/* What calls cost here, and what other ways of making them cost: measured on the spot. */
#ifndef TRACE_COSTS_H
#define TRACE_COSTS_H

/* A figure, and its standard error in the same unit. */
struct figure {
	double value, error;
};

/* What a way saves, or why it is not available. */
struct way {
	const char *missing;
	struct figure saved;   /* ns */
	const char *hindrance; /* what kept it from saving more, or NULL */
};

struct costs {
	struct figure crossing;	  /* ns: a call that no kernel has */
	struct way batch;	  /* each call in a batch beyond the first */
	const char *batch_engine; /* that was measured, or NULL: estimated */
	struct way statx_many;	  /* each call of statx() */
	struct way vdso;	  /* each clock_gettime() that is a system call now */
	struct way tiny_read;	  /* each read of a few bytes of a file that is not made at all */
	struct way tiny_write;	  /* each write that goes on at the end of one */
	struct way tiny_device;	  /* each of either to a device, such as /dev/null */
	struct way prefault;	  /* each page that ferry_prefault() maps before its first touch */
	double busy_cpus;	  /* that other programs used meanwhile */
	const char *watched;	  /* why calls took longer meanwhile, or NULL */
};

/** What a call costs that no kernel has, now. */
struct figure measure_crossing(void);

struct costs measure_costs(void);

#endif /* TRACE_COSTS_H */
