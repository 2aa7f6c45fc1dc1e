// SPDX-License-Identifier: MIT
/* The slow halves of the protocol of sets, and the memory of sets. */
#include "set.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

#include <ferry.h>

#include "futex.h"

static size_t size_of(unsigned int count)
{
	return sizeof(struct flexsc_set) + count * sizeof(struct flexsc_entry);
}

struct flexsc_set *ferry__set_new(unsigned int count, long spin_ns, unsigned int flags)
{
	struct flexsc_set *set = mmap(NULL, size_of(count), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (set == MAP_FAILED)
		return NULL;
	/* A child has no runner: its copy must say so.  ABSENT and FREE are 0. */
	if (madvise(set, size_of(count), MADV_WIPEONFORK)) {
		munmap(set, size_of(count));
		return NULL;
	}
	set->version = FLEXSC_VERSION;
	set->flags = flags;
	set->count = count;
	set->eventfd = -1;
	set->spin_ns = (unsigned long)spin_ns;
	return set;
}

void ferry__set_free(struct flexsc_set *set, unsigned int count)
{
	munmap(set, size_of(count));
}

unsigned int ferry__set_fence_flag(void)
{
	long answer = ferry_rawcall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0,
				    0, 0, 0);

	return answer ? FLEXSC_FENCES : 0;
}

void ferry__set_heavy_fence(unsigned int flags)
{
	if (flags & FLEXSC_FENCES)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		ferry_rawcall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
}

/* The fence that this requires comes before. */
static void wake_runner(struct flexsc_set *set)
{
	unsigned int asleep = FLEXSC_RUNNER_ASLEEP;

	if (__atomic_compare_exchange_n(&set->runner, &asleep, FLEXSC_RUNNER_RUNNING, false,
					__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		ferry__futex_wake_all(&set->runner);
}

void ferry__set_stop(struct flexsc_set *set)
{
	__atomic_store_n(&set->gate, FLEXSC_GATE_STOP, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wake_runner(set);
}

/* Checks begun first: a call that has run meanwhile is then found DONE. */
static bool withdraw(struct flexsc_entry *entry)
{
	if (entry_is_begun(entry) ||
	    __atomic_load_n(&entry->status, __ATOMIC_RELAXED) != FLEXSC_ENTRY_SUBMITTED)
		return false;
	__atomic_store_n(&entry->status, FLEXSC_ENTRY_FREE, __ATOMIC_RELAXED);
	return true;
}

bool ferry__set_withdraw(struct flexsc_set *set, struct flexsc_entry *entry)
{
	bool withdrawn;

	__atomic_store_n(&set->gate, FLEXSC_GATE_CLOSED, __ATOMIC_RELAXED);
	ferry__set_heavy_fence(set->flags);
	withdrawn = withdraw(entry);
	/* Release: the runner that finds the gate open finds it FREE. */
	__atomic_store_n(&set->gate, FLEXSC_GATE_OPEN, __ATOMIC_RELEASE);
	return withdrawn;
}

bool ferry__entry_expect_wake(struct flexsc_entry *entry, unsigned int flags)
{
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	__atomic_store_n(&entry->argc, argc | FLEXSC_ARGC_WAITED, __ATOMIC_RELAXED);
	ferry__set_heavy_fence(flags);
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FLEXSC_ENTRY_SUBMITTED;
}

void ferry__entry_expect_none(struct flexsc_entry *entry)
{
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	__atomic_store_n(&entry->argc, argc & ~FLEXSC_ARGC_WAITED, __ATOMIC_RELAXED);
}

void ferry__entry_submit(struct flexsc_set *set, struct flexsc_entry *entry)
{
	__atomic_store_n(&entry->status, FLEXSC_ENTRY_SUBMITTED, __ATOMIC_RELEASE);
	set_light_fence(set->flags);
	if (!set_is_wiped(set)) {
		if (__atomic_load_n(&set->runner, __ATOMIC_RELAXED) == FLEXSC_RUNNER_ASLEEP)
			wake_runner(set);
		return;
	}
	entry->result = ferry__entry_run(entry);
	entry->status = FLEXSC_ENTRY_DONE;
}

/* The rest of the batch of ARGS, which the kernel left with ANSWER. */
static long run_rest(struct batch_args *args, long answer)
{
	while (ferry_batch_left(args, &answer))
		answer = -EOPNOTSUPP;
	return answer;
}

static long run_batch(struct batch_args *args)
{
	if (args->position || args->state != BATCH_BEGIN)
		return run_rest(args, -EOPNOTSUPP);
	return ferry_batch((long *)args->rets, (const struct batch_slot *)args->calls, args->ncall,
			   0, 0);
}

long ferry__entry_interrupted(const struct flexsc_entry *entry)
{
	if (entry->nr == FERRY_NR_BATCH)
		return run_rest((struct batch_args *)entry->arg[0], -EINTR);
	return -EINTR;
}

long ferry__entry_run(const struct flexsc_entry *entry)
{
	const __s64 *arg = entry->arg;
	short nr = entry->nr;
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	if (nr < 0 || (argc & ~FLEXSC_ARGC_WAITED) > BATCH_MAX_ARGS)
		return -ENOSYS;
	if (FERRY_UNLIKELY(nr == FERRY_NR_BATCH))
		return run_batch((struct batch_args *)arg[0]);
	return ferry_loop_call((unsigned short)nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
