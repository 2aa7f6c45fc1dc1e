/* SPDX-License-Identifier: GPL-2.0 */
#include "../../../arch/x86/subcall.h"
