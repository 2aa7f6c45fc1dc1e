/* SPDX-License-Identifier: GPL-2.0 */
/* Every call, as __SYSCALL(). */
#define __SYSCALL_WITH_COMPAT(nr, native, compat) __SYSCALL(nr, native)
#include <asm/syscall_table_64.h>
#undef __SYSCALL_WITH_COMPAT
