/* SPDX-License-Identifier: GPL-2.0 */
#include "../../../arch/generic/subcall.h"
