// SPDX-License-Identifier: MIT
#include "signals.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carrier.h"
#include "cpu.h"
#include "export.h"
#include "home.h"
#include "real.h"

#define BIT(signal) (1UL << ((signal)-1))

/* libc's own: they cancel a thread, and change the credentials of each kernel thread. */
#define SIGCANCEL 32
#define SIGSETXID 33

/* What an instruction or a call of the running thread causes: right on any kernel thread. */
#define SYNCHRONOUS                                                                            \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS) | \
	 BIT(SIGPIPE) | BIT(SIGXFSZ))

/* A home also takes SIGABRT: libc's own abort() sends it there. */
#define HOME_MASK (~(BIT(SIGSETXID) | BIT(SIGABRT)))
#define CARRIER_MASK (~(BIT(SIGSETXID) | BIT(SIGCANCEL)))

static bool has_handlers; /* of these; it stays */

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

uint64_t signals_mask(void)
{
	uint64_t mask = 0;

	raw6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(mask), 0, 0);
	return mask;
}

struct signal_stack signals_stack(void)
{
	stack_t stack = { 0 };

	raw3(SYS_sigaltstack, 0, (long)&stack, 0);
	return (struct signal_stack){ stack.ss_sp, stack.ss_size };
}

/* Called on the carrier's own stack, as the kernel refuses to replace one that is in use. */
static void set_stack(struct signal_stack to)
{
	const stack_t stack = { .ss_sp = to.at,
				.ss_size = to.size,
				.ss_flags = to.size ? 0 : SS_DISABLE };

	raw3(SYS_sigaltstack, (long)&stack, 0, 0);
}

void signals_follow(struct carrier *carrier, const struct thread *thread)
{
	const uint64_t mask = CARRIER_MASK & ~(SYNCHRONOUS & ~thread->mask);

	/* A thread may have left in a handler, for which the kernel changed the mask. */
	if (carrier->mask != mask || __atomic_load_n(&has_handlers, __ATOMIC_RELAXED)) {
		carrier->mask = mask;
		change_mask(mask);
	}
	if (carrier->signal_stack.at != thread->signal_stack.at ||
	    carrier->signal_stack.size != thread->signal_stack.size) {
		carrier->signal_stack = thread->signal_stack;
		set_stack(thread->signal_stack);
	}
}

/* ---- handlers ---- */

void signals_note(int signal, sighandler_t handler)
{
	if (signal > 0 && signal <= 64 && BIT(signal) & SYNCHRONOUS && handler != SIG_DFL &&
	    handler != SIG_IGN)
		__atomic_store_n(&has_handlers, true, __ATOMIC_RELAXED);
}

/* As the kernel has it. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static struct action read_action(int signal)
{
	struct action action = { 0 };

	raw6(SYS_rt_sigaction, signal, 0, (long)&action, sizeof(action.mask), 0, 0);
	return action;
}

static void set_action(int signal, struct action action)
{
	raw6(SYS_rt_sigaction, signal, (long)&action, 0, sizeof(action.mask), 0, 0);
}

/* A handler is known by its mask, so it must block one more signal: one that nothing sends. */
static void block_something(int signal)
{
	struct action action = read_action(signal);

	if (!(action.flags & SA_NODEFER))
		return;
	action.mask |= BIT(SIGSTKFLT);
	set_action(signal, action);
}

/* Noted before libc installs it: it may run at once. */
EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	int result;

	if (action)
		signals_note(signal, action->sa_handler);
	result = real()->sigaction(signal, action, old);
	if (action && action->sa_flags & SA_NODEFER && !result)
		block_something(signal);
	return result;
}

#define X(name)                                                    \
	EXPORT sighandler_t name(int number, sighandler_t handler) \
	{                                                          \
		sighandler_t old;                                  \
                                                                   \
		signals_note(number, handler);                     \
		old = real()->name(number, handler);               \
		block_something(number);                           \
		return old;                                        \
	}
X(signal)
X(ssignal)
X(sysv_signal)
#undef X

uint64_t signals_pending(void)
{
	uint64_t set = 0;

	raw3(SYS_rt_sigpending, (long)&set, sizeof(set), 0);
	return set;
}

static bool ends(int signal, bool restarts)
{
	const struct action action = read_action(signal);

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
	if (read_action(signal).handler == SIG_IGN)
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

/* ---- libc's own signals ---- */

typedef void handler(int signal, siginfo_t *info, void *context);

/* Puts NEW in place of the handler that libc has by now, which goes to *OLD. */
static void replace(int signal, handler *new, handler **old, unsigned long flags)
{
	struct action action = read_action(signal);

	if (!action.handler || action.handler == (void (*)(int))(void *)new)
		return;
	*old = (handler *)(void *)action.handler;
	action.handler = (void (*)(int))(void *)new;
	action.flags |= flags;
	set_action(signal, action);
}

static handler *libc_setxid, *libc_cancel;

/*
 * libc's handler marks "this thread" as done by the thread pointer.  On a carrier that runs a
 * thread, this would mark the wrong one, and libc would wait for ever.
 */
static void setxid(int signal, siginfo_t *info, void *context)
{
	const struct carrier *carrier = carrier_of_tid((int)raw3(SYS_gettid, 0, 0, 0));
	const unsigned long tp = thread_pointer();

	if (carrier)
		set_thread_pointer(carrier->host.tp);
	libc_setxid(signal, info, context);
	if (carrier)
		set_thread_pointer(tp);
}

void signals_start(void)
{
	replace(SIGSETXID, setxid, &libc_setxid, 0);
}

/* libc's handler ends the thread of the thread pointer.  A signal may be late for its thread. */
static void cancel(int signal, siginfo_t *info, void *context)
{
	const struct carrier *carrier = carrier_of_tid((int)raw3(SYS_gettid, 0, 0, 0));
	const struct thread *thread;

	if (carrier) {
		thread = __atomic_load_n(&carrier->current, __ATOMIC_ACQUIRE);
		if (!thread || !thread->cancelled || thread->tp != thread_pointer())
			return;
	}
	libc_cancel(signal, info, context);
}

/* Whether libc has sent its signal to the home of THREAD, which blocks it. */
static bool has_signal(const struct thread *thread)
{
	char path[64], text[2048];
	const char *pending;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", thread->tid);
	if (read_text(path, text, sizeof(text)) < 0)
		return true; /* an interrupted call rather than a thread that hangs */
	pending = strstr(text, "\nSigPnd:");
	return !pending || strtoull(pending + 8, NULL, 16) & BIT(SIGCANCEL);
}

/*
 * A thread that waits inside of libc stays on its carrier until its handler has run there: libc
 * waits for that, too.  The handler does not return, so its signal must not be blocked meanwhile.
 */
void signals_cancel(const struct thread *thread)
{
	const struct carrier *carrier = __atomic_load_n(&thread->carrier, __ATOMIC_ACQUIRE);

	replace(SIGCANCEL, cancel, &libc_cancel, SA_NODEFER | SA_RESTART);
	if (carrier && has_signal(thread))
		raw3(SYS_tgkill, getpid(), __atomic_load_n(&carrier->tid, __ATOMIC_ACQUIRE),
		     SIGCANCEL);
}
