// SPDX-License-Identifier: GPL-2.0
/*
 * batch() and flexsc_serve() as ioctls on /dev/ferry.  Across a restart, the position of a
 * batch is in the caller's struct ferry_batch_args, and all state of flexsc is in its set.  An
 * open file has no state, so it does not matter who opened it or who else uses it.
 *
 * The caller's registers hold the ioctl.  The calls of slots are in separate registers, which
 * seccomp, audit, tracers and tracepoints do not see, so none of these may be active for the
 * task.
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

/* Checked before each call: a filter that a slot installs stops the batch. */
long ferry_watched_call(struct ferry_caller *caller, unsigned long nr)
{
	caller->stopped = STOPPED_REFUSING;
	return FERRY_NO_RESULT;
}

/* A tracer that wants to see calls stops the task first, which is then checked again. */
static bool is_watched(void)
{
	return ferry_watched() || current->ptrace;
}

/* Reads all of them in one user access. */
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
 * Runs the batch in separate registers; its number in the caller's registers marks that one
 * is running.  Handlers read only the arguments, which come with each slot.
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
	/* Without its position, the restarted batch would run again from the start. */
	force_sig_fault(SIGSEGV, SEGV_MAPERR, &user->flags);
	return -EFAULT;
}

/* Like run_batch(): the posted calls are in separate registers. */
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

/* Whether a slot or a posted call made this ioctl. */
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
	/* A slot must not run a batch: nothing would bound the depth of the stack. */
	if (is_nested())
		return -ENOSYS;
	/*
	 * A task that shares its descriptors with no other uses a file without a reference,
	 * because it cannot close the file meanwhile.  A batch can.
	 */
	get_file(file);
	if (command == FERRY_IOC_BATCH)
		answer = batch_ioctl((struct ferry_batch_args __user *)argument);
	else
		answer = serve_ioctl((struct ferry_flexsc_set __user *)argument);
	fput(file);
	/*
	 * Continuing would take another ioctl.  A filter that a slot installed was not active
	 * when this one was made, and need not allow another.
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
