/* SPDX-License-Identifier: MIT */
/* Marks for functions of a program that `ferry cc` compiles; other compilers ignore them. */
#ifndef FERRY_AUTO_H
#define FERRY_AUTO_H

#ifdef __clang__
/**
 * No two pointers of this function lead to the same memory, and no other thread or process relies
 * on the order in which it accesses memory and makes calls.
 */
#define FERRY_INDEPENDENT __attribute__((annotate("ferry_independent")))
/** The calls of this function are made one by one. */
#define FERRY_NEVER __attribute__((annotate("ferry_never")))
#else
#define FERRY_INDEPENDENT
#define FERRY_NEVER
#endif

/* The state of a program's run time, ferry_auto_state: whether regions run as batches. */
#define FERRY_AUTO_OFF 0
#define FERRY_AUTO_ON 1

#endif /* FERRY_AUTO_H */
