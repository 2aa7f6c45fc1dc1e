// SPDX-License-Identifier: GPL-2.0
/* Signal functions that the kernel does not export. */
#include <linux/bitops.h>
#include <linux/signal.h>
#include <linux/spinlock.h>

/* As in kernel/signal.c, signals that an instruction raises are delivered first. */
#define SYNCHRONOUS                                                                             \
	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) |              \
	 sigmask(SIGFPE) | sigmask(SIGSYS))

/* The next signal in PENDING that MASK does not block; 0 if there is none. */
int ferry_next_signal(const struct sigpending *pending, const sigset_t *mask)
{
	unsigned long set = pending->signal.sig[0] & ~mask->sig[0];

	BUILD_BUG_ON(_NSIG_WORDS != 1);
	if (set & SYNCHRONOUS)
		set &= SYNCHRONOUS;
	return set ? __ffs(set) + 1 : 0;
}

static bool is_held_back(int sig)
{
	bool held_back;

	spin_lock_irq(&current->sighand->siglock);
	held_back = sigismember(&current->blocked, sig) ||
		    current->sighand->action[sig - 1].sa.sa_handler == SIG_IGN;
	spin_unlock_irq(&current->sighand->siglock);
	return held_back;
}

/* force_sig() overrides blocking and ignoring SIG, but cannot pass CODE and ADDRESS. */
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
