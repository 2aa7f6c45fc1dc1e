// SPDX-License-Identifier: GPL-2.0
/* ferry.ko: batches of system calls on a stock kernel, through /dev/ferry. */
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/printk.h>

#include "device.h"

static unsigned short mode = 0600;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/ferry until a udev rule sets others (0600)");

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ferry",
	.fops = &ferry_device,
};

static int __init ferry_start(void)
{
	int error;

	if (mode & ~0666) {
		pr_err("mode=%#o is not a mode of a device: use bits of 0666\n", mode);
		return -EINVAL;
	}
	error = ferry_find_table();
	if (error)
		return error;
	device.mode = mode;
	error = misc_register(&device);
	if (error)
		pr_err("cannot make /dev/ferry: error %d\n", error);
	return error;
}

static void __exit ferry_stop(void)
{
	misc_deregister(&device);
}

module_init(ferry_start);
module_exit(ferry_stop);

MODULE_DESCRIPTION("Batches of system calls in one crossing, through /dev/ferry");
MODULE_AUTHOR("The ferry project");
MODULE_VERSION("0.1.0");
MODULE_LICENSE("GPL");
