/* SPDX-License-Identifier: MIT */
/* The runner's loop in user space: what flexsc_serve() is in the kernel. */
#ifndef FLEXSC_SERVE_H
#define FLEXSC_SERVE_H

#include <linux/ferry_flexsc.h>

/** Makes the calling thread the runner of SET until its gate says STOP. */
void flexsc_serve(struct ferry_flexsc_set *set);

#endif /* FLEXSC_SERVE_H */
