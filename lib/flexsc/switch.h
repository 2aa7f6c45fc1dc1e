/* SPDX-License-Identifier: MIT */
/*
 * Switching from one stack to another, with the calls that sanitizers need.  It does not use a
 * library: Boost.Context takes 24 instructions more, some of them slow, and leaves the
 * processor's return predictor one call off; doc/flexsc.md has the figures.  The floating-point
 * environment is not saved, because the compiler has no name for it: threads share it.
 */
#ifndef FLEXSC_SWITCH_H
#define FLEXSC_SWITCH_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SWITCH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SWITCH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SWITCH_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define SWITCH_TSAN 1
#endif

#ifdef SWITCH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SWITCH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* Where a suspended stack continues. */
struct context {
	void *sp, *fp, *pc;
};

#if defined(__x86_64__)

#define CAN_SWITCH 1

#ifdef __AVX512F__
#define SWITCH_CLOBBERS_512                                                                      \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",       \
		"xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", \
		"k4", "k5", "k6", "k7"
#else
#define SWITCH_CLOBBERS_512
#endif

/*
 * Suspends FROM and continues TO.  Returns FROM, once another switch continues it.
 * All registers but rbp are clobbered, so the compiler saves those that it needs.
 */
static inline __attribute__((__always_inline__)) struct context *
context_switch(struct context *from, struct context *to)
{
	__asm__ volatile("movq %%rsp, 0(%0)\n\t"
			 "movq %%rbp, 8(%0)\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "movq %%rax, 16(%0)\n\t"
			 "movq 0(%1), %%rsp\n\t"
			 "movq 8(%1), %%rbp\n\t"
			 "jmpq *16(%1)\n"
			 "1:"
			 : "+D"(from), "+S"(to)
			 :
			 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13",
			   "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
			   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "memory", "cc" SWITCH_CLOBBERS_512);
	return to;
}

/* Whether returns are checked against a second stack, which a switch does not change. */
static inline bool has_shadow_stack(void)
{
	unsigned long pointer = 0;

	__asm__("rdsspq %0" : "+r"(pointer)); /* does nothing without one */
	return pointer;
}

/* START finds the stack as after a call, with a null return address. */
static inline void context_new(struct context *context, char *top, void (*start)(void))
{
	void **sp = (void **)top - 1;

	*sp = NULL;
	*context = (struct context){ (void *)sp, NULL, (void *)start };
}

#elif defined(__aarch64__)

#define CAN_SWITCH 1

/* All registers but x18, the platform's, and x29 are clobbered. */
static inline __attribute__((__always_inline__)) struct context *
context_switch(struct context *from, struct context *to)
{
	register struct context *x0 __asm__("x0") = from;
	register struct context *x1 __asm__("x1") = to;

	__asm__ volatile("mov x9, sp\n\t"
			 "adr x10, 1f\n\t"
			 "stp x9, x29, [x0]\n\t"
			 "str x10, [x0, 16]\n\t"
			 "ldp x9, x29, [x1]\n\t"
			 "ldr x10, [x1, 16]\n\t"
			 "mov sp, x9\n\t"
			 "br x10\n"
			 "1: hint 36" /* bti j */
			 : "+r"(x0), "+r"(x1)
			 :
			 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x23",
			   "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4",
			   "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
			   "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
			   "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
	return x1;
}

/* Whether returns are checked against a second stack, which a switch does not change. */
static inline bool has_shadow_stack(void)
{
	register unsigned long x16 __asm__("x16") = 1;

	__asm__("hint 40" : "+r"(x16)); /* chkfeat: clears the bit if there is one */
	return !x16;
}

static inline void context_new(struct context *context, char *top, void (*start)(void))
{
	*context = (struct context){ top, NULL, (void *)start };
}

#else

#define CAN_SWITCH 0

static inline bool has_shadow_stack(void)
{
	return false;
}

static inline struct context *context_switch(struct context *from, struct context *to)
{
	(void)from;
	return to;
}

static inline void context_new(struct context *context, char *top, void (*start)(void))
{
	(void)context, (void)top, (void)start;
}

#endif

/* What the sanitizers need to know about a stack. */
struct fiber {
#if defined(SWITCH_ASAN) || defined(SWITCH_TSAN)
	void *handle; /* ASan: its fake stack; TSan: its fiber */
	const void *bottom;
	size_t size;
#endif
};

/* For a new stack, which extends from BOTTOM up. */
static inline void fiber_new(struct fiber *fiber, void *bottom, size_t size)
{
	(void)fiber, (void)bottom, (void)size;
#if defined(SWITCH_ASAN) || defined(SWITCH_TSAN)
	*fiber = (struct fiber){ NULL, bottom, size };
#endif
#ifdef SWITCH_ASAN
	ASAN_UNPOISON_MEMORY_REGION(bottom, size);
#endif
#ifdef SWITCH_TSAN
	fiber->handle = __tsan_create_fiber(0);
#endif
}

/* For the kernel thread's own stack. */
static inline void fiber_adopt(struct fiber *fiber)
{
	(void)fiber;
#ifdef SWITCH_TSAN
	fiber->handle = __tsan_get_current_fiber();
#endif
}

static inline void fiber_delete(struct fiber *fiber)
{
	(void)fiber;
#ifdef SWITCH_TSAN
	__tsan_destroy_fiber(fiber->handle);
#endif
}

/* Before a jump; ENDS: the stack that is left will not run again. */
static inline void fiber_leave(struct fiber *from, struct fiber *to, int ends)
{
	(void)from, (void)to, (void)ends;
#ifdef SWITCH_ASAN
	__sanitizer_start_switch_fiber(ends ? NULL : &from->handle, to->bottom, to->size);
#endif
#ifdef SWITCH_TSAN
	__tsan_switch_to_fiber(to->handle, 0);
#endif
}

/* After a jump; FROM is where it came from. */
static inline void fiber_enter(struct fiber *self, struct fiber *from)
{
	(void)self, (void)from;
#ifdef SWITCH_ASAN
	/* Where the kernel thread's own stack lies is learnt when it is left for the first time. */
	__sanitizer_finish_switch_fiber(self->handle, &from->bottom, &from->size);
#endif
}

#endif /* FLEXSC_SWITCH_H */
