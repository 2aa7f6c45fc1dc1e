// SPDX-License-Identifier: MIT
/* Threads: how they start and end, and what they are sent. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cpu.h"
#include "create.h"
#include "export.h"
#include "home.h"
#include "lock.h"
#include "raw.h"
#include "real.h"
#include "signals.h"
#include "start.h"

struct beginning {
	struct beginning *next; /* of those that are kept */
	void *(*start)(void *argument);
	void *argument;
	unsigned int domain;
	bool filtered, native;
};

/* ---- memory for beginnings ---- */

/* They are kept: a thread that frees memory gets a cache of more than 500 bytes for it. */
static struct {
	struct lock lock;
	struct beginning *first;
} kept;

static struct beginning *take_beginning(void)
{
	struct beginning *beginning;

	lock_take(&kept.lock);
	beginning = kept.first;
	if (beginning)
		kept.first = beginning->next;
	lock_give(&kept.lock);
	return beginning ? beginning : malloc(sizeof(*beginning));
}

static void keep_beginning(struct beginning *beginning)
{
	lock_take(&kept.lock);
	beginning->next = kept.first;
	kept.first = beginning;
	lock_give(&kept.lock);
}

/* ---- the last thread ---- */

/* libc ends the process with its last thread, and takes carriers for threads of the program. */
static int living = 1;
static pthread_key_t at_end;

/*
 * Sets itself again until the last round, so that the program's destructors come first.  Also of a
 * thread that is cancelled, which does not return to thread_main().
 */
static void end_of_thread(void *round)
{
	if ((long)round < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(at_end, (void *)((long)round + 1));
		return;
	}
	home_end();
	if (!__atomic_sub_fetch(&living, 1, __ATOMIC_ACQ_REL))
		exit(0);
}

static void count_this_thread(void)
{
	pthread_setspecific(at_end, (void *)1);
}

void create_load(void)
{
	if (!pthread_key_create(&at_end, end_of_thread))
		count_this_thread();
}

void create_reset(void)
{
	living = 1;
	kept.lock.word = 0;
}

/* ---- starting ---- */

static void end_here(void *unused)
{
	(void)unused;
	home_end();
}

