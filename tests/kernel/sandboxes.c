// SPDX-License-Identifier: MIT
/*
 * Random stacks of seccomp filters over random programs: the library's engine
 * gives the same results, and ends in the same way, as the loop.
 */
#include <linux/audit.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "tests/lib/conformance/contract/filter.h"
#include "hostile.h"

#define SLOTS 24
#define MOST_FILTERS 3

/* The outcome of a program. */
struct outcome {
	long last;
	long rets[SLOTS];
	int status;
	long written;
};

/* One program under some filters. */
struct trial {
	enum ferry_engine engine;
	struct batch_slot calls[SLOTS];
	struct filter filters[MOST_FILTERS];
	int nfilters;
	int file;
	struct outcome *outcome; /* shared with the child */
};

static const int numbers[] = { SYS_getpid, SYS_getppid, SYS_getuid,  SYS_write,
			       SYS_lseek,  SYS_close,	SYS_pread64, SYS_sched_yield };

static struct batch_slot any_slot(struct random *random, int file)
{
	static char byte;
	int nr = numbers[random_below(random, ARRAY_SIZE(numbers))];
	long small = (long)random_below(random, 4);

	switch (nr) {
	case SYS_write:
		return SLOT(nr, file, "abcd", small);
	case SYS_lseek:
		return SLOT(nr, file, small, SEEK_SET);
	case SYS_close:
		return SLOT(nr, -1 - small);
	case SYS_pread64:
		return SLOT(nr, file, &byte, 1, small);
	default:
		return SLOT(nr, small, small, small);
	}
}

static unsigned int any_action(struct random *random)
{
	switch (random_below(random, 10)) {
	case 0:
		return SECCOMP_RET_KILL_PROCESS;
	case 1:
		return SECCOMP_RET_TRACE;
	case 2:
	case 3:
		return SECCOMP_RET_TRAP;
	case 4:
		return SECCOMP_RET_ALLOW;
	default:
		return SECCOMP_RET_ERRNO | (unsigned int)(1 + random_below(random, 200));
	}
}

static void make_trial(struct trial *trial, struct random *random)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		trial->calls[i] = any_slot(random, trial->file);
	trial->nfilters = 1 + (int)random_below(random, MOST_FILTERS);
	for (i = 0; i < trial->nfilters; i++)
		filter_argument(&trial->filters[i],
				numbers[random_below(random, ARRAY_SIZE(numbers))],
				(int)random_below(random, 3), (unsigned int)random_below(random, 4),
				any_action(random));
	/* A slot may install the last filter itself. */
	if (random_percent(random, 50)) {
		trial->nfilters--;
		trial->calls[random_below(random, SLOTS)] =
			SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
			     &trial->filters[trial->nfilters].program);
	}
}

#if defined(__x86_64__)
#define REGISTERS gregs
#define RESULT REG_RAX
#define THIRD REG_RDX
#elif defined(__aarch64__)
#define REGISTERS regs
#define RESULT 0
#define THIRD 2
#elif defined(__riscv)
#define REGISTERS __gregs
#define RESULT REG_A0
#define THIRD (REG_A0 + 2)
#endif

/* The result of a call that traps depends on what the handler sees. */
static void answer_trap(int sig, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;

	(void)sig;
	machine->REGISTERS[RESULT] = 100000 + info->si_syscall + machine->REGISTERS[THIRD];
}

static void run_trial(void *arg)
{
	const struct sigaction action = { .sa_sigaction = answer_trap, .sa_flags = SA_SIGINFO };
	struct trial *trial = arg;
	int i;

	/* An engine that opens a descriptor does so before the filters. */
	expect(!ferry_engine_probe(trial->engine, NULL));
	expect(!sigaction(SIGSYS, &action, NULL));
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	for (i = 0; i < trial->nfilters; i++)
		filter_install(&trial->filters[i]);
	trial->outcome->last =
		ferry_batch_on(trial->engine, trial->outcome->rets, trial->calls, SLOTS, 0, 0);
	_exit(0);
}

static struct outcome outcome_on(struct trial *trial, enum ferry_engine engine)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		trial->outcome->rets[i] = UNTOUCHED;
	trial->outcome->last = UNTOUCHED;
	expect(!ftruncate(trial->file, 0));
	expect_equal(lseek(trial->file, 0, SEEK_SET), 0);
	trial->engine = engine;
	trial->outcome->status = in_child(run_trial, trial);
	trial->outcome->written = lseek(trial->file, 0, SEEK_END);
	return *trial->outcome;
}

/* getpid() differs in each child. */
static void forget_pids(struct trial *trial, struct outcome *outcome)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (trial->calls[i].nr == SYS_getpid && outcome->rets[i] > 1 &&
		    outcome->rets[i] < 100000)
			outcome->rets[i] = 1;
}

static void expect_same(const struct trial *trial, const struct outcome *loop,
			const struct outcome *kernel, int round)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (loop->rets[i] != kernel->rets[i])
			suite_fail(
				__FILE__, __LINE__,
				"round %d: slot %d, call %d, is %ld in the loop, %ld in the kernel",
				round, i, trial->calls[i].nr, loop->rets[i], kernel->rets[i]);
	expect_equal(kernel->last, loop->last);
	expect_equal(kernel->status, loop->status);
	expect_equal(kernel->written, loop->written);
}

TEST(filters_do_to_a_batch_what_they_do_to_the_loop)
{
	struct random random = random_new(1);
	int rounds = times(150, 10000);
	struct trial trial;
	struct outcome loop;
	struct outcome kernel;
	int i;

	patience(1200);
	memset(&trial, 0, sizeof(trial));
	trial.file = memory_file();
	trial.outcome = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(trial.outcome != MAP_FAILED);
	for (i = 0; i < rounds; i++) {
		make_trial(&trial, &random);
		loop = outcome_on(&trial, FERRY_LOOP);
		kernel = outcome_on(&trial, engine);
		forget_pids(&trial, &loop);
		forget_pids(&trial, &kernel);
		expect_same(&trial, &loop, &kernel, i);
	}
}
