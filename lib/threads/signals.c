// SPDX-License-Identifier: MIT
#include "signals.h"

#include <immintrin.h>
#include <signal.h>
#include <unistd.h>

#include "carrier.h"
#include "home.h"

#define BIT(signal) (1UL << ((signal)-1))

/* libc's own: it changes the credentials of each kernel thread. */
#define SIGSETXID 33

/* What an instruction or a call of the running thread causes: right on any kernel thread. */
#define SYNCHRONOUS                                                                            \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS) | \
	 BIT(SIGPIPE) | BIT(SIGXFSZ))

/* A home also takes SIGABRT: libc's own abort() sends it there. */
#define HOME_MASK (~(BIT(SIGSETXID) | BIT(SIGABRT)))
#define CARRIER_MASK (~BIT(SIGSETXID))

static uint64_t change_mask(uint64_t mask)
{
	uint64_t old = 0;

	raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&old, sizeof(mask), 0, 0);
	return old;
}

uint64_t signals_block(void)
{
	return change_mask(HOME_MASK);
}

void signals_set(uint64_t mask)
{
	change_mask(mask);
}

void signals_follow(struct carrier *carrier, const struct thread *thread)
{
	const uint64_t mask = CARRIER_MASK & ~(SYNCHRONOUS & ~thread->mask);

	if (carrier->mask == mask)
		return;
	carrier->mask = mask;
	change_mask(mask);
}

/* ---- handlers ---- */

/* As the kernel has it. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

uint64_t signals_pending(void)
{
	uint64_t set = 0;

	raw3(SYS_rt_sigpending, (long)&set, sizeof(set), 0);
	return set;
}

static bool ends(int signal, bool restarts)
{
	struct action action = { 0 };

	raw6(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0);
	if (action.handler == SIG_DFL || action.handler == SIG_IGN)
		return false;
	return !restarts || !(action.flags & SA_RESTART);
}

bool signals_end_call(uint64_t mask, bool restarts)
{
	const uint64_t due = signals_pending() & ~mask;
	int signal;

	for (signal = 1; signal <= 64; signal++)
		if (due & BIT(signal) && ends(signal, restarts))
			return true;
	return false;
}

void signals_raise(int signal)
{
	struct action action = { 0 };

	raw6(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0);
	if (action.handler == SIG_IGN)
		return;
	home_enter("a signal for its own call");
	raw3(SYS_tgkill, getpid(), raw3(SYS_gettid, 0, 0, 0), signal);
	home_leave();
}

/* ---- signals of the process ---- */

static bool takes(struct thread *thread, const void *data)
{
	const uint64_t *set = data;

	if (thread->place != PLACE_CARRIED || !(*set & ~thread->mask))
		return false;
	home_call(thread, CALL_SIGNAL);
	return true;
}

void signals_arrived(void)
{
	uint64_t set = signals_pending() & ~SYNCHRONOUS;

	if (set)
		home_find(takes, &set);
}

/* ---- set*id() ---- */

static void (*libc_setxid)(int signal, siginfo_t *info, void *context);

/*
 * libc's handler marks "this thread" as done by the thread pointer.  On a carrier that runs a
 * thread, this would mark the wrong one, and libc would wait for ever.
 */
static void setxid(int signal, siginfo_t *info, void *context)
{
	const struct carrier *carrier = carrier_of_tid((int)raw3(SYS_gettid, 0, 0, 0));
	const unsigned long fs = _readfsbase_u64();

	if (carrier)
		_writefsbase_u64(carrier->host.fs);
	libc_setxid(signal, info, context);
	if (carrier)
		_writefsbase_u64(fs);
}

void signals_start(void)
{
	struct action action = { 0 };

	raw6(SYS_rt_sigaction, SIGSETXID, 0, (long)&action, sizeof(action.mask), 0, 0);
	if (!action.handler || action.handler == (void (*)(int))(void *)setxid)
		return;
	libc_setxid = (void (*)(int, siginfo_t *, void *))(void *)action.handler;
	action.handler = (void (*)(int))(void *)setxid;
	raw6(SYS_rt_sigaction, SIGSETXID, (long)&action, 0, sizeof(action.mask), 0, 0);
}
