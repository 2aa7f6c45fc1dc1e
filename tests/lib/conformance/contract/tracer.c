// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A tracer, for tests; see tracer.h. */
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
