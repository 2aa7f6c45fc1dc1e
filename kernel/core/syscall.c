// SPDX-License-Identifier: GPL-2.0
/*
 * batch() as a system call.
 *
 * The caller's registers do double duty: while a slot runs they hold its call,
 * so that handlers, tracers, seccomp, audit and /proc find it where they look
 * for any other call.  The caller's own values are restored before batch() returns.
 */
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/syscalls.h>
#include <asm/ferry.h>
#include <asm/syscall.h>

#include "batch.h"
#include "syscall.h"

#define FLAGS_REGISTER 3 /* the argument of batch() that carries the position */

static void get_registers(struct pt_regs *regs, struct ferry_registers *saved)
{
	ferry_get_args(regs, saved->arg);
	saved->nr = ferry_get_nr(regs);
}

static void set_registers(struct pt_regs *regs, const struct ferry_registers *saved)
{
	ferry_set_args(regs, saved->arg);
	ferry_set_nr(regs, saved->nr);
}

/*
 * Watchers (ptrace, seccomp, audit, tracepoints) expect calls one after another, not
 * nested.  So they see the outer call exit before its first inner call, like a call
 * that will be restarted, and enter again after its last.
 */
static void report_exit(struct ferry_outer_call *call, struct pt_regs *regs)
{
	struct ferry_registers slot;

	get_registers(regs, &slot);
	set_registers(regs, &call->saved);
	syscall_set_return_value(current, regs, -ERESTARTNOINTR, 0);
	subcall_exit(regs);
	/* A tracer may have changed the registers that the caller gets back. */
	get_registers(regs, &call->saved);
	set_registers(regs, &slot);
	call->reported = true;
}

long ferry_watched_call(struct ferry_caller *caller, unsigned long nr)
{
	struct ferry_outer_call *call = container_of(caller, struct ferry_outer_call, caller);
	struct pt_regs *regs = caller->regs;
	long result;

	if (!call->reported)
		report_exit(call, regs);
	ferry_set_nr(regs, nr);
	syscall_set_return_value(current, regs, -ENOSYS, 0);
	/*
	 * A SIGSYS handler reads the call from the registers and leaves its result
	 * there.  Only a call from user space has such registers.
	 */
	if (ferry_dispatched_to_user() || seccomp_traps()) {
		caller->stopped = STOPPED_REFUSING;
		return FERRY_NO_RESULT;
	}
	if (subcall_enter(regs)) {
		/* A tracer may have changed the number; blocked calls stay blocked. */
		if (nr == __NR_restart_syscall && ferry_get_nr(regs) == nr)
			result = ferry_restart_call();
		else
			result = ferry_make_call(regs, ferry_get_nr(regs));
		syscall_set_return_value(current, regs, 0, result);
	}
	subcall_exit(regs);
	return syscall_get_return_value(current, regs);
}

void ferry_outer_begin(struct ferry_outer_call *call)
{
	struct pt_regs *regs = current_pt_regs();

	call->caller.regs = regs;
	call->caller.position = 0;
	call->caller.stopped = NOT_STOPPED;
	call->reported = false;
	get_registers(regs, &call->saved);
}

long ferry_outer_end(struct ferry_outer_call *call, long answer)
{
	struct pt_regs *regs = call->caller.regs;

	set_registers(regs, &call->saved);
	if (call->reported) {
		syscall_set_return_value(current, regs, -ENOSYS, 0);
		subcall_reenter(regs);
	}
	/* A filter installed since the call began may not allow it again. */
	if (answer == -ERESTARTNOINTR && seccomp_refuses())
		return -EOPNOTSUPP;
	return answer;
}

long do_batch(long __user *rets, const struct ferry_slot __user *calls, unsigned long ncall,
	      unsigned long flags, unsigned long size)
{
	struct ferry_outer_call call;
	long answer;

	ferry_outer_begin(&call);
	answer = ferry_batch(&call.caller, rets, calls, ncall, flags, size);
	if (answer == -ERESTARTNOINTR)
		call.saved.nr = __NR_batch; /* even for the alias, because that ignores flags */
	/* Only the kernel stores a position in flags; the caller passed 0. */
	if (call.caller.position || flags & FERRY_BATCH_RESUME)
		call.saved.arg[FLAGS_REGISTER] = call.caller.position;
	return ferry_outer_end(&call, answer);
}

SYSCALL_DEFINE5(batch, long __user *, rets, const struct ferry_slot __user *, calls,
		unsigned long, ncall, unsigned long, flags, unsigned long, size)
{
	return do_batch(rets, calls, ncall, flags, size);
}
