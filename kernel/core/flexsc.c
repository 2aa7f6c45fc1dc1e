// SPDX-License-Identifier: GPL-2.0
/*
 * flexsc_serve(): a thread stays in the kernel and makes the calls that other threads
 * of its process post to entries in memory.  <uapi/linux/flexsc.h> describes the
 * protocol, and names the pairs of stores and loads that the fences here order.
 *
 * All state is in the set, in user space: a thread that leaves, for a signal or for
 * good, leaves nothing behind in the kernel.  User space may spoil its own calls by
 * writing to the set while it is served; the kernel fetches each value once and uses
 * it within the bounds that it checked before.
 *
 * Both the system call and the module's /dev/ferry use this code; struct subcall_caller
 * hides the differences.
 */
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/cgroup.h>
#include <linux/errno.h>
#include <linux/eventfd.h>
#include <linux/subcall.h>
#include <linux/flexsc_sched.h>
#include <linux/mutex.h> /* used by futex.h */
#include <linux/futex.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/pkeys.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seccomp.h>
#include <linux/stddef.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <uapi/linux/membarrier.h>
#include <asm/subcall.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "flexsc.h"

/* Idle steps between two checks of the clock and of all entries. */
#define IDLE_STEPS 16

/* Entries that a user may post to in a circle.  The runner scans all entries at its end. */
#define RING 64

/* Useless spinning halves the limit, down to this fraction of spin_ns. */
#define LEAST_SPIN 16

/* Arguments of an entry: the times of FLEXSC_TIMES. */
#define TAKEN_ARG 4
#define ENDED_ARG 5

/* Orders all accesses but an earlier store and a later load, which alone x86 reorders. */
#ifdef CONFIG_X86_64
#define flexsc_order() barrier()
#else
#define flexsc_order() smp_mb() /* pairs with those of user space, <uapi/linux/flexsc.h> */
#endif

/* In addition to 0 and -errno. */
enum { GATE_STOPS = 1 };

struct server {
	struct subcall_caller *caller;
	struct pt_regs *regs; /* the caller's: hold the current call */
	struct flexsc_set __user *set;
	size_t size; /* of the set, in user space */
	unsigned int flags;
	unsigned int mask; /* of entry indexes */
	int eventfd;
	u64 most_spin_ns;

	struct batch_head head; /* of the current entry */
	bool blocked;		/* in its call */
	unsigned int position;	/* where the next call is expected */
	unsigned int steps;	/* without work */
	u64 idle_since;		/* ns; 0: not measured yet */
	u64 spin_ns;		/* the limit now */
};

/* An entry is fetched as a slot: its first eight bytes are the first word of the head. */
static_assert(sizeof(struct flexsc_entry) == sizeof(struct batch_slot));
static_assert(offsetof(struct flexsc_entry, arg) == offsetof(struct batch_slot, arg));
static_assert(offsetof(struct flexsc_entry, nr) == 4);
static_assert(offsetof(struct flexsc_entry, argc) == 6);
static_assert(offsetof(struct flexsc_entry, begun) == 7);
static_assert(offsetof(struct flexsc_entry, result) == 8);

static u8 begun_of(u64 word)
{
	return word >> 56;
}

static u8 argc_of(const struct batch_head *head)
{
	return head->first_word >> 48;
}

static short nr_of(const struct batch_head *head)
{
	return head->first_word >> 32;
}

/* Until the call is made, result holds the ID of the thread that posted it. */
static pid_t poster_of(const struct batch_head *head)
{
	return head->second_word;
}

static __always_inline struct flexsc_entry __user *entry_at(const struct server *s,
							    unsigned int offset)
{
	return &s->set->entry[(s->position + offset) & s->mask];
}

/* Orders a store before a load.  Its other half is user space's heavy fence. */
static __always_inline void light_fence(const struct server *s)
{
	if (s->flags & FLEXSC_FENCES)
		smp_mb(); /* pairs with the full fences of user space */
	else
		barrier();
}

/*
 * A fence here, and on the CPUs that the other threads run on.  It is not reported to
 * tracers or audit, because no call of the user's asked for it.
 */
static long heavy_fence(struct server *s)
{
	static const unsigned long args[BATCH_MAX_ARGS] = { MEMBARRIER_CMD_PRIVATE_EXPEDITED };

	if (s->flags & FLEXSC_FENCES) {
		smp_mb(); /* pairs with the full fence after a post */
		return 0;
	}
	subcall_set_args(s->regs, args);
	return subcall_dispatch(s->regs, __NR_membarrier);
}

