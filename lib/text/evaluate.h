/* SPDX-License-Identifier: MIT */
/* The values of expressions. */
#ifndef EVALUATE_H
#define EVALUATE_H

#include "assembly.h"

/* Wide enough for every 64-bit value, with or without a sign, and sums of two. */
__extension__ typedef __int128 wide;

/* A number, or an address: a base and what is added to it. */
struct value {
	wide number; /* -2^63 .. 2^64 - 1 */
	enum base base;
	uint32_t object;
};

/* 0 or -EINVAL.  A symbolic expression may be evaluated once the names are indexed. */
int evaluate(const struct assembly *assembly, const struct expression *expression,
	     struct value *value);

#endif /* EVALUATE_H */
