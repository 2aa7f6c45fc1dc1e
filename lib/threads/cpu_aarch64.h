/* SPDX-License-Identifier: MIT */
/* 64-bit Arm: see cpu.h. */
#ifndef THREADS_CPU_AARCH64_H
#define THREADS_CPU_AARCH64_H

#include <stdbool.h>

#include "raw.h"

#define PR_GET_SHADOW_STACK_STATUS 74 /* of Linux 6.13 */

static inline unsigned long thread_pointer(void)
{
	unsigned long tp;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

static inline void set_thread_pointer(unsigned long tp)
{
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory");
}

static inline bool can_set_thread_pointer(void)
{
	return true;
}

static inline bool has_shadow_stack(void)
{
	unsigned long mode = 0;

	return !raw3(SYS_prctl, PR_GET_SHADOW_STACK_STATUS, (long)&mode, 0) && mode & 1;
}

static inline void relax(void)
{
	__asm__ volatile("yield");
}

/* A change by ldaddal, or by stlxr, may become visible after a load that follows it. */
static inline void order_after_atomic(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define LIBC_VERSION "GLIBC_2.17"
#define CONDITION_VERSION LIBC_VERSION

#define OLD_BIRTHS
#define OLD_BINDING

/* The hint is "bti c": a place that an indirect call may lead to. */
#define JUMP(name, index)                               \
	__asm__(".text\n"                               \
		".globl " name "\n"                     \
		".type " name ",@function\n" name ":\n" \
		"	hint #34\n"                           \
		"	stp x29, x30, [sp, #-80]!\n"          \
		"	stp x0, x1, [sp, #16]\n"              \
		"	stp x2, x3, [sp, #32]\n"              \
		"	stp x4, x5, [sp, #48]\n"              \
		"	stp x6, x7, [sp, #64]\n"              \
		"	mov w0, #" #index "\n"          \
		"	bl ferry_threads_jump\n"              \
		"	mov x16, x0\n"                        \
		"	ldp x6, x7, [sp, #64]\n"              \
		"	ldp x4, x5, [sp, #48]\n"              \
		"	ldp x2, x3, [sp, #32]\n"              \
		"	ldp x0, x1, [sp, #16]\n"              \
		"	ldp x29, x30, [sp], #80\n"            \
		"	br x16\n"                             \
		".size " name ", .-" name "\n")

#endif /* THREADS_CPU_AARCH64_H */
