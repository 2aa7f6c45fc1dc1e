/* SPDX-License-Identifier: GPL-2.0 */
/* Every call, as __SYSCALL() or __SYSCALL_NORETURN(). */
#include <asm/syscalls_64.h>
