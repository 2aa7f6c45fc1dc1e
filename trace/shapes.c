// SPDX-License-Identifier: MIT
#include "shapes.h"

#include <fcntl.h>
#include <linux/futex.h>

const struct call *shape_of(int nr)
{
	const struct call *call = known_call(nr);

	return call && first_argument(call, "?") < 0 ? call : NULL;
}

static bool is_quick_futex(unsigned long operation)
{
	switch (operation & (unsigned long)FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI:
		return true;
	default:
		return false;
	}
}

bool waits_for_others(const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);

	if (!shape || shape->waits != WAITS_FOR_EVENT)
		return false;
	if (call->nr == SYS_fcntl)
		return call->args[1] == F_SETLKW || call->args[1] == F_OFD_SETLKW;
	return call->nr != SYS_futex || !is_quick_futex(call->args[1]);
}
