// SPDX-License-Identifier: GPL-2.0
/*
 * batch() and flexsc_serve() as ioctls on /dev/ferry.  All state of a batch is in the caller's
 * struct batch_args, and all state of flexsc is in its set.  An open file has no state, so it
 * does not matter who opened it or who else uses it.
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
#include <uapi/linux/ferry.h>
#include <asm/subcall.h>

/* Its code becomes a part of control(), so that a crossing takes one function less. */
#include "../core/batch.c"
#include "../core/flexsc.h"
#include "device.h"

static long serve_set(struct subcall_caller *caller, struct flexsc_set __user *set)
{
	if (subcall_watchers(current))
		return -EOPNOTSUPP;
	return set ? flexsc_serve_set(caller, set) : FLEXSC_ANSWER;
}

/* The ioctl ends as the call in FROM, which its registers then have to hold. */
static noinline void become(const struct pt_regs *from)
{
	struct pt_regs *regs = current_pt_regs();
	unsigned long args[BATCH_MAX_ARGS];

	syscall_get_arguments(current, (struct pt_regs *)from, args);
	subcall_set_args(regs, args);
	subcall_set_nr(regs, syscall_get_nr(current, (struct pt_regs *)from));
	subcall_set_restart_nr(regs);
}

/* The number in the registers says whether a slot or a posted call made this ioctl. */
static __always_inline long make(struct file *file, unsigned long argument, bool is_batch)
{
	struct pt_regs *outer = current_pt_regs();
	/* An array, which the compiler puts above the batch: slots then take short offsets. */
	struct pt_regs regs[1] __uninitialized;
	struct subcall_caller caller __uninitialized;
	long answer;

	/* A slot must not run a batch: nothing would bound the depth of the stack. */
	if (unlikely(syscall_get_nr(current, outer) == FERRY_NR_BATCH))
		return -ENOSYS;
	subcall_set_nr(outer, FERRY_NR_BATCH);
	/* Only tasks without filters come further than this. */
	subcall_caller_init(&caller, regs, is_batch, 0);
	/*
	 * A task that shares its descriptors with no other uses a file without a reference,
	 * because it cannot close the file meanwhile.  A batch can.
	 */
	get_file(file);
	if (is_batch)
		answer = batch_run(&caller, (struct batch_args __user *)argument,
				   argument ? sizeof(struct batch_args) : 0);
	else
		answer = serve_set(&caller, (struct flexsc_set __user *)argument);
	fput(file);
	subcall_set_nr(outer, __NR_ioctl);
	if (unlikely(caller.answers))
		become(regs);
	return answer;
}

static noinline long make_others(struct file *file, unsigned long argument, bool is_batch)
{
	return make(file, argument, is_batch);
}

static __flatten long control(struct file *file, unsigned int command, unsigned long argument)
{
	const bool is_batch = command == FERRY_IOC_BATCH;

	if (likely(is_batch && argument))
		return make(file, argument, true);
	if (is_batch || command == FERRY_IOC_FLEXSC_SERVE)
		return make_others(file, argument, is_batch);
	return -ENOTTY;
}

const struct file_operations ferry_device = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
	.llseek = noop_llseek,
};
