/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A tracer, for tests: it follows a child from call to call. */
#ifndef TRACER_H
#define TRACER_H

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/** Waits for the first stop of PID, a child that asked to be traced. */
void tracer_start(pid_t pid);

/**
 * Lets PID run to where it next enters or leaves a call, and passes its signals on.  False: it has
 * exited, with 0.
 */
bool tracer_next(pid_t pid, struct __ptrace_syscall_info *info);

/** Lets PID run to where it enters call NR, and describes this in INFO. */
void tracer_run_to(pid_t pid, long nr, struct __ptrace_syscall_info *info);

/*
 * What a tracer reads and changes of a stopped program.  On some machines the first argument is
 * only in PTRACE_GET_SYSCALL_INFO, for its register holds the result as well.
 */
enum tracee_word {
	CALL_NUMBER,
	CALL_RESULT,
	CALL_SECOND, /* argument */
	CALL_THIRD,
	NEXT_INSTRUCTION
};

/**
 * What CALL_RESULT holds when a call with the argument FIRST begins.  A call that the tracer skips
 * returns it, unless the tracer changes it.
 */
static inline long tracee_result_at_entry(long first)
{
#ifdef __aarch64__
	return first; /* one register is for both */
#else
	(void)first;
	return -ENOSYS;
#endif
}

long tracee_get(pid_t pid, enum tracee_word word);
void tracee_set(pid_t pid, enum tracee_word word, long value);

#endif /* TRACER_H */
