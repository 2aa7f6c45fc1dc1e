/* SPDX-License-Identifier: MIT */
#ifndef THREADS_CREATE_H
#define THREADS_CREATE_H

/* When the library is loaded, by the first thread. */
void create_load(void);

/* After fork(), in the child. */
void create_reset(void);

#endif /* THREADS_CREATE_H */
