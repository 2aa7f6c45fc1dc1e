/* SPDX-License-Identifier: MIT */
/* The one copy of the loop that the loop engine and the uring engine run. */
#ifndef ENGINE_SHARED_LOOP_H
#define ENGINE_SHARED_LOOP_H

#include <ferry/loop.h>

/** ferry_loop_until(). */
void ferry__loop_until(struct ferry_cursor *cursor, const struct ferry_slot *stop, long rets[],
		       const struct ferry_slot calls[], unsigned long ncall);

#endif /* ENGINE_SHARED_LOOP_H */
