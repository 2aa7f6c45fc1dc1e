/* SPDX-License-Identifier: GPL-2.0 */
#ifdef CONFIG_ARM64
#include "../../../arch/riscv/subcall_table.h" /* the generic table's */
#else
#include "../../../arch/x86/subcall_table.h"
#endif
/* Calls of a kernel with the series, which no batch makes. */
[FERRY_NR_FLEXSC_REGISTER] = SPECIAL,
[FERRY_NR_FLEXSC_SERVE] = SPECIAL,
