/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_DEVICE_H
#define _FERRY_DEVICE_H

#include <linux/fs.h>

/* The operations of /dev/ferry: its ioctls run batches and posted calls for current. */
extern const struct file_operations ferry_device;

#endif /* _FERRY_DEVICE_H */
