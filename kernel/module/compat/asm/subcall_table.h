/* SPDX-License-Identifier: GPL-2.0 */
#include "../../../arch/x86/subcall_table.h"
/* Calls of a kernel with the series, which no batch makes. */
[FERRY_NR_FLEXSC_REGISTER] = SPECIAL,
[FERRY_NR_FLEXSC_SERVE] = SPECIAL,
