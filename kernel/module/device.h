/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_DEVICE_H
#define _FERRY_DEVICE_H

#include <linux/fs.h>

/* What can be done with /dev/ferry: an ioctl runs a batch for current. */
extern const struct file_operations ferry_device;

#endif /* _FERRY_DEVICE_H */
