// SPDX-License-Identifier: MIT
/* Switching stacks and thread pointers: x86-64 with FSGSBASE. */
#include <string.h>

#include "cpu.h"

/*
 * What a function call preserves: six registers, the stack pointer, and the control words of SSE
 * and x87.
 */
HIDDEN_FUNCTION("ferry_threads_switch", "	push %rbp\n"
					"	push %rbx\n"
					"	push %r12\n"
					"	push %r13\n"
					"	push %r14\n"
					"	push %r15\n"
					"	sub $8, %rsp\n"
					"	stmxcsr (%rsp)\n"
					"	fnstcw 4(%rsp)\n"
					"	mov %rsp, (%rdi)\n"
					"	mov %rsi, %rsp\n"
					"	wrfsbase %rdx\n"
					"	ldmxcsr (%rsp)\n"
					"	fldcw 4(%rsp)\n"
					"	add $8, %rsp\n"
					"	pop %r15\n"
					"	pop %r14\n"
					"	pop %r13\n"
					"	pop %r12\n"
					"	pop %rbx\n"
					"	pop %rbp\n"
					"	ret\n");

/* The first switch to a context returns here: RBX holds the thread. */
HIDDEN_FUNCTION("context_entry", "	mov %rbx, %rdi\n"
				 "	xor %ebp, %ebp\n"
				 "	call *%r12\n"
				 "	ud2\n");
void context_entry(void) __attribute__((visibility("hidden")));

/* A context as ferry_threads_switch() saves it. */
struct saved {
	unsigned int mxcsr;
	unsigned int x87;
	unsigned long r15, r14, r13, r12, rbx, rbp;
	void (*resume)(void);
	unsigned long pad;
};
_Static_assert(sizeof(struct saved) <= CONTEXT_SIZE, "room for a context");

void ferry_threads_context(void *sp, void (*start)(struct thread *thread), struct thread *thread)
{
	struct saved *saved = sp;

	memset(saved, 0, sizeof(*saved));
	saved->mxcsr = _mm_getcsr();
	__asm__ volatile("fnstcw %0" : "=m"(saved->x87));
	saved->rbx = (unsigned long)thread;
	saved->r12 = (unsigned long)start;
	saved->resume = context_entry;
}

/* With call frame information: exits, cancellation and exceptions unwind through it. */
HIDDEN_FUNCTION("ferry_threads_call_below", "	.cfi_startproc\n"
					    "	push %rbp\n"
					    "	.cfi_def_cfa_offset 16\n"
					    "	.cfi_offset %rbp, -16\n"
					    "	mov %rsp, %rbp\n"
					    "	.cfi_def_cfa_register %rbp\n"
					    "	sub %rdx, %rsp\n"
					    "	and $-16, %rsp\n"
					    "	mov %rdi, %rax\n"
					    "	mov %rsi, %rdi\n"
					    "	lea -64(%rbp), %rsi\n"
					    "	call *%rax\n"
					    "	leave\n"
					    "	.cfi_def_cfa %rsp, 8\n"
					    "	ret\n"
					    "	.cfi_endproc\n");
