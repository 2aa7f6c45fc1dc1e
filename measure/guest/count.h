/* SPDX-License-Identifier: MIT */
/* What a piece of code costs: instructions where the clock counts them, else nanoseconds. */
#ifndef COUNT_H
#define COUNT_H

#include <stdbool.h>
#include <stdint.h>

/** The clock.  Its unit is that of count_unit(). */
uint64_t count_now(void);

/**
 * "instructions" under an emulator whose time-stamp counter counts them (QEMU with
 * -icount shift=0), else "ns".  Measured, so it needs no telling.
 */
const char *count_unit(void);

/** Whether the unit is instructions. */
bool count_is_exact(void);

/**
 * The least that RUN(CONTEXT) cost in REPEATS tries, the clock's own cost taken off.
 * BEFORE, when not NULL, is called before each try and not counted.
 */
uint64_t count_least(void (*run)(void *context), void (*before)(void *context), void *context,
		     int repeats);

#endif /* COUNT_H */
