/* SPDX-License-Identifier: MIT */
/* The descriptor of the module's device, which the device engine and flexsc share. */
#ifndef ENGINE_DEVICE_H
#define ENGINE_DEVICE_H

/** The process's descriptor, opened if there is none; or -errno.  It stays the library's. */
int ferry__device_descriptor(void);

#endif /* ENGINE_DEVICE_H */
