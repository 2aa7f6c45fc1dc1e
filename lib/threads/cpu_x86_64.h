/* SPDX-License-Identifier: MIT */
/* x86-64 with FSGSBASE: see cpu.h. */
#ifndef THREADS_CPU_X86_64_H
#define THREADS_CPU_X86_64_H

#include <immintrin.h>
#include <stdbool.h>
#include <sys/auxv.h>

#include "raw.h"

#define HWCAP2_FSGSBASE (1UL << 1)
#define ARCH_SHSTK_STATUS 0x5005

static inline unsigned long thread_pointer(void)
{
	return _readfsbase_u64();
}

static inline void set_thread_pointer(unsigned long tp)
{
	_writefsbase_u64(tp);
}

static inline bool can_set_thread_pointer(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static inline bool has_shadow_stack(void)
{
	unsigned long features = 0;

	return !raw3(SYS_arch_prctl, ARCH_SHSTK_STATUS, (long)&features, 0) && features & 1;
}

static inline void relax(void)
{
	_mm_pause();
}

static inline void order_after_atomic(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#define LIBC_VERSION "GLIBC_2.2.5"
#define CONDITION_VERSION "GLIBC_2.3.2"

#define OLD_BIRTHS \
	SYS_open, SYS_creat, SYS_eventfd, SYS_epoll_create, SYS_signalfd, SYS_inotify_init,
#define OLD_BINDING SYS_ioperm, SYS_iopl, SYS_arch_prctl, SYS_vfork, SYS_fork,

#define JUMP(name, index)                               \
	__asm__(".text\n"                               \
		".globl " name "\n"                     \
		".type " name ",@function\n" name ":\n" \
		"	push %rdi\n"                          \
		"	push %rsi\n"                          \
		"	push %rdx\n"                          \
		"	push %rcx\n"                          \
		"	push %r8\n"                           \
		"	push %r9\n"                           \
		"	sub $8, %rsp\n"                       \
		"	mov $" #index ", %edi\n"        \
		"	call ferry_threads_jump\n"            \
		"	mov %rax, %r11\n"                     \
		"	add $8, %rsp\n"                       \
		"	pop %r9\n"                            \
		"	pop %r8\n"                            \
		"	pop %rcx\n"                           \
		"	pop %rdx\n"                           \
		"	pop %rsi\n"                           \
		"	pop %rdi\n"                           \
		"	jmp *%r11\n"                          \
		".size " name ", .-" name "\n")

#endif /* THREADS_CPU_X86_64_H */
