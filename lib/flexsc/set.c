// SPDX-License-Identifier: MIT
/* The seldom walked halves of the set's protocol; the memory that sets lie in. */
#include "set.h"

#include <ferry.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>

static size_t size_of(unsigned int count)
{
	return sizeof(struct ferry_flexsc_set) + count * sizeof(struct ferry_entry);
}

struct ferry_flexsc_set *set_new(unsigned int count, long spin_ns, unsigned int flags)
{
	struct ferry_flexsc_set *set = mmap(NULL, size_of(count), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (set == MAP_FAILED)
		return NULL;
	/* A child has no runner: its copy must say so.  ABSENT and FREE are 0. */
	if (madvise(set, size_of(count), MADV_WIPEONFORK)) {
		munmap(set, size_of(count));
		return NULL;
	}
	set->version = FERRY_FLEXSC_VERSION;
	set->flags = flags;
	set->count = count;
	set->spin_ns = (unsigned long)spin_ns;
	return set;
}

void set_free(struct ferry_flexsc_set *set, unsigned int count)
{
	munmap(set, size_of(count));
}

unsigned int set_fence_flag(void)
{
	long answer = ferry_rawcall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0,
				    0, 0, 0);

	return answer ? FERRY_FLEXSC_FENCES : 0;
}

void set_heavy_fence(unsigned int flags)
{
	if (flags & FERRY_FLEXSC_FENCES)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		ferry_rawcall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
}

static struct timespec timespec_of(long ns)
{
	return (struct timespec){ ns / 1000000000L, ns % 1000000000L };
}

void futex_wait(unsigned int *word, unsigned int value, long timeout_ns)
{
	struct timespec timeout = timespec_of(timeout_ns);

	ferry_rawcall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value,
		      timeout_ns == NO_TIMEOUT ? 0 : (long)&timeout, 0, 0);
}

/* Without futex_waitv (Linux 5.16) the others are looked at this often. */
#define NO_WAITV_NS 1000000L

void futex_wait_any(unsigned int *const words[], unsigned int count, long timeout_ns)
{
	struct futex_waitv waiters[MAX_WAITED] = { 0 };
	long end_ns = clock_ns() + timeout_ns;
	struct timespec end = timespec_of(end_ns);
	unsigned int i;

	if (count == 1) {
		futex_wait(words[0], FERRY_ENTRY_SUBMITTED, timeout_ns);
		return;
	}
	for (i = 0; i < count; i++)
		waiters[i] = (struct futex_waitv){
			.val = FERRY_ENTRY_SUBMITTED,
			.uaddr = (unsigned long)words[i],
			.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG,
		};
	if (ferry_rawcall(SYS_futex_waitv, (long)waiters, count, 0,
			  timeout_ns == NO_TIMEOUT ? 0 : (long)&end, CLOCK_MONOTONIC, 0) != -ENOSYS)
		return;
	if (timeout_ns == NO_TIMEOUT || timeout_ns > NO_WAITV_NS)
		timeout_ns = NO_WAITV_NS;
	futex_wait(words[0], FERRY_ENTRY_SUBMITTED, timeout_ns);
}

void futex_wake_all(unsigned int *word)
{
	ferry_rawcall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

void set_wake_runner(struct ferry_flexsc_set *set)
{
	unsigned int asleep = FERRY_RUNNER_ASLEEP;

	if (__atomic_compare_exchange_n(&set->runner, &asleep, FERRY_RUNNER_RUNNING, false,
					__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		futex_wake_all(&set->runner);
}

void set_stop(struct ferry_flexsc_set *set)
{
	__atomic_store_n(&set->gate, FERRY_GATE_STOP, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	set_wake_runner(set);
}

/* In this order: a call that has been run meanwhile is found to be DONE. */
static bool withdraw(struct ferry_entry *entry)
{
	if (entry_is_begun(entry) ||
	    __atomic_load_n(&entry->status, __ATOMIC_RELAXED) != FERRY_ENTRY_SUBMITTED)
		return false;
	__atomic_store_n(&entry->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
	return true;
}

unsigned int set_withdraw(struct ferry_flexsc_set *set, struct ferry_entry *entry,
			  unsigned int count)
{
	unsigned int i, withdrawn = 0;

	__atomic_store_n(&set->gate, FERRY_GATE_CLOSED, __ATOMIC_RELAXED);
	set_heavy_fence(set->flags);
	for (i = 0; i < count; i++)
		withdrawn += withdraw(&entry[i]);
	/* Release: the runner that finds the gate open finds these FREE. */
	__atomic_store_n(&set->gate, FERRY_GATE_OPEN, __ATOMIC_RELEASE);
	return withdrawn;
}

bool entry_expect_wake(struct ferry_entry *entry, unsigned int flags)
{
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	__atomic_store_n(&entry->argc, argc | FERRY_ARGC_WAITED, __ATOMIC_RELAXED);
	set_heavy_fence(flags);
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FERRY_ENTRY_SUBMITTED;
}

void entry_expect_none(struct ferry_entry *entry)
{
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	__atomic_store_n(&entry->argc, argc & ~FERRY_ARGC_WAITED, __ATOMIC_RELAXED);
}

void entry_rouse(struct ferry_flexsc_set *set, struct ferry_entry *entry)
{
	set_light_fence(set->flags);
	if (!set_is_wiped(set)) {
		if (__atomic_load_n(&set->runner, __ATOMIC_RELAXED) == FERRY_RUNNER_ASLEEP)
			set_wake_runner(set);
		return;
	}
	entry->result = entry_run(entry);
	entry->status = FERRY_ENTRY_DONE;
}

void entry_submit(struct ferry_flexsc_set *set, struct ferry_entry *entry)
{
	entry_publish(entry);
	entry_rouse(set, entry);
}

long entry_run(const struct ferry_entry *entry)
{
	const long *arg = entry->arg;
	short nr = entry->nr;
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	if (nr < 0 || (argc & ~FERRY_ARGC_WAITED) > FERRY_MAX_ARGS)
		return -ENOSYS;
	if (FERRY_UNLIKELY(nr == FERRY_NR_BATCH))
		return ferry_batch((long *)arg[0], (const struct ferry_slot *)arg[1],
				   (unsigned long)arg[2], arg[3], arg[4]);
	return ferry_loop_call((unsigned short)nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
