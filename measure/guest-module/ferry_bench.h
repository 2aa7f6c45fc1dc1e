/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/* The requests that the test module answers, for measure/cases only. */
#ifndef FERRY_BENCH_H
#define FERRY_BENCH_H

#include <linux/ioctl.h>
#include <linux/subcall.h>

#define FERRY_BENCH_DEVICE "/dev/ferry-bench"

/* The cost of a handler, called directly, or of reading the counters of kstats(). */
struct ferry_bench_direct {
	unsigned long nr; /* of a call that the table has, or FERRY_BENCH_COUNTERS */
	unsigned long arg[BATCH_MAX_ARGS];
	unsigned long rounds; /* calls to make, or times to read all counters */
	unsigned long least;  /* out: ticks of the time-stamp counter, of the cheapest round */
	long result;	      /* out: of the last call */
};

#define FERRY_BENCH_DIRECT _IOWR(0xfe, 0x80, struct ferry_bench_direct)
#define FERRY_BENCH_COUNTERS (~0UL)

/* A batch as one would first write it, on the arguments of FERRY_IOC_BATCH. */
#define FERRY_BENCH_NAIVE _IOW(0xfe, 0x81, struct batch_args)

#endif /* FERRY_BENCH_H */
