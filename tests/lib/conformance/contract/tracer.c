// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A tracer, for tests; see tracer.h. */
#include <elf.h>
#include <sys/uio.h>
#include <sys/user.h>
#ifdef __riscv
#include <asm/ptrace.h>
#endif

#include "suite.h"
#include "tracer.h"

#define AT_CALL (SIGTRAP | 0x80)

void tracer_start(pid_t pid)
{
	int status;

	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSTOPPED(status));
	expect(!ptrace(PTRACE_SETOPTIONS, pid, NULL,
		       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)));
}

bool tracer_next(pid_t pid, struct __ptrace_syscall_info *info)
{
	int status = 0;

	do {
		const long sig = WSTOPSIG(status);

		expect(!ptrace(PTRACE_SYSCALL, pid, NULL, (void *)sig));
		expect_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status)) {
			expect_equal(status, 0);
			return false;
		}
	} while (WSTOPSIG(status) != AT_CALL);
	expect(ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(*info), info) > 0);
	return true;
}

void tracer_run_to(pid_t pid, long nr, struct __ptrace_syscall_info *info)
{
	do
		expect(tracer_next(pid, info));
	while (info->op != PTRACE_SYSCALL_INFO_ENTRY || info->entry.nr != (unsigned long)nr);
}

#define WORD(name)                                                   \
	{                                                            \
		NT_PRSTATUS, offsetof(struct user_regs_struct, name) \
	}

/* The set of registers that PTRACE_GETREGSET calls so, and the place in it. */
struct place {
	long set;
	size_t at;
};

#if defined(__x86_64__)
static const struct place words[] = {
	[CALL_NUMBER] = WORD(orig_rax), [CALL_RESULT] = WORD(rax),	[CALL_SECOND] = WORD(rsi),
	[CALL_THIRD] = WORD(rdx),	[NEXT_INSTRUCTION] = WORD(rip),
};
#elif defined(__riscv)
static const struct place words[] = {
	[CALL_NUMBER] = WORD(a7), [CALL_RESULT] = WORD(a0),	 [CALL_SECOND] = WORD(a1),
	[CALL_THIRD] = WORD(a2),  [NEXT_INSTRUCTION] = WORD(pc),
};
#elif defined(__aarch64__)
static const struct place words[] = {
	/* The kernel took it from x8, and keeps it in a set of its own. */
	[CALL_NUMBER] = { NT_ARM_SYSTEM_CALL, 0 },
	[CALL_RESULT] = WORD(regs[0]),
	[CALL_SECOND] = WORD(regs[1]),
	[CALL_THIRD] = WORD(regs[2]),
	[NEXT_INSTRUCTION] = WORD(pc),
};
#else
#error "which registers hold a call?"
#endif

/* Transfers the set that WORD is in. */
static void registers(int request, pid_t pid, enum tracee_word word, struct user_regs_struct *all)
{
	struct iovec vector = { all, sizeof(*all) };

	expect(!ptrace(request, pid, (void *)words[word].set, &vector));
}

long tracee_get(pid_t pid, enum tracee_word word)
{
	struct user_regs_struct all = { 0 };
	long value;

	registers(PTRACE_GETREGSET, pid, word, &all);
	memcpy(&value, (char *)&all + words[word].at, sizeof(value));
	return value;
}

void tracee_set(pid_t pid, enum tracee_word word, long value)
{
	struct user_regs_struct all = { 0 };

	registers(PTRACE_GETREGSET, pid, word, &all);
	memcpy((char *)&all + words[word].at, &value, sizeof(value));
	registers(PTRACE_SETREGSET, pid, word, &all);
}
