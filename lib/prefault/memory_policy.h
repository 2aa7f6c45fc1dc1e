/* SPDX-License-Identifier: MIT */
/*
 * The NUMA policy of a thread.  Memory that helpers map has to go where the caller's own touch
 * would have put it.
 */
#ifndef PREFAULT_MEMORY_POLICY_H
#define PREFAULT_MEMORY_POLICY_H

#include <stdbool.h>

#define MOST_NODES 1024 /* of any kernel */

struct memory_policy {
	int mode; /* of get_mempolicy(2), with its flags; -1: the machine has one node */
	unsigned long nodes[MOST_NODES / 8 / sizeof(unsigned long)];
};

/**
 * Stores the policy that a helper needs to act as the calling thread.  Returns false if that
 * cannot be found out.
 */
bool ferry__memory_policy_of_caller(struct memory_policy *policy);

/** Gives the calling thread POLICY, and stores what it had in BEFORE.  Returns false if refused. */
bool ferry__memory_policy_take(const struct memory_policy *policy, struct memory_policy *before);

/** Gives it back. */
void ferry__memory_policy_return(const struct memory_policy *before);

#endif /* PREFAULT_MEMORY_POLICY_H */
