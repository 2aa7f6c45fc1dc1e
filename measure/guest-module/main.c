// SPDX-License-Identifier: GPL-2.0
/*
 * A device for measuring, never to be loaded elsewhere: it calls any handler
 * with any arguments, past seccomp and tracers.  Its parameters are addresses, as
 * /proc/kallsyms shows them to root.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "internal.h"

static unsigned long table;
module_param_named(sys_call_table, table, ulong, 0400);
MODULE_PARM_DESC(sys_call_table, "its address");

const sys_call_ptr_t *calls_of_kernel;

static long direct(void __user *user)
{
	struct ferry_bench_direct direct;
	long error;

	if (copy_from_user(&direct, user, sizeof(direct)))
		return -EFAULT;
	error = measure_direct(&direct);
	if (error)
		return error;
	return copy_to_user(user, &direct, sizeof(direct)) ? -EFAULT : 0;
}

static long naive(const void __user *user)
{
	struct batch_args args;

	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	return naive_batch(&args);
}

static long control(struct file *file, unsigned int command, unsigned long argument)
{
	switch (command) {
	case FERRY_BENCH_DIRECT:
		return direct((void __user *)argument);
	case FERRY_BENCH_NAIVE:
		return naive((const void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ferry-bench",
	.fops = &operations,
	.mode = 0600,
};

static int __init start(void)
{
	if (!table)
		return -EINVAL;
	calls_of_kernel = (const sys_call_ptr_t *)table;
	return misc_register(&device);
}

static void __exit stop(void)
{
	misc_deregister(&device);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("ferry's measurements from within the kernel");
MODULE_LICENSE("GPL");
