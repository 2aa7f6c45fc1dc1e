// SPDX-License-Identifier: MIT
/* Switching stacks and thread pointers: x86-64 with FSGSBASE. */
#include "thread.h"

__thread struct thread ferry_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * What a function call preserves: six registers, the stack pointer, and the control words of SSE
 * and x87.  The thread pointer is the user's on every host, so TLS addresses may be cached across
 * a switch.
 */
__asm__(".text\n"
	".globl ferry_threads_switch\n"
	".hidden ferry_threads_switch\n"
	".type ferry_threads_switch,@function\n"
	"ferry_threads_switch:\n"
	"	push %rbp\n"
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
	"	ret\n"
	".size ferry_threads_switch, .-ferry_threads_switch\n");

/* With call frame information: exits, cancellation and exceptions unwind through it. */
__asm__(".text\n"
	".globl ferry_threads_call_below\n"
	".hidden ferry_threads_call_below\n"
	".type ferry_threads_call_below,@function\n"
	"ferry_threads_call_below:\n"
	"	.cfi_startproc\n"
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
	"	.cfi_endproc\n"
	".size ferry_threads_call_below, .-ferry_threads_call_below\n");
