// SPDX-License-Identifier: MIT
/*
 * Other threads rewrite slots and results, and unmap memory, while batches run.
 * Whatever a slot contained when it was fetched, its result has to be one that some slot
 * of the palette can have.
 */
#include "hostile.h"

#define SLOTS 64
#define PALETTE 256
#define RUNNERS 2
#define WRITERS 2
#define WORDS (sizeof(struct batch_slot) / sizeof(long))
#define MARK 0x1111L

static struct guarded shared;
static union {
	struct batch_slot slot;
	long word[WORDS];
} palette[PALETTE];
static long explained[64];
static size_t nexplained;
static int stop;

/* ---- slots that are harmless in any mixture of their words ---- */

/* Their results do not depend on arguments, so their words may be mixed freely. */
static const short numbers[] = { SYS_getpid, SYS_getppid,      SYS_getuid,
				 SYS_gettid, SYS_sched_yield,  SYS_clone,
				 SYS_execve, SYS_rt_sigreturn, 600,
				 -7 };

static short any_jump(struct random *random)
{
	return (short)(random_percent(random, 70) ? 0 : (long)random_below(random, 9) - 1);
}

static unsigned char any_argc(struct random *random)
{
	if (random_percent(random, 40))
		return (unsigned char)random_below(random, 7);
	if (random_percent(random, 80))
		return (unsigned char)(BATCH_ARGC_FORWARD | random_below(random, 7));
	return (unsigned char)random_below(random, 256);
}

static void fill_palette(struct random *random)
{
	struct batch_slot *slot;
	int i;
	int k;

	for (i = 0; i < PALETTE; i++) {
		slot = &palette[i].slot;
		slot->nr = numbers[random_below(random, ARRAY_SIZE(numbers))];
		if (random_percent(random, 25))
			slot->nr = BATCH_WDCPY;
		slot->jump_fail = any_jump(random);
		slot->jump_zero = any_jump(random);
		slot->jump_pos = any_jump(random);
		slot->argc = any_argc(random);
		for (k = 0; k < BATCH_MAX_ARGS; k++)
			slot->from[k] = (unsigned char)random_below(random, 4);
		slot->reserved = random_percent(random, 5);
		/* A word copy moves only first words: others would turn pointers into numbers. */
		slot->arg[0] = (long)&shared.calls[random_below(random, SLOTS)];
		slot->arg[1] = (long)&palette[random_below(random, PALETTE)];
		if (random_percent(random, 5))
			slot->arg[random_below(random, 2)] = -64;
	}
}

static void explain(long result)
{
	expect(nexplained < ARRAY_SIZE(explained));
	explained[nexplained++] = result;
}

static void explain_all(void)
{
	static const long always[] = { 0, -ENOSYS, -EINVAL, -EFAULT, UNTOUCHED };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(always); i++)
		explain(always[i]);
	for (i = 1; i < 8; i++)
		explain(MARK * (long)i);
	explain(getpid());
	explain(getppid());
	explain(getuid());
}

static bool is_explained(long result)
{
	size_t i;

	for (i = 0; i < nexplained; i++)
		if (explained[i] == result)
			return true;
	return false;
}

/* ---- rewriting ---- */

static void store(long *to, long word)
{
	__atomic_store_n(to, word, __ATOMIC_RELAXED);
}

static void *rewrite(void *arg)
{
	struct random random = random_new((uint64_t)arg);
	long *words = (long *)shared.calls;
	unsigned long slot;
	unsigned long k;
	unsigned long i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		slot = random_below(&random, SLOTS);
		i = random_below(&random, PALETTE);
		k = random_below(&random, WORDS + 1);
		if (k < WORDS) {
			store(&words[slot * WORDS + k], palette[i].word[k]);
			continue;
		}
		for (k = 0; k < WORDS; k++)
			store(&words[slot * WORDS + k], palette[i].word[k]);
		if (i % 4 == 0)
			store(&shared.rets[slot], MARK * (1 + (long)(i % 7)));
	}
	return NULL;
}

static void expect_explained(long last)
{
	int i;

	if (last < 0 || last >= SLOTS)
		suite_fail(__FILE__, __LINE__, "the batch returned %ld", last);
	for (i = 0; i < SLOTS; i++)
		if (!is_explained(shared.rets[i]))
			suite_fail(__FILE__, __LINE__, "rets[%d] is %ld, which nothing explains", i,
				   shared.rets[i]);
}

