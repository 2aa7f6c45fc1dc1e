// SPDX-License-Identifier: MIT
#include "memory_policy.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <string.h>

#include <ferry/rawcall.h>

#define ONE_NODE (-1)
#define BITS (8 * sizeof(unsigned long))

/* Whether the machine has node 0 alone. */
static bool has_one_node(void)
{
	char text[4] = "";
	long fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)"/sys/devices/system/node/online",
				O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return true; /* a kernel without nodes */
	ferry_rawcall(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return !strcmp(text, "0\n");
}

static bool get(struct memory_policy *policy)
{
	policy->mode = 0;
	memset(policy->nodes, 0, sizeof(policy->nodes));
	return !ferry_rawcall(SYS_get_mempolicy, (long)&policy->mode, (long)policy->nodes,
			      MOST_NODES, 0, 0, 0);
}

/* The kernel takes one bit less than it is told. */
static bool set(const struct memory_policy *policy)
{
	return !ferry_rawcall(SYS_set_mempolicy, policy->mode, (long)policy->nodes, MOST_NODES + 1,
			      0, 0, 0);
}

bool ferry__memory_policy_of_caller(struct memory_policy *policy)
{
	unsigned int node = 0;

	policy->mode = ONE_NODE;
	if (has_one_node())
		return true;
	if (!get(policy))
		return false;
	if (policy->mode != MPOL_DEFAULT && policy->mode != MPOL_LOCAL)
		return true;
	/* The node of the thread itself, wherever the helper is. */
	if (ferry_rawcall(SYS_getcpu, 0, (long)&node, 0, 0, 0, 0) || node >= MOST_NODES)
		return false;
	policy->mode = MPOL_PREFERRED;
	policy->nodes[node / BITS] |= 1UL << node % BITS;
	return true;
}

bool ferry__memory_policy_take(const struct memory_policy *policy, struct memory_policy *before)
{
	before->mode = ONE_NODE;
	return policy->mode == ONE_NODE || (get(before) && set(policy));
}

void ferry__memory_policy_return(const struct memory_policy *before)
{
	if (before->mode != ONE_NODE)
		set(before);
}
