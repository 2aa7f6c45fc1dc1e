/* SPDX-License-Identifier: MIT */
#ifndef SLOT_H
#define SLOT_H

#include <linux/ferry.h>

/* The members of a struct batch_slot that make call NUMBER with one to six arguments. */
#define CALL(number, ...) .nr = (number), .argc = COUNT(__VA_ARGS__), .arg = { __VA_ARGS__ }

/* The same where operands are forwarded. */
#define CALL_FORWARDED(number, ...) \
	.nr = (number), .argc = COUNT(__VA_ARGS__) | BATCH_ARGC_FORWARD, .arg = { __VA_ARGS__ }

#define COUNT(...) (sizeof((long[]){ __VA_ARGS__ }) / sizeof(long))

#endif /* SLOT_H */