static void *begin(void *argument, void *top)
{
	struct beginning beginning = *(struct beginning *)argument;
	void *result;

	keep_beginning(argument);
	home_prepare(&ferry_self, top);
	ferry_self.place = PLACE_NEW;
	ferry_self.mask = signals_mask();
	if (!start_waits())
		home_depart();
	/*
	 * However the thread ends, it goes home before it leaves this frame: the home's loop is
	 * above, where the next functions have their frames.  A cancellation inside of libc unwinds
	 * the thread on its carrier.
	 */
	pthread_cleanup_push(end_here, NULL);
	result = beginning.start(beginning.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* Without room for a home. */
static void *begin_native(void *argument, void *top)
{
	struct beginning beginning = *(struct beginning *)argument;

	(void)top;
	keep_beginning(argument);
	return beginning.start(beginning.argument);
}

static void *thread_main(void *argument)
{
	const struct beginning *beginning = argument;

	count_this_thread();
	ferry_self.domain = beginning->domain;
	ferry_self.filtered = beginning->filtered;
	if (beginning->native)
		return ferry_threads_call_below(begin_native, argument, 0);
	return ferry_threads_call_below(begin, argument, home_room());
}

/* A stack that the program made: libc has the address of its end, or NULL. */
static bool has_own_stack(const pthread_attr_t *attributes)
{
	void *stack = NULL;
	size_t size = 0;

	return !pthread_attr_getstack(attributes, &stack, &size) &&
	       (unsigned long)stack + size != 0;
}

/* The stack that the program asked for, and room for a home above it. */
static void add_room(pthread_attr_t *attributes)
{
	size_t size;

	if (!pthread_attr_getstacksize(attributes, &size))
		pthread_attr_setstacksize(attributes, size + ((home_room() + 4095) & ~4095UL));
}

/* Placement of its own from the start, or a stack of its own, which has no room for a home. */
static bool starts_native(const pthread_attr_t *attributes)
{
	int inherits = PTHREAD_INHERIT_SCHED;
	cpu_set_t set;

	if (start_refusal())
		return true;
	if (!attributes)
		return false;
	if (has_own_stack(attributes))
		return true;
	if (!pthread_attr_getinheritsched(attributes, &inherits) &&
	    inherits == PTHREAD_EXPLICIT_SCHED)
		return true;
	/* Without a set of its own, it has all bits. */
	return !pthread_attr_getaffinity_np(attributes, sizeof(set), &set) &&
	       CPU_COUNT(&set) != CPU_SETSIZE;
}

EXPORT int pthread_create(pthread_t *__restrict thread, const pthread_attr_t *__restrict attributes,
			  void *(*start)(void *), void *__restrict argument)
{
	struct beginning *beginning = take_beginning();
	pthread_attr_t larger;
	int error;

	if (!beginning)
		return EAGAIN;
	*beginning = (struct beginning){
		.start = start,
		.argument = argument,
		.domain = ferry_self.domain,
		.filtered = ferry_self.filtered,
		.native = starts_native(attributes),
	};
	if (attributes && !beginning->native) {
		larger =
			*attributes; /* libc only reads it: what it points to stays the program's */
		add_room(&larger);
		attributes = &larger;
	}
	/* Its kernel thread inherits the mask of this one, which is not a carrier's. */
	home_enter("pthread_create");
	__atomic_add_fetch(&living, 1, __ATOMIC_ACQ_REL);
	error = real()->pthread_create(thread, attributes, thread_main, beginning);
	home_leave();
	if (!error)
		return 0;
	__atomic_sub_fetch(&living, 1, __ATOMIC_ACQ_REL);
	keep_beginning(beginning);
	return error;
}

struct beginning_c11 {
	thrd_start_t start;
	void *argument;
};

static void *begin_c11(void *argument)
{
	struct beginning_c11 beginning = *(struct beginning_c11 *)argument;

	free(argument);
	return (void *)(long)beginning.start(beginning.argument);
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	struct beginning_c11 *beginning = malloc(sizeof(*beginning));
	int error;

	if (!beginning)
		return thrd_nomem;
	*beginning = (struct beginning_c11){ start, argument };
	error = pthread_create(thread, NULL, begin_c11, beginning);
	if (error)
		free(beginning);
	return error == EAGAIN ? thrd_nomem : error ? thrd_error : thrd_success;
}

/* ---- ending ---- */

EXPORT void pthread_exit(void *result)
{
	void (*function)(void *);

	home_end();
	function = (void (*)(void *))real_function("pthread_exit");
	function(result);
	__builtin_unreachable();
}

EXPORT void thrd_exit(int result)
{
	pthread_exit((void *)(long)result);
}

/* ---- signals and cancellation ---- */

/* The kernel thread of a carried thread blocks it: the thread takes it when it comes home. */
static void call_for_signal(pthread_t thread)
{
	struct thread *other = thread_of(thread);

	if (other->place == PLACE_CARRIED)
		home_call(other, CALL_SIGNAL);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names, parameters and arguments */
#define SIGNALLING(name, parameters, arguments)            \
	EXPORT int name parameters                         \
	{                                                  \
		int error;                                 \
                                                           \
		if (thread == pthread_self())              \
			home_enter("a signal for itself"); \
		error = real()->name arguments;            \
		if (thread == pthread_self())              \
			home_leave();                      \
		else if (!error && signal)                 \
			call_for_signal(thread);           \
		return error;                              \
	}
SIGNALLING(pthread_kill, (pthread_t thread, int signal), (thread, signal))
SIGNALLING(pthread_sigqueue, (pthread_t thread, int signal, const union sigval value),
	   (thread, signal, value))
/* NOLINTEND(bugprone-macro-parentheses) */

EXPORT int pthread_cancel(pthread_t thread)
{
	struct thread *other = thread_of(thread);
	const int error = real()->pthread_cancel(thread);

	if (error)
		return error;
	__atomic_store_n(&other->cancelled, true, __ATOMIC_SEQ_CST);
	signals_cancel(other);
	home_call(other, CALL_CANCEL);
	return 0;
}

EXPORT void pthread_testcancel(void)
{
	static void (*function)(void);

	if (!function)
		function = (void (*)(void))real_function("pthread_testcancel");
	if (ferry_self.cancelled)
		home_bind("cancelled");
	function();
}

/* ---- masks: a carried thread's is in its structure alone, until it is at home ---- */

static int change_mask(int how, const sigset_t *set, sigset_t *old)
{
	struct thread *thread = &ferry_self;
	const uint64_t before = thread->mask;
	uint64_t bits;

	if (set) {
		memcpy(&bits, set, sizeof(bits));
		bits &= ~(1UL << 31 | 1UL << 32); /* libc's own two */
		if (how == SIG_BLOCK)
			thread->mask |= bits;
		else if (how == SIG_UNBLOCK)
			thread->mask &= ~bits;
		else if (how == SIG_SETMASK)
			thread->mask = bits;
		else
			return EINVAL;
	}
	if (old) {
		memset(old, 0, sizeof(*old));
		memcpy(old, &before, sizeof(before));
	}
	if (!(before & ~thread->mask))
		return 0;
	/* A signal of the process, or one that waits at home, may be due now. */
	if ((signals_pending() | thread->held) & before & ~thread->mask || thread->called) {
		home_enter("a signal that was blocked");
		home_leave();
	}
	return 0;
}

/* In a handler, it lasts until the handler returns. */
static int change_mask_at_home(int how, const sigset_t *set, sigset_t *old)
{
	const bool lasts = signals_mask() == ferry_self.mask;
	const int error = real()->pthread_sigmask(how, set, old);

	if (lasts)
		ferry_self.mask = signals_mask();
	return error;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	if (is_carried())
		return change_mask(how, set, old);
	if (set && ferry_self.place != PLACE_NATIVE)
		return change_mask_at_home(how, set, old);
	return real()->pthread_sigmask(how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)as_libc(-pthread_sigmask(how, set, old));
}
