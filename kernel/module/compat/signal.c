// SPDX-License-Identifier: GPL-2.0
/* What the series does in the kernel's signal code, and functions that are not exported. */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/unistd.h>

#include "../../core/batch.h"

static struct tracepoint *delivery;

/* What subcall_handle_signal() is in the series: ACTION's handler is about to run. */
static void on_delivery(void *data, int sig, struct kernel_siginfo *info,
			struct k_sigaction *action)
{
	struct pt_regs *regs = current_pt_regs();
	bool restarts = regs->ax != -EOPNOTSUPP;
	long error = restarts ? (long)regs->ax : -FERRY_MARK_ERROR(regs->orig_ax);

	if (action->sa.sa_handler == SIG_DFL || action->sa.sa_handler == SIG_IGN)
		return;
	if (!(regs->orig_ax & FERRY_MARK_LEFT) || (int)regs->orig_ax != __NR_ioctl)
		return;
	if (!ferry_handler_ends_call(error, action->sa.sa_flags))
		return;
	/* Otherwise the caller, which continues the batch, learns it from the error. */
	if (restarts)
		regs->orig_ax |= FERRY_MARK_EINTR;
	regs->ax = restarts ? -ERESTARTNOINTR : -EINTR;
}

static void __init find_delivery(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "signal_deliver"))
		delivery = tracepoint;
}

int __init ferry_watch_signals(void)
{
	int error = -ENOENT;

	for_each_kernel_tracepoint(find_delivery, NULL);
	if (delivery)
		error = tracepoint_probe_register(delivery, on_delivery, NULL);
	if (error)
		pr_err("cannot use the tracepoint signal_deliver: error %d\n", error);
	return error;
}

void ferry_unwatch_signals(void)
{
	tracepoint_probe_unregister(delivery, on_delivery, NULL);
	tracepoint_synchronize_unregister();
}

static bool is_held_back(int sig)
{
	__sighandler_t handler;
	bool held_back;

	spin_lock_irq(&current->sighand->siglock);
	handler = current->sighand->action[sig - 1].sa.sa_handler;
	held_back = sigismember(&current->blocked, sig) || handler == SIG_IGN ||
		    (handler == SIG_DFL && current->signal->flags & SIGNAL_UNKILLABLE);
	spin_unlock_irq(&current->sighand->siglock);
	return held_back;
}

/* force_sig() overrides what holds SIG back, but cannot pass CODE and ADDRESS. */
void ferry_force_sig_fault(int sig, int code, void __user *address)
{
	struct kernel_siginfo info;

	if (is_held_back(sig)) {
		force_sig(sig);
		return;
	}
	clear_siginfo(&info);
	info.si_signo = sig;
	info.si_code = code;
	info.si_addr = address;
	send_sig_info(sig, &info, current);
}
