/* SPDX-License-Identifier: MIT */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>

/** Whether TEXT is digits alone, of a number from LEAST to MOST, which *NUMBER is then. */
bool read_number(const char *text, long least, long most, long *number);

#endif /* NUMBER_H */