/* CLOCK_MONOTONIC in the caller's time namespace. */
static u64 user_clock_ns(void)
{
	struct timespec64 now;

	ktime_get_ts64(&now);
	timens_add_monotonic(&now);
	return timespec64_to_ns(&now);
}

static void wake(u32 __user *word)
{
	do_futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0, 0);
}

/* A call may end the thread, so no reference to the eventfd is kept. */
static void signal_event(const struct server *s)
{
	struct eventfd_ctx *event = eventfd_ctx_fdget(s->eventfd);

	if (IS_ERR(event))
		return;
	eventfd_signal(event);
	eventfd_ctx_put(event);
}

/* ---- looking for calls ---- */

/* The first offset in OFFSET to END - 1 with a posted (if BEGUN: begun) call, or END. */
static int find_in_chunk(const struct server *s, unsigned int offset, unsigned int end, bool begun)
{
	u64 word;

	if (!user_access_begin(s->set, s->size))
		return -EFAULT;
	for (; offset < end; offset++) {
		unsafe_get_user(word, (u64 __user *)entry_at(s, offset), fault);
		if ((u32)word == FLEXSC_ENTRY_SUBMITTED && (!begun || begun_of(word)))
			break;
	}
	user_access_end();
	return offset;
fault:
	user_access_end();
	return -EFAULT;
}

/* The same for any number of entries; reschedules between chunks. */
static int find(const struct server *s, unsigned int offset, unsigned int end, bool begun)
{
	int found = offset;

	while (offset < end) {
		unsigned int stop = min(end, offset + RING);

		found = find_in_chunk(s, offset, stop, begun);
		if (found < 0 || found < stop)
			return found;
		offset = stop;
		cond_resched();
	}
	return found;
}

/* Moves to the first posted call.  Returns 1 if there is one, otherwise 0. */
static int look_around(struct server *s)
{
	int found = find(s, 0, s->mask + 1, false);
	unsigned int in_ring;

	if (found < 0 || found > s->mask)
		return min(found, 0);
	/* Calls posted to a ring in order are made in order: earlier ones are visible now. */
	flexsc_order();
	in_ring = min((s->position + found) % RING, (unsigned int)found);
	found = find(s, found - in_ring, found, false);
	if (found < 0)
		return found;
	s->position += found;
	return 1;
}

/*
 * Takes the call at the position and loads it into the caller's registers.  Returns
 * 1 if it did, 0 if there is no call to take.
 */
static int take(struct server *s)
{
	struct flexsc_entry __user *entry = entry_at(s, 0);
	u32 status, gate;

	if (!user_access_begin(s->set, s->size))
		return -EFAULT;
	unsafe_get_user(status, &entry->status, fault);
	if (status != FLEXSC_ENTRY_SUBMITTED) {
		user_access_end();
		return 0;
	}
	unsafe_put_user(FLEXSC_BEGUN, &entry->begun, fault);
	light_fence(s);
	/* Between the reads of gate and status, user space cannot withdraw and post again. */
	unsafe_get_user(gate, &s->set->gate, fault);
	flexsc_order();
	unsafe_get_user(status, &entry->status, fault);
	if (unlikely(gate != FLEXSC_GATE_OPEN || status != FLEXSC_ENTRY_SUBMITTED)) {
		unsafe_put_user(0, &entry->begun, fault);
		user_access_end();
		return 0;
	}
	flexsc_order();
	if (batch_unsafe_fetch(&s->head, s->regs, (struct batch_slot __user *)entry))
		goto fault;
	user_access_end();
	return 1;
fault:
	user_access_end();
	return -EFAULT;
}

/* ---- whose calls may be made ---- */

#ifdef CONFIG_SECCOMP
static bool has_same_filters(const struct task_struct *a, const struct task_struct *b)
{
	return READ_ONCE(a->seccomp.mode) == READ_ONCE(b->seccomp.mode) &&
	       READ_ONCE(a->seccomp.filter) == READ_ONCE(b->seccomp.filter);
}
#else
static bool has_same_filters(const struct task_struct *a, const struct task_struct *b)
{
	return true;
}
#endif

/* Its BPF programs decide about devices, sockets and sysctls. */
static bool is_in_same_cgroups(const struct task_struct *a, const struct task_struct *b)
{
#ifdef CONFIG_CGROUPS
	return rcu_access_pointer(a->cgroups) == rcu_access_pointer(b->cgroups);
#else
	return true;
#endif
}

