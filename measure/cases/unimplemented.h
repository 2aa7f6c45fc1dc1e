/* SPDX-License-Identifier: MIT */
/* A call that no kernel has, so that it is a crossing and nothing else. */
#ifndef UNIMPLEMENTED_H
#define UNIMPLEMENTED_H

#if defined(__x86_64__)
#define UNIMPLEMENTED 511 /* the last number before those of x32 */
#else
#define UNIMPLEMENTED 30000 /* above every number in use */
#endif

#endif /* UNIMPLEMENTED_H */
