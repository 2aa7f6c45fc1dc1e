/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * How a program reaches the series and the module: the system calls' numbers, for C libraries
 * whose headers lack them, and the device.
 */
#ifndef _UAPI_LINUX_FERRY_H
#define _UAPI_LINUX_FERRY_H

#include <linux/ioctl.h>
#include <linux/subcall.h>

/* The series' numbers are from a range for experiments. */
#define FERRY_NR_NULL 500
#define FERRY_NR_BATCH 501
#define FERRY_NR_KSTATS 502
#define FERRY_NR_MULTI_PAGE_ALLOC 503
#define FERRY_NR_FLEXSC_REGISTER 504
/* 505 is reserved. */
#define FERRY_NR_FLEXSC_SERVE 506
#define FERRY_NR_GETDENTS_STATX 507

/* flags of batch() in <linux/batch.h> and of ferry_batch(): 0, or this if all others are 0. */
#define FERRY_BATCH_QUERY 1L

/* On /dev/ferry, FERRY_IOC_BATCH is batch() with this size of batch_args; NULL is the query. */
#define FERRY_DEVICE_PATH "/dev/ferry"
#define FERRY_IOC_BATCH _IOWR(0xfe, 1, struct batch_args)

/* And this is flexsc_serve(); NULL gives the answer of flexsc_register(NULL, 0). */
#define FERRY_IOC_FLEXSC_SERVE _IO(0xfe, 2)

#endif /* _UAPI_LINUX_FERRY_H */