/* The class and level that ioprio_set() gave.  A thread without an I/O context has none. */
static bool has_same_io_priority(struct task_struct *other)
{
#ifdef CONFIG_BLOCK
	int priority;

	if (READ_ONCE(other->io_context) == current->io_context)
		return true;
	task_lock(other);
	priority = __get_task_ioprio(other);
	task_unlock(other);
	return priority == __get_task_ioprio(current);
#else
	return true;
#endif
}

/*
 * A protection key restricts threads by a register, which cannot be read from here.  The first
 * key belongs to all memory.
 */
static bool uses_protection_keys(void)
{
#ifdef CONFIG_ARCH_HAS_PKEYS
	return mm_pkey_allocation_map(current->mm) & ~1;
#else
	return false;
#endif
}

/*
 * Whether a call made by current does what it would do in OTHER, a thread of this process.
 * The pointers are only compared; a pair that differs for another reason costs OTHER a crossing.
 * What OTHER changed before it posted the call is visible, because the post was a release.
 */
static bool is_like_current(struct task_struct *other)
{
	struct task_struct *self = current;

	return rcu_access_pointer(other->real_cred) == rcu_access_pointer(self->real_cred) &&
	       task_no_new_privs(other) == task_no_new_privs(self) &&
	       has_same_filters(other, self) &&
	       !(subcall_watchers(other) & ~subcall_watchers(self)) &&
	       is_in_same_cgroups(other, self) &&
	       has_same_io_priority(other) &&
	       READ_ONCE(other->nsproxy) == self->nsproxy &&
	       READ_ONCE(other->fs) == self->fs &&
	       READ_ONCE(other->files) == self->files &&
	       READ_ONCE(other->personality) == self->personality &&
	       !(READ_ONCE(other->flags) & PF_EXITING);
}

/* Whether the call of HEAD may be made here for the thread that posted it. */
static bool may_make(const struct batch_head *head)
{
	struct task_struct *poster;
	bool may;

	rcu_read_lock();
	poster = pid_task(find_vpid(poster_of(head)), PIDTYPE_PID);
	may = poster && same_thread_group(poster, current) && is_like_current(poster) &&
	      !uses_protection_keys();
	rcu_read_unlock();
	return may;
}

/* ---- making calls ---- */

/*
 * The scheduler calls this before current sleeps in a call, so it must not sleep itself: that
 * rules out page faults and do_futex().  If the set is not in memory, user space learns late.
 */
void flexsc_sleeps(void *server)
{
	struct server *s = server;
	const u32 blocked = FLEXSC_RUNNER_BLOCKED;
	u32 alert;

	flexsc_report_sleep(NULL); /* once in a call */
	s->blocked = true;
	/* A call may end the thread.  It then runs on the memory of some other process. */
	if (!current->mm || copy_to_user_nofault(&s->set->runner, &blocked, sizeof(blocked)))
		return;
	smp_mb(); /* pairs with user space's, after it stores alert */
	if (!copy_from_user_nofault(&alert, &s->set->alert, sizeof(alert)) && alert)
		signal_event(s);
}

static long run_batch(struct server *s)
{
	struct subcall_caller *caller = s->caller;
	unsigned long args[BATCH_MAX_ARGS];
	long answer = -EOPNOTSUPP;

	/* Watchers must see the batch as well as its calls, so user space has to make it. */
	if (!subcall_watchers(current)) {
		syscall_get_arguments(current, s->regs, args);
		answer = batch_run(caller, (struct batch_args __user *)args[0], args[1]);
	}
	caller->refused = answer == -EOPNOTSUPP;
	return answer;
}

static long make_call(struct server *s)
{
	short nr = nr_of(&s->head);

	s->caller->refused = false;
	if (nr < 0 || (argc_of(&s->head) & ~FLEXSC_ARGC_WAITED) > BATCH_MAX_ARGS)
		return -ENOSYS;
	if (unlikely(nr == __NR_batch))
		return run_batch(s);
	if (unlikely(begun_of(s->head.first_word) == FLEXSC_BEGUN_RESTART))
		return subcall(s->regs, __NR_restart_syscall, &s->caller->refused);
	return subcall_run(s->caller, nr);
}

/*
 * Settles a call that ended with RESULT and has no result for user space yet.  Returns 0 if
 * RESULT is final; or the value to leave with, and the entry stays begun.
 */
static noinline long settle(struct server *s, struct flexsc_entry __user *entry, long result)
{
	if (s->caller->refused)
		return -EOPNOTSUPP;
	if (!subcall_is_interrupted(result))
		return 0;
	if (result == -ERESTART_RESTARTBLOCK && put_user(FLEXSC_BEGUN_RESTART, &entry->begun))
		return -EFAULT;
	/* User space then makes the call again, even if a handler ends it. */
	return outer_call_may_restart(s->caller) ? outer_call_result(result) : -EOPNOTSUPP;
}

