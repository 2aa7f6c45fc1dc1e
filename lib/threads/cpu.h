/* SPDX-License-Identifier: MIT */
/* What differs between processors: the thread pointer, contexts, the order of memory. */
#ifndef THREADS_CPU_H
#define THREADS_CPU_H

#include "thread.h"

#if defined(__x86_64__)
#include "cpu_x86_64.h"
#elif defined(__aarch64__)
#include "cpu_aarch64.h"
#endif

/*
 * Each processor's header has:
 *
 * thread_pointer()          the thread pointer of the calling thread
 * set_thread_pointer(tp)    replaces it
 * can_set_thread_pointer()  whether an instruction does that on this machine
 * has_shadow_stack()        whether the CPU keeps return addresses on another stack, too
 * relax()                   lets the CPU rest for a moment in a loop that waits
 * order_after_atomic()      orders all that follows after an atomic change by the caller: a fence
 *                           where such a change does not order memory fully by itself
 * JUMP(name, index)         a function that jumps to what ferry_threads_jump(index, its second
 *                           argument) returns, with its own arguments and no frame below
 * LIBC_VERSION              of the symbols that libc has had from its first version on
 * CONDITION_VERSION         of pthread_cond_wait() and its like
 * OLD_BIRTHS, OLD_BINDING   system calls of is_birth() and is_binding() that other processors lack
 */

/* A function in assembly, which the library does not export. */
#define HIDDEN_FUNCTION(name, code)  \
	__asm__(".text\n"            \
		".globl " name "\n"  \
		".hidden " name "\n" \
		".type " name ",@function\n" name ":\n" code ".size " name ", .-" name "\n")

#define CONTEXT_SIZE 176 /* bytes that a saved context takes of its stack, at most */

/* Writes a context at SP: the first switch to it calls START(THREAD), which does not return. */
void ferry_threads_context(void *sp, void (*start)(struct thread *thread), struct thread *thread);

/* Saves the context in *FROM, and continues the one at TO with the thread pointer TP. */
void ferry_threads_switch(void **from, void *to, unsigned long tp);

/* Calls START(ARG, TOP) with ROOM bytes of the stack left free between TOP and its frame. */
void *ferry_threads_call_below(void *(*start)(void *arg, void *top), void *arg, unsigned long room);

#endif /* THREADS_CPU_H */
