/* SPDX-License-Identifier: MIT */
/* What the kernel takes to clear a page. */
#ifndef CLEAR_H
#define CLEAR_H

/** Cost of clearing one page by the instruction that this CPU's kernels clear pages with. */
double clear_cost(void);

#endif /* CLEAR_H */