/* Stores RESULT and publishes STATUS.  Returns 1 if a thread sleeps on it, otherwise 0. */
static int publish(struct server *s, struct flexsc_entry __user *entry, u32 status, long result,
		   u64 taken)
{
	u64 ended = taken ? user_clock_ns() : 0;
	u8 argc;

	if (!user_access_begin(s->set, s->size))
		return -EFAULT;
	if (taken) {
		unsafe_put_user(taken, &entry->arg[TAKEN_ARG], fault);
		unsafe_put_user(ended, &entry->arg[ENDED_ARG], fault);
	}
	if (unlikely(s->blocked))
		unsafe_put_user(FLEXSC_RUNNER_RUNNING, &s->set->runner, fault);
	s->blocked = false;
	unsafe_put_user(result, &entry->result, fault);
	flexsc_order();
	unsafe_put_user(status, &entry->status, fault);
	/* Cleared after that: a thread that reads 0 does not withdraw the call. */
	flexsc_order();
	unsafe_put_user(0, &entry->begun, fault);
	light_fence(s);
	unsafe_get_user(argc, &entry->argc, fault);
	user_access_end();
	return !!(argc & FLEXSC_ARGC_WAITED);
fault:
	user_access_end();
	return -EFAULT;
}

/* Ends the call at the position, and goes on to the next one. */
static long end_call(struct server *s, u32 status, long result, u64 taken)
{
	struct flexsc_entry __user *entry = entry_at(s, 0);
	int waited = publish(s, entry, status, result, taken);

	if (waited < 0)
		return waited;
	if (waited) {
		wake(&entry->status);
		signal_event(s);
	}
	s->position++;
	s->steps = s->position % RING != 0;
	s->idle_since = 0;
	return 0;
}

/* Leaves the call at the position to the thread that posted it. */
static long refuse(struct server *s)
{
	return end_call(s, FLEXSC_ENTRY_REFUSED, poster_of(&s->head), 0);
}

/* Makes the call at the position, which has been fetched. */
static long run(struct server *s)
{
	u64 taken = s->flags & FLEXSC_TIMES ? user_clock_ns() : 0;
	long result;

	flexsc_report_sleep(s);
	result = make_call(s);
	flexsc_report_sleep(NULL);
	if (subcall_is_restart(result) || s->caller->refused) {
		long left = settle(s, entry_at(s, 0), result);

		if (left)
			return left;
	}
	return end_call(s, FLEXSC_ENTRY_DONE, result, taken);
}

/*
 * Continues the call in the middle of which the runner left.  It was never given
 * back, so the gate does not matter.
 */
static long resume(struct server *s)
{
	int found = find(s, 0, s->mask + 1, true);

	if (found < 0 || found > s->mask)
		return min(found, 0);
	s->position = found;
	if (batch_fetch(&s->head, s->regs, (struct batch_slot __user *)entry_at(s, 0)))
		return -EFAULT;
	/* Its poster may have given up rights meanwhile. */
	return may_make(&s->head) ? run(s) : refuse(s);
}

/* ---- idling ---- */

/* Returns 1 if there is something to do before sleeping, otherwise 0. */
static int has_work(const struct server *s)
{
	int found = find(s, 0, s->mask + 1, false);
	u32 gate;

	if (found < 0)
		return found;
	if (found <= s->mask)
		return 1;
	return get_user(gate, &s->set->gate) ? -EFAULT : gate == FLEXSC_GATE_STOP;
}

/* Longer spinning would have avoided a short sleep; before a long one it was useless. */
static void adapt(struct server *s, u64 slept_ns)
{
	if (slept_ns < s->most_spin_ns)
		s->spin_ns = s->most_spin_ns;
	else if (s->spin_ns > s->most_spin_ns / LEAST_SPIN)
		s->spin_ns /= 2;
}

/* Returns early for signals, which pause_for_others() handles. */
static void sleep_on(struct server *s, u32 __user *word)
{
	u64 start = ktime_get_ns();

	do_futex(word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, FLEXSC_RUNNER_ASLEEP, NULL, NULL, 0, 0);
	adapt(s, ktime_get_ns() - start);
}

