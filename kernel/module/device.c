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
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/ferry.h>

#include "../core/batch.h"
#include "../core/flexsc.h"
#include "device.h"

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
 * Stores POSITION, where the batch left with ANSWER, for the ioctl or the caller to continue.
 * The results of ioctls are int, so a partial answer becomes an error.
 */
static noinline long store_position(struct ferry_batch_args __user *user, unsigned long position,
				    long answer)
{
	if (answer >= FERRY_BATCH_PARTIAL)
		answer = -EOPNOTSUPP;
	if (!put_user(ferry_is_restart(answer) || answer == -EOPNOTSUPP ? position : 0,
		      &user->flags))
		return answer;
	/* Without its position, the restarted batch would run again from the start. */
	force_sig_fault(SIGSEGV, SEGV_MAPERR, &user->flags);
	return -EFAULT;
}

static __always_inline long batch_ioctl(struct ferry_batch_args __user *user, bool interrupted)
{
	struct pt_regs regs __uninitialized;
	struct ferry_caller caller = { .regs = &regs };
	struct ferry_batch_args args;
	long answer;

	if (read_args(&args, user))
		return -EFAULT;
	if (unlikely(interrupted && args.flags & FERRY_BATCH_RESUME))
		args.flags |= FERRY_BATCH_EINTR;
	answer = ferry_batch(&caller, u64_to_user_ptr(args.rets), u64_to_user_ptr(args.calls),
			     args.ncall, args.flags, args.size);
	if (likely(!ferry_is_restart(answer) && answer < FERRY_BATCH_PARTIAL &&
		   !(args.flags & FERRY_BATCH_RESUME)))
		return answer;
	return store_position(user, caller.position, answer);
}

/*
 * Continuing takes another ioctl.  A filter that came since this one was made need not allow
 * another, so the caller continues.  Signal delivery still learns what ANSWER was: a handler
 * may end the call that the batch left.
 */
static long leave_to_caller(struct pt_regs *regs, long answer)
{
	regs->orig_ax |= (unsigned long)-answer << FERRY_MARK_ERROR_SHIFT;
	return -EOPNOTSUPP;
}

static long serve_ioctl(struct ferry_flexsc_set __user *set, bool interrupted)
{
	struct pt_regs regs __uninitialized;
	struct ferry_caller caller = { .regs = &regs };
	long answer;

	if (ferry_watchers(current))
		return -EOPNOTSUPP;
	if (!set)
		return FERRY_FLEXSC_ANSWER;
	answer = ferry_flexsc_serve(&caller, set, interrupted);
	return answer == -ERESTARTNOINTR && ferry_watchers(current) ? -EOPNOTSUPP : answer;
}

/*
 * The number in the registers says whether a slot or a posted call made this ioctl.  Marks in
 * its upper half, which has no meaning to the kernel, come back when the ioctl is restarted.
 */
static long control(struct file *file, unsigned int command, unsigned long argument)
{
	struct pt_regs *regs = current_pt_regs();
	bool interrupted = regs->orig_ax & FERRY_MARK_EINTR;
	long answer;

	if (command != FERRY_IOC_BATCH && command != FERRY_IOC_FLEXSC_SERVE)
		return -ENOTTY;
	/* A slot must not run a batch: nothing would bound the depth of the stack. */
	if (regs->orig_ax == FERRY_NR_BATCH)
		return -ENOSYS;
	regs->orig_ax = FERRY_NR_BATCH;
	/*
	 * A task that shares its descriptors with no other uses a file without a reference,
	 * because it cannot close the file meanwhile.  A batch can.
	 */
	get_file(file);
	if (command == FERRY_IOC_BATCH)
		answer = batch_ioctl((struct ferry_batch_args __user *)argument, interrupted);
	else
		answer = serve_ioctl((struct ferry_flexsc_set __user *)argument, interrupted);
	fput(file);
	regs->orig_ax = __NR_ioctl;
	if (!ferry_is_restart(answer))
		return answer;
	regs->orig_ax |= FERRY_MARK_LEFT;
	if (command == FERRY_IOC_BATCH && ferry_watchers(current))
		return leave_to_caller(regs, answer);
	return answer;
}

const struct file_operations ferry_device = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
	.llseek = noop_llseek,
};
