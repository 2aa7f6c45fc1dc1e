/* SPDX-License-Identifier: GPL-2.0 */
/* The series' header, without its entry code: the module refuses all watched tasks. */
#undef CONFIG_SUBCALL_SECCOMP
#include "../../../core/subcall.h"
