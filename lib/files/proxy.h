/* SPDX-License-Identifier: MIT */
/*
 * A thread that makes system calls for a member, which waits for it only up to a time limit.  A
 * proxy that hangs is left behind: it uses only memory of its own, and frees itself after its call.
 */
#ifndef FILES_PROXY_H
#define FILES_PROXY_H

#include <stdbool.h>
#include <stddef.h>

#include "crew.h"

#define PROXY_NAMES 2 /* the most in one call */

/* What a proxy may have to copy: names, and the output. */
struct proxy_call {
	long nr;
	long args[6];
	unsigned int names; /* a bit for each argument that is a name; one that is NULL stays so */
	int output;	    /* the argument that the call writes to, or 0 */
	size_t output_size; /* bytes */
};

/** Makes CALL in the proxy of MEMBER.  Reads are cut short to the size of a proxy's memory. */
long ferry__proxy_call(struct member *member, const struct proxy_call *call);

/** Ends PROXY, which has no call to make. */
void ferry__proxy_dismiss(struct proxy *proxy);

#endif /* FILES_PROXY_H */