static pthread_barrier_t told;

static void *run_many(void *arg)
{
	const int rounds = *(int *)arg;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	long last;
	int i;

	pthread_mutex_lock(&lock);
	explain(gettid());
	pthread_mutex_unlock(&lock);
	pthread_barrier_wait(&told);
	for (i = 0; i < rounds; i++) {
		last = run_batch(shared.rets, shared.calls, SLOTS);
		expect_explained(last);
	}
	return NULL;
}

TEST(all_results_can_be_explained_while_slots_and_results_are_rewritten)
{
	struct random random = random_new(1);
	int rounds = times(10000, 500000);
	pthread_t runners[RUNNERS];
	pthread_t writers[WRITERS];
	long i;

	patience(600);
	shared = guarded_new(SLOTS, AT_END);
	fill_palette(&random);
	explain_all();
	for (i = 0; i < SLOTS; i++)
		shared.calls[i] = palette[i].slot;
	pthread_barrier_init(&told, NULL, RUNNERS);
	for (i = 0; i < WRITERS; i++)
		writers[i] = thread_start(rewrite, (void *)(i + 2));
	for (i = 0; i < RUNNERS; i++)
		runners[i] = thread_start(run_many, &rounds);
	for (i = 0; i < RUNNERS; i++)
		pthread_join(runners[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	expect_guards(__FILE__, __LINE__, &shared);
}

/* ---- memory that is unmapped and mapped again ---- */

#define PAGES 3
#define LONG_BATCH ((PAGES - 1) * PAGE / sizeof(long))

static struct batch_slot *fleeting_calls;
static long *fleeting_rets;

static unsigned long calls_size(void)
{
	return LONG_BATCH * sizeof(struct batch_slot);
}

static void write_calls(void)
{
	unsigned long i;

	for (i = 0; i < LONG_BATCH; i++)
		fleeting_calls[i] = SLOT(SYS_getpid);
}

/* One page at a time is unmapped or made read-only, then restored. */
static void *take_and_give_back(void *arg)
{
	struct random random = random_new((uint64_t)arg);
	char *page;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (random_percent(&random, 50)) {
			page = (char *)fleeting_calls +
			       random_below(&random, calls_size() / PAGE) * PAGE;
			expect(!mprotect(page, PAGE, PROT_NONE));
			sched_yield();
			expect(!mprotect(page, PAGE, PROT_READ | PROT_WRITE));
		} else {
			page = (char *)fleeting_rets + random_below(&random, PAGES - 1) * PAGE;
			expect(!mprotect(page, PAGE,
					 random_percent(&random, 50) ? PROT_NONE : PROT_READ));
			sched_yield();
			expect(!mprotect(page, PAGE, PROT_READ | PROT_WRITE));
		}
	}
	return NULL;
}

static sigjmp_buf after_fault;
static char *fault_address;

static void note_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	fault_address = info->si_addr;
	siglongjmp(after_fault, sig);
}

TEST(memory_that_comes_and_goes_ends_batches_and_nothing_else)
{
	const struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	volatile int rounds = times(300, 20000);
	pthread_t taker;
	char *end;
	long last;

	patience(600);
	fleeting_calls = mmap(NULL, calls_size(), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fleeting_rets = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(fleeting_calls != MAP_FAILED && fleeting_rets != MAP_FAILED);
	write_calls();
	end = (char *)(fleeting_rets + LONG_BATCH);
	expect(!sigaction(SIGSEGV, &action, NULL));
	taker = thread_start(take_and_give_back, (void *)7);
	while (rounds--) {
		if (sigsetjmp(after_fault, 1)) {
			expect(fault_address >= (char *)fleeting_rets && fault_address < end);
			continue;
		}
		last = run_batch(fleeting_rets, fleeting_calls, LONG_BATCH);
		expect(last == -EFAULT || (last >= 0 && last < (long)LONG_BATCH));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(taker, NULL);
	for (; end < (char *)fleeting_rets + PAGES * PAGE; end++)
		expect_equal(*end, 0);
}
