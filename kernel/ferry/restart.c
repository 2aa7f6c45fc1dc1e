// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a call within a batch that a signal interrupted.
 *
 * For a call of its own the signal code decides that when it sets up a handler.
 * A batch has to know before: it goes back to user space to be restarted as a
 * whole, either at the interrupted slot or after it.  So this looks ahead, in
 * the order of get_signal().  A disposition that another thread changes after
 * that may decide otherwise, as it may for a call of its own just before.
 */
#include <linux/errno.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>

#include "restart.h"

/* The action of the first of PENDING that has a handler. */
static const struct k_sigaction *first_handler(struct sigpending *pending)
{
	sigset_t skipped = current->blocked;
	int sig;

	while ((sig = next_signal(pending, &skipped))) {
		const struct k_sigaction *action = &current->sighand->action[sig - 1];

		if (action->sa.sa_handler != SIG_DFL && action->sa.sa_handler != SIG_IGN)
			return action;
		sigaddset(&skipped, sig);
	}
	return NULL;
}

bool ferry_call_restarts(long code)
{
	const struct k_sigaction *handler;
	bool restarts = true;

	/* Nobody would restart the batch. */
	if (!signal_pending(current))
		return false;
	if (code == -ERESTARTNOINTR)
		return true;
	spin_lock_irq(&current->sighand->siglock);
	handler = first_handler(&current->pending);
	if (!handler)
		handler = first_handler(&current->signal->shared_pending);
	if (handler)
		restarts = code == -ERESTARTSYS && (handler->sa.sa_flags & SA_RESTART);
	spin_unlock_irq(&current->sighand->siglock);
	return restarts;
}
