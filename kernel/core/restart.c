// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether a call in a batch is restarted after a signal.
 *
 * For a call outside a batch, the signal code decides this when it sets up a
 * handler.  A batch has to know earlier: it returns to user space to be restarted
 * as a whole, either at the interrupted slot or after it.  So this code looks ahead
 * at the signals, in the order of get_signal().  If another thread changes a
 * disposition afterwards, the decision stands; outside a batch the same race exists
 * just before the decision.
 */
#include <linux/errno.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>

#include "restart.h"

/* It is stable while the task runs. */
static struct sighand_struct *own_sighand(void)
{
	return rcu_dereference_protected(current->sighand, true);
}

static __sighandler_t disposition(int sig)
{
	return own_sighand()->action[sig - 1].sa.sa_handler;
}

/* Whether delivering SIG neither runs a handler nor kills the task. */
static bool passes_by(int sig)
{
	if (disposition(sig) == SIG_IGN)
		return true;
	return disposition(sig) == SIG_DFL && (sig_kernel_ignore(sig) || sig_kernel_stop(sig));
}

/* The first signal in PENDING that has a handler or kills; 0 if there is none. */
static int first_signal(struct sigpending *pending)
{
	sigset_t skipped = current->blocked;
	int sig;

	while ((sig = next_signal(pending, &skipped)) && passes_by(sig))
		sigaddset(&skipped, sig);
	return sig;
}

/* The same for the signals of the task and of its process.  The siglock is held. */
static int next_effect(void)
{
	int sig = first_signal(&current->pending);

	lockdep_assert_held(&own_sighand()->siglock);
	return sig ?: first_signal(&current->signal->shared_pending);
}

bool ferry_call_restarts(long code)
{
	bool restarts = true;
	int sig;

	/* Without a signal, nothing restarts the batch. */
	if (!signal_pending(current))
		return false;
	if (code == -ERESTARTNOINTR)
		return true;
	spin_lock_irq(&own_sighand()->siglock);
	sig = next_effect();
	if (sig && disposition(sig) != SIG_DFL)
		restarts = code == -ERESTARTSYS &&
			   (own_sighand()->action[sig - 1].sa.sa_flags & SA_RESTART);
	spin_unlock_irq(&own_sighand()->siglock);
	return restarts;
}

bool ferry_signal_kills(void)
{
	bool kills;
	int sig;

	if (!signal_pending(current))
		return false;
	/* A tracer may suppress the signal, unless it is SIGKILL. */
	if (current->ptrace)
		return fatal_signal_pending(current);
	spin_lock_irq(&own_sighand()->siglock);
	sig = next_effect();
	kills = sig && disposition(sig) == SIG_DFL;
	spin_unlock_irq(&own_sighand()->siglock);
	return kills;
}
