/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/* The requests that the test module answers, for measure/cases only. */
#ifndef FERRY_BENCH_H
#define FERRY_BENCH_H

#include <linux/ioctl.h>
#include <linux/ferry.h>

#define FERRY_BENCH_DEVICE "/dev/ferry-bench"

/* The cost of a handler, called directly. */
struct ferry_bench_direct {
	unsigned long nr; /* of a call that the table has */
	unsigned long arg[FERRY_MAX_ARGS];
	unsigned long rounds; /* calls to make */
	unsigned long least;  /* out: ticks of the time-stamp counter, of the cheapest call */
	long result;	      /* out: of the last call */
};

#define FERRY_BENCH_DIRECT _IOWR(0xfe, 0x80, struct ferry_bench_direct)

/* The cost of reading the counters of kstats() in the kernel. */
struct ferry_bench_counters {
	unsigned long rounds; /* times to read them all */
	unsigned long least;  /* out: ticks, of the cheapest round */
};

#define FERRY_BENCH_COUNTERS _IOWR(0xfe, 0x82, struct ferry_bench_counters)

/* A batch as one would first write it, on the arguments of FERRY_IOC_BATCH. */
#define FERRY_BENCH_NAIVE _IOW(0xfe, 0x81, struct ferry_batch_args)

#endif /* FERRY_BENCH_H */