static long sleep_until_posted(struct server *s)
{
	u32 __user *word = &s->set->runner;
	int work;

	if (put_user(FLEXSC_RUNNER_ASLEEP, word))
		return -EFAULT;
	/* If the fence fails, for lack of memory, a post may have been missed. */
	work = heavy_fence(s) ? 1 : has_work(s);
	if (!work)
		sleep_on(s, word);
	if (put_user(FLEXSC_RUNNER_RUNNING, word))
		return -EFAULT;
	s->steps = 0;
	s->idle_since = 0;
	return min(work, 0);
}

static long idle(struct server *s)
{
	int found;
	u32 gate;
	u64 now;

	if (get_user(gate, &s->set->gate))
		return -EFAULT;
	if (gate == FLEXSC_GATE_STOP)
		return GATE_STOPS;
	if (s->steps++ % IDLE_STEPS && s->spin_ns) {
		cpu_relax();
		return 0;
	}
	found = look_around(s);
	if (found)
		return min(found, 0);
	now = ktime_get_ns();
	if (!s->idle_since)
		s->idle_since = now;
	return now - s->idle_since >= s->spin_ns ? sleep_until_posted(s) : 0;
}

/* ---- serving ---- */

static long step(struct server *s)
{
	int taken = take(s);

	if (taken < 0)
		return taken;
	if (!taken)
		return idle(s);
	return likely(may_make(&s->head)) ? run(s) : refuse(s);
}

/* Work that cannot wait until the runner leaves the kernel, which may be never. */
static long pause_for_others(struct server *s)
{
	/* At the end of each ring, and from time to time while idle. */
	if (s->steps % IDLE_STEPS == 0)
		cond_resched_tasks_rcu_qs();
	if (likely(!(read_thread_flags() & SUBCALL_TIF_WORK)))
		return 0;
	subcall_do_pending_work(s->regs);
	if (!signal_pending(current))
		return 0;
	return outer_call_may_restart(s->caller) ? -ERESTARTNOINTR : -EOPNOTSUPP;
}

/* Reads the constant part of the set.  Later changes by user space have no effect. */
static long read_set(struct server *s, struct flexsc_set __user *set)
{
	u64 spin_ns;
	u32 version, count;

	if (!IS_ALIGNED((unsigned long)set, __alignof__(*set)))
		return -EINVAL;
	if (!user_access_begin(set, sizeof(*set)))
		return -EFAULT;
	unsafe_get_user(version, &set->version, fault);
	unsafe_get_user(s->flags, &set->flags, fault);
	unsafe_get_user(count, &set->count, fault);
	unsafe_get_user(s->eventfd, &set->eventfd, fault);
	unsafe_get_user(spin_ns, &set->spin_ns, fault);
	user_access_end();
	if (version != FLEXSC_VERSION || !is_power_of_2(count) ||
	    count > FLEXSC_MAX_ENTRIES ||
	    s->flags & ~(FLEXSC_FENCES | FLEXSC_TIMES))
		return -EINVAL;
	if (!IS_ENABLED(CONFIG_MEMBARRIER) && !(s->flags & FLEXSC_FENCES))
		return -EINVAL;
	s->set = set;
	s->size = struct_size(set, entry, count);
	s->mask = count - 1;
	s->most_spin_ns = spin_ns;
	s->spin_ns = spin_ns;
	return access_ok(set, s->size) ? 0 : -EFAULT;
fault:
	user_access_end();
	return -EFAULT;
}

static long check_eventfd(int fd)
{
	struct eventfd_ctx *event;

	if (fd < 0)
		return 0;
	event = eventfd_ctx_fdget(fd);
	if (IS_ERR(event))
		return PTR_ERR(event);
	eventfd_ctx_put(event);
	return 0;
}

long flexsc_check_set(struct flexsc_set __user *set, size_t size)
{
	struct server s;
	long error = read_set(&s, set) ?: check_eventfd(s.eventfd);

	if (error)
		return error;
	return size < s.size ? -EINVAL : 0;
}

long flexsc_serve_set(struct subcall_caller *caller, struct flexsc_set __user *set)
{
	struct server s = { .caller = caller, .regs = caller->regs };
	long left = read_set(&s, set) ?: check_eventfd(s.eventfd);

	if (left)
		return left;
	if (put_user(FLEXSC_RUNNER_RUNNING, &set->runner))
		return -EFAULT;
	left = resume(&s);
	if (!left && heavy_fence(&s))
		return -EPERM;
	/* Makes at least one step, so that signals cannot keep it from all work. */
	while (!left)
		left = step(&s) ?: pause_for_others(&s);
	if (left != GATE_STOPS)
		return left;
	return put_user(FLEXSC_RUNNER_ABSENT, &set->runner) ? -EFAULT : 0;
}
