// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps interrupted calls while signals are handled, so that a restart makes the same call
 * although a handler has changed the slot.
 *
 * There is room for some calls of all tasks together.  A batch may never continue, so the oldest
 * call gives way to a new one; a batch whose call has gone fetches the slot again.  So does user
 * space, if the restart is left to it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/ferry.h>
#include <asm/syscall.h>

#include "restart.h"

struct kept_call {
	u64 number; /* later calls have higher ones; 0 if there is none here */
	const struct task_struct *task;
	u64 start_time; /* of the task: another may get its address */
	const struct ferry_slot __user *slot;
	struct ferry_head head;
	unsigned long args[FERRY_MAX_ARGS];
};

static struct kept_call kept_calls[64];
static u64 last_number;
static DEFINE_SPINLOCK(kept_lock); /* protects both */

/* The call that current kept for SLOT, or NULL. */
static struct kept_call *find_kept(const struct ferry_slot __user *slot)
{
	struct kept_call *call;

	for (call = kept_calls; call < kept_calls + ARRAY_SIZE(kept_calls); call++)
		if (call->number && call->task == current && call->slot == slot &&
		    call->start_time == current->start_time)
			return call;
	return NULL;
}

/* A free place, or else that of the oldest call. */
static struct kept_call *oldest_kept(void)
{
	struct kept_call *oldest = kept_calls, *call;

	for (call = kept_calls; call < kept_calls + ARRAY_SIZE(kept_calls); call++)
		if (call->number < oldest->number)
			oldest = call;
	return oldest;
}

void ferry_keep_call(const struct ferry_slot __user *slot, const struct ferry_head *head,
		     struct pt_regs *regs)
{
	struct kept_call *place, call = {
		.task = current,
		.start_time = current->start_time,
		.slot = slot,
		/* Without the rest: results have been forwarded to its arguments already. */
		.head.first_word = head->first_word,
	};

	syscall_get_arguments(current, regs, call.args);
	spin_lock(&kept_lock);
	call.number = ++last_number;
	place = find_kept(slot) ?: oldest_kept();
	*place = call;
	spin_unlock(&kept_lock);
}

bool ferry_take_back_call(const struct ferry_slot __user *slot, struct ferry_head *head,
			  struct pt_regs *regs)
{
	struct kept_call *place, call;

	spin_lock(&kept_lock);
	place = find_kept(slot);
	if (place) {
		call = *place;
		place->number = 0;
	}
	spin_unlock(&kept_lock);
	if (!place)
		return false;
	*head = call.head;
	ferry_set_args(regs, call.args);
	return true;
}
