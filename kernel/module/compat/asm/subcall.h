/* SPDX-License-Identifier: GPL-2.0 */
#ifdef CONFIG_ARM64
#include "../../../arch/arm64/subcall.h"
#else
#include "../../../arch/x86/subcall.h"
#endif
