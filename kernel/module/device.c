// SPDX-License-Identifier: GPL-2.0
/*
 * batch() and flexsc_serve() as ioctls of /dev/ferry.  The position of a batch lies in the
 * caller's struct ferry_batch_args while it is restarted, and all that flexsc knows in its set;
 * an open file has no state, so that it does not matter who opened it, or who else uses it.
 *
 * The caller's registers hold the ioctl.  The calls of slots are in registers of their own,
 * which seccomp, audit, tracers and tracepoints would not see: none of those may be
 * interested in the task.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/ferry.h>

#include "../core/batch.h"
#include "../core/flexsc.h"
#include "device.h"

/* Asked for before each call: a filter that a slot installed stops the batch. */
long ferry_watched_call(struct ferry_caller *caller, unsigned long nr)
{
	caller->stopped = STOPPED_REFUSING;
	return FERRY_NO_RESULT;
}

/* A tracer that wants to see calls has to stop the task first: it comes by here again. */
static bool is_watched(void)
{
	return ferry_watched() || current->ptrace;
}

/* One user access for all of them. */
static __always_inline int read_args(struct ferry_batch_args *args,
				     const struct ferry_batch_args __user *user)
{
	if (!user_access_begin(user, sizeof(*user)))
		return -EFAULT;
	unsafe_get_user(args->rets, &user->rets, fault);
	unsafe_get_user(args->calls, &user->calls, fault);
	unsafe_get_user(args->ncall, &user->ncall, fault);
	unsafe_get_user(args->flags, &user->flags, fault);
	unsafe_get_user(args->size, &user->size, fault);
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/*
 * Runs the batch in registers of its own; its number in the caller's tells that one runs.
 * Of the registers handlers read nothing but the arguments, which come with each slot.
 */
static __always_inline long run_batch(const struct ferry_batch_args *args,
				      struct pt_regs *caller_regs, unsigned long *position)
{
	struct pt_regs regs __uninitialized;
	struct ferry_caller caller = { .regs = &regs };
	unsigned long nr = ferry_get_nr(caller_regs);
	long answer;

	ferry_set_nr(caller_regs, FERRY_NR_BATCH);
	answer = ferry_batch(&caller, u64_to_user_ptr(args->rets),
			     u64_to_user_ptr(args->calls), args->ncall,
			     args->flags, args->size);
	ferry_set_nr(caller_regs, nr);
	*position = caller.position;
	return answer;
}

static __always_inline long batch_ioctl(struct ferry_batch_args __user *user)
{
	struct pt_regs *caller_regs = current_pt_regs();
	struct ferry_batch_args args;
	unsigned long position;
	long answer;

	if (read_args(&args, user))
		return -EFAULT;
	if (is_watched() && args.flags != FERRY_BATCH_QUERY)
		return -EOPNOTSUPP;
	answer = run_batch(&args, caller_regs, &position);
	if (likely(!position && !(args.flags & FERRY_BATCH_RESUME)))
		return answer;
	if (!put_user(position, &user->flags))
		return answer;
	/* Restarted without its position the batch would run again. */
	force_sig_fault(SIGSEGV, SEGV_MAPERR, &user->flags);
	return -EFAULT;
}

/* As run_batch(): the calls that were posted are in registers of their own. */
static long serve_ioctl(struct ferry_flexsc_set __user *set)
{
	struct pt_regs *caller_regs = current_pt_regs();
	struct pt_regs regs __uninitialized;
	struct ferry_caller caller = { .regs = &regs };
	unsigned long nr = ferry_get_nr(caller_regs);
	long answer;

	if (is_watched())
		return -EOPNOTSUPP;
	if (!set)
		return FERRY_FLEXSC_ANSWER;
	ferry_set_nr(caller_regs, FERRY_NR_FLEXSC_SERVE);
	answer = ferry_flexsc_serve(&caller, set);
	ferry_set_nr(caller_regs, nr);
	return answer;
}

/* Whether the ioctl is a call that another one of them makes. */
static bool is_nested(void)
{
	unsigned long nr = ferry_get_nr(current_pt_regs());

	return nr == FERRY_NR_BATCH || nr == FERRY_NR_FLEXSC_SERVE;
}

static long control(struct file *file, unsigned int command, unsigned long argument)
{
	long answer;

	if (command != FERRY_IOC_BATCH && command != FERRY_IOC_FLEXSC_SERVE)
		return -ENOTTY;
	/* A slot cannot make a batch: nothing would bound the depth of the stack. */
	if (is_nested())
		return -ENOSYS;
	/*
	 * A task with descriptors of its own has no reference to the file while it uses it,
	 * since it cannot close it meanwhile.  A batch can.
	 */
	get_file(file);
	if (command == FERRY_IOC_BATCH)
		answer = batch_ioctl((struct ferry_batch_args __user *)argument);
	else
		answer = serve_ioctl((struct ferry_flexsc_set __user *)argument);
	fput(file);
	/*
	 * Going on would take another ioctl.  A filter that a slot installed was not there
	 * when this one was made, and does not have to allow it.
	 */
	if (answer == -ERESTARTNOINTR && is_watched())
		return -EOPNOTSUPP;
	return answer;
}

const struct file_operations ferry_device = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
	.llseek = noop_llseek,
};
