/* SPDX-License-Identifier: MIT */
/* What calls cost here, and what other ways of making them cost: measured on the spot. */
#ifndef TRACE_COSTS_H
#define TRACE_COSTS_H

#include <stdbool.h>

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

/* What the kernel looks up in a call. */
enum call_kind { OF_NOTHING, OF_FILE, OF_PATH };
#define CALL_KINDS 3

struct costs {
	struct figure crossing;	  /* ns: a call that no kernel has */
	struct figure path_call;  /* ns: stat() of a path */
	struct figure fault;	  /* ns: the first touch of a page of memory */
	struct way batch;	  /* each call in a batch beyond the first */
	const char *batch_engine; /* that was measured, or NULL: estimated */
	struct way statx_many;	  /* each call of statx() */
	struct way vdso;	  /* each clock_gettime() that is a system call now */
	struct way tiny_read;	  /* each read of a few bytes of a file that is not made at all */
	struct way tiny_write;	  /* each write that goes on at the end of one */
	struct way tiny_pipe;	  /* each of either to a pipe: the mean of both */
	struct way tiny_device;	  /* each of either to a device, such as /dev/null */
	struct figure turn;	  /* ns: a thread wakes another and sleeps, without the calls */
	struct way large_pages;	  /* each page touched in a large one */
	struct way several_pages; /* each page touched where a fault maps 64 KiB */
	struct way prefault;	  /* each page that ferry_prefault() maps before its first touch */
	struct figure
		indirect[CALL_KINDS]; /* ns: what a call and the program evict from each other */
	double busy_cpus;	      /* that other programs used meanwhile */
	const char *watched;	      /* why calls took longer meanwhile, or NULL */
};

/** What a call costs that no kernel has, now. */
struct figure measure_crossing(void);

/** What it costs to start a process that does nothing, and to end it, now. */
struct figure measure_process(void);

struct costs measure_costs(void);

#endif /* TRACE_COSTS_H */
