// SPDX-License-Identifier: MIT
/* Switching stacks and thread pointers: 64-bit Arm. */
#include <string.h>

#include "cpu.h"

/*
 * What a function call preserves: the registers from X19 on, the lower halves of V8 to V15, and
 * the stack pointer; and the control word of floating point, which is written only if it differs,
 * as a write is slow.
 */
HIDDEN_FUNCTION("ferry_threads_switch", "	stp x29, x30, [sp, #-176]!\n"
					"	stp x19, x20, [sp, #16]\n"
					"	stp x21, x22, [sp, #32]\n"
					"	stp x23, x24, [sp, #48]\n"
					"	stp x25, x26, [sp, #64]\n"
					"	stp x27, x28, [sp, #80]\n"
					"	stp d8, d9, [sp, #96]\n"
					"	stp d10, d11, [sp, #112]\n"
					"	stp d12, d13, [sp, #128]\n"
					"	stp d14, d15, [sp, #144]\n"
					"	mrs x9, fpcr\n"
					"	str x9, [sp, #160]\n"
					"	mov x10, sp\n"
					"	str x10, [x0]\n"
					"	mov sp, x1\n"
					"	msr tpidr_el0, x2\n"
					"	ldr x10, [sp, #160]\n"
					"	cmp x9, x10\n"
					"	b.eq 1f\n"
					"	msr fpcr, x10\n"
					"1:	ldp d14, d15, [sp, #144]\n"
					"	ldp d12, d13, [sp, #128]\n"
					"	ldp d10, d11, [sp, #112]\n"
					"	ldp d8, d9, [sp, #96]\n"
					"	ldp x27, x28, [sp, #80]\n"
					"	ldp x25, x26, [sp, #64]\n"
					"	ldp x23, x24, [sp, #48]\n"
					"	ldp x21, x22, [sp, #32]\n"
					"	ldp x19, x20, [sp, #16]\n"
					"	ldp x29, x30, [sp], #176\n"
					"	ret\n");

/* The first switch to a context returns here: X19 holds the thread. */
HIDDEN_FUNCTION("context_entry", "	mov x0, x19\n"
				 "	mov x29, xzr\n"
				 "	mov x30, xzr\n"
				 "	blr x20\n"
				 "	brk #0\n");
void context_entry(void) __attribute__((visibility("hidden")));

/* A context as ferry_threads_switch() saves it. */
struct saved {
	unsigned long x29;
	void (*x30)(void);
	unsigned long x19_to_x28[10];
	double d8_to_d15[8];
	unsigned long fpcr, pad;
};
_Static_assert(sizeof(struct saved) == CONTEXT_SIZE, "the switch's frame");

void ferry_threads_context(void *sp, void (*start)(struct thread *thread), struct thread *thread)
{
	struct saved *saved = sp;

	memset(saved, 0, sizeof(*saved));
	__asm__ volatile("mrs %0, fpcr" : "=r"(saved->fpcr));
	saved->x19_to_x28[0] = (unsigned long)thread;
	saved->x19_to_x28[1] = (unsigned long)start;
	saved->x30 = context_entry;
}

/* With call frame information: exits, cancellation and exceptions unwind through it. */
HIDDEN_FUNCTION("ferry_threads_call_below", "	.cfi_startproc\n"
					    "	stp x29, x30, [sp, #-16]!\n"
					    "	.cfi_def_cfa_offset 16\n"
					    "	.cfi_offset x29, -16\n"
					    "	.cfi_offset x30, -8\n"
					    "	mov x29, sp\n"
					    "	.cfi_def_cfa_register x29\n"
					    "	sub x9, sp, x2\n"
					    "	and sp, x9, #-16\n"
					    "	mov x9, x0\n"
					    "	mov x0, x1\n"
					    "	sub x1, x29, #64\n"
					    "	blr x9\n"
					    "	mov sp, x29\n"
					    "	.cfi_def_cfa_register sp\n"
					    "	ldp x29, x30, [sp], #16\n"
					    "	.cfi_def_cfa_offset 0\n"
					    "	.cfi_restore x29\n"
					    "	.cfi_restore x30\n"
					    "	ret\n"
					    "	.cfi_endproc\n");
