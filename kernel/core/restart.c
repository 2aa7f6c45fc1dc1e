// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps interrupted calls while signals are handled, so that a restart makes the same call
 * although a handler has changed the slot.
 *
 * There is room for the latest calls of all tasks.  A batch that never continues thus leaks
 * nothing; one whose call has been displaced fetches the slot again.
 */
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/ferry.h>
#include <asm/syscall.h>

#include "restart.h"

#define KEPT_BITS 6

struct kept_call {
	const struct task_struct *task;
	u64 start_time; /* of the task: another may get its address */
	const struct ferry_slot __user *slot;
	struct ferry_head head;
	unsigned long args[FERRY_MAX_ARGS];
};

static struct kept_call kept_calls[1 << KEPT_BITS];
static DEFINE_SPINLOCK(kept_lock); /* protects kept_calls[] */

static struct kept_call *place(void)
{
	return &kept_calls[hash_ptr(current, KEPT_BITS)];
}

void ferry_keep_call(const struct ferry_slot __user *slot, const struct ferry_head *head,
		     struct pt_regs *regs)
{
	struct kept_call call = {
		.task = current,
		.start_time = current->start_time,
		.slot = slot,
		/* Without the rest: results have been forwarded to its arguments already. */
		.head.first_word = head->first_word,
	};

	syscall_get_arguments(current, regs, call.args);
	spin_lock(&kept_lock);
	*place() = call;
	spin_unlock(&kept_lock);
}

bool ferry_take_back_call(const struct ferry_slot __user *slot, struct ferry_head *head,
			  struct pt_regs *regs)
{
	struct kept_call call;

	spin_lock(&kept_lock);
	call = *place();
	if (call.task == current)
		place()->task = NULL;
	spin_unlock(&kept_lock);
	if (call.task != current || call.start_time != current->start_time || call.slot != slot)
		return false;
	*head = call.head;
	ferry_set_args(regs, call.args);
	return true;
}
