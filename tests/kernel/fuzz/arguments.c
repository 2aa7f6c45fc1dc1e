// SPDX-License-Identifier: MIT
/*
 * The arguments of batch(): some as no library passes them, whose outcome is predicted, and good
 * ones, of a thread that signals interrupt and whose calls something watches.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include <ferry.h>
#include <ferry/loop.h>

#include "subject.h"
#include "tests/kernel/storm/program.h"
#include "tests/kernel/storm/weather.h"

#define PAGE 4096UL
#define KERNEL 0xffff888000000000UL /* an address */
#define UNTOUCHED 0x5e5e5e5e5e5e5e5eL
#define FEW 8	 /* slots of a program with odd arguments */
#define ROUNDS 8 /* of batches under one watcher */

/* A page each; a page that cannot be accessed follows. */
enum area { ARGS, CALLS, RETS, COPIES, READ_ONLY, AREAS };

static char *areas[AREAS];
static int memory; /* its lseek() returns any value */

static void begin(const char *directory)
{
	int i;

	(void)directory;
	memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < AREAS; i++) {
		areas[i] = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		if (areas[i] == MAP_FAILED || mprotect(areas[i] + PAGE, PAGE, PROT_NONE))
			err(2, "memory");
	}
	if (memory < 0)
		err(2, "/proc/self/mem");
}

/* ---- odd arguments ---- */

enum where { GOOD, NOWHERE, UNREADABLE, READABLE, OF_KERNEL, WRAPPING };

struct odd {
	struct batch_args *args;
	size_t size;
	struct batch_slot *calls; /* those in memory, wherever args leads */
	long *rets;
	long *words; /* for copies: from the first half to the second */
	enum where calls_at, rets_at, args_at;
	bool more; /* the structure is larger, and what is beyond is not 0 */
};

static unsigned long address_of(enum where where, enum area area)
{
	switch (where) {
	case NOWHERE:
		return 0;
	case UNREADABLE:
		return (unsigned long)areas[area] + PAGE;
	case READABLE:
		return (unsigned long)areas[READ_ONLY];
	case OF_KERNEL:
		return KERNEL;
	case WRAPPING:
		return -sizeof(struct batch_slot);
	case GOOD:
	default:
		return (unsigned long)areas[area];
	}
}

static struct batch_slot odd_slot(struct random *random, long words[])
{
	static const long values[] = { 0, 1, -1, -EINTR, -4095, -4096, 4242 };
	static const short numbers[] = { SYS_getpid, SYS_getuid, -1, SYS_clone, 511 };
	struct batch_slot slot = { .nr = PICK(random, numbers) };

	switch (random_below(random, 4)) {
	case 0:
		slot.nr = BATCH_WDCPY;
		slot.arg[0] = (long)&words[FEW + random_below(random, FEW)];
		slot.arg[1] = (long)&words[random_below(random, FEW)];
		break;
	case 1:
	case 2:
		slot = (struct batch_slot){ .nr = SYS_lseek, .argc = 3 };
		slot.arg[0] = memory;
		slot.arg[1] = PICK(random, values);
		break;
	default:
		break;
	}
	if (slot.nr == SYS_lseek && random_percent(random, 40)) {
		slot.argc |= BATCH_ARGC_FORWARD;
		slot.from[1] = (unsigned char)random_below(random, 4);
	}
	if (random_percent(random, 5))
		slot.argc = (unsigned char)random_below(random, 256);
	slot.jump_fail =
		(short)(random_percent(random, 60) ? 0 : (long)random_below(random, 5) - 1);
	slot.jump_zero =
		(short)(random_percent(random, 60) ? 0 : (long)random_below(random, 5) - 1);
	slot.jump_pos = (short)(random_percent(random, 60) ? 0 : (long)random_below(random, 5) - 1);
	return slot;
}

static size_t odd_size(struct random *random)
{
	static const size_t sizes[] = { 0,
					1,
					64,
					sizeof(struct batch_args) - 1,
					sizeof(struct batch_args) + 1,
					sizeof(struct batch_args) + 64,
					PAGE - 1,
					PAGE,
					PAGE + 1,
					1UL << 32 | sizeof(struct batch_args),
					-1UL };

	return random_percent(random, 75) ? sizeof(struct batch_args) : PICK(random, sizes);
}

static void make_odd(struct odd *odd, struct random *random)
{
	static const __u64 counts[] = { 0,   1, FEW, FEW + 1, BATCH_MAX_SLOTS, BATCH_MAX_SLOTS + 1,
					-1UL };
	static const enum where places[] = { NOWHERE, UNREADABLE, READABLE, OF_KERNEL, WRAPPING };
	static const enum where args_places[] = { NOWHERE, UNREADABLE, READABLE, OF_KERNEL };
	unsigned long i;

	*odd = (struct odd){ .args = (struct batch_args *)areas[ARGS],
			     .calls = (struct batch_slot *)areas[CALLS],
			     .rets = (long *)areas[RETS],
			     .words = (long *)areas[COPIES],
			     .size = odd_size(random) };
	for (i = 0; i < 2 * FEW; i++)
		odd->words[i] = (long)i;
	for (i = 0; i < FEW; i++) {
		odd->calls[i] = odd_slot(random, odd->words);
		odd->rets[i] = UNTOUCHED;
	}
	odd->calls_at = random_percent(random, 85) ? GOOD : PICK(random, places);
	odd->rets_at = random_percent(random, 85) ? GOOD : PICK(random, places);
	odd->args_at = random_percent(random, 90) ? GOOD : PICK(random, args_places);
	odd->args->calls = address_of(odd->calls_at, CALLS);
	odd->args->rets = address_of(odd->rets_at, RETS);
	odd->args->ncall = random_percent(random, 85) ? FEW : PICK(random, counts);
	odd->args->flags = random_percent(random, 97) ? 0 : random_word(random);
	if (random_percent(random, 50)) {
		odd->args->position = random_below(random, FEW + 2);
		odd->args->last =
			random_percent(random, 90) ? odd->args->position / 2 : random_word(random);
		odd->args->state = random_below(random, 4);
		odd->args->slot = odd_slot(random, odd->words);
	}
	odd->more = random_percent(random, 10);
	if (odd->more)
		areas[ARGS][sizeof(struct batch_args)] = 1;
	memcpy(areas[READ_ONLY], areas[ARGS], PAGE);
	mprotect(areas[READ_ONLY], PAGE, PROT_READ);
}

/* Whether batch() stops before it looks at a slot; with *ANSWER. */
static bool is_answered(const struct odd *odd, long *answer)
{
	const struct batch_args *args = odd->args;
	bool there = odd->args_at == GOOD || odd->args_at == READABLE;

	*answer = -EINVAL;
	if (odd->args_at == NOWHERE && !odd->size) {
		*answer = BATCH_VERSION | (BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD)
						  << BATCH_FEATURE_SHIFT;
		return true;
	}
	if (odd->size < sizeof(*args))
		return true;
	if (odd->size > PAGE) {
		*answer = -E2BIG;
		return true;
	}
	if (!there) {
		*answer = -EFAULT;
		return true;
	}
	if (odd->size > sizeof(*args) && odd->more) {
		*answer = -E2BIG;
		return true;
	}
	if (args->flags || args->state > BATCH_RESTART || args->ncall > BATCH_MAX_SLOTS)
		return true;
	*answer = 0;
	if (!args->ncall)
		return true;
	*answer = -EFAULT;
	if (!args->calls || args->calls >= -args->ncall * sizeof(struct batch_slot))
		return true;
	*answer = -EINVAL;
	return args->position && (args->position >= args->ncall || args->last >= args->position);
}

/* What the loop makes of it, in the memory that the kernel has used and is fresh again. */
static long loop(const struct odd *odd)
{
	const struct batch_args *args = odd->args;
	const struct batch_slot *calls = (const struct batch_slot *)args->calls;
	struct ferry_cursor cursor = ferry_cursor_at(args->position, calls);
	struct batch_slot slot = args->slot;
	unsigned long head;
	long *ret = odd->rets + args->position;

	cursor.from = args->position ? (long)args->last : -EFAULT;
	if (args->state != BATCH_BEGIN) {
		memcpy(&head, &slot, sizeof(head));
		/* No call is there to be restarted. */
		*ret = args->state == BATCH_RESTART ? -EINTR :
						      ferry_loop_slot(&slot, head, odd->rets, ret);
		ferry_cursor_jump(&cursor, calls, head, *ret);
	}
	if (cursor.slot && cursor.slot < calls + args->ncall)
		ferry_loop_until(&cursor, calls + args->ncall, odd->rets, calls, args->ncall);
	return ferry_cursor_last(&cursor, calls);
}

struct kept {
	long rets[FEW + 2];
	long words[2 * FEW];
};

static struct kept keep(const struct odd *odd)
{
	struct kept kept;

	memcpy(kept.rets, odd->rets, sizeof(kept.rets));
	memcpy(kept.words, odd->words, sizeof(kept.words));
	return kept;
}

static void put_back(const struct odd *odd, const struct kept *kept)
{
	memcpy(odd->rets, kept->rets, sizeof(kept->rets));
	memcpy(odd->words, kept->words, sizeof(kept->words));
}

static bool tell(FILE *why, const struct odd *odd, const char *what, long is, long should)
{
	const struct batch_args *args = odd->args;

	fprintf(why,
		"%s is %ld, not %ld: size %zu, args %d, calls %d, rets %d, ncall %llu, "
		"flags %llu, position %llu, last %llu, state %llu\n",
		what, is, should, odd->size, odd->args_at, odd->calls_at, odd->rets_at, args->ncall,
		args->flags, args->position, args->last, args->state);
	return false;
}

static bool compare(const struct odd *odd, long answer, const struct kept *before, FILE *why)
{
	struct kept of_kernel = keep(odd);
	long right;
	int i;

	put_back(odd, before);
	right = loop(odd);
	if (answer != right)
		return tell(why, odd, "the answer", answer, right);
	for (i = 0; i < FEW + 2; i++)
		if (of_kernel.rets[i] != odd->rets[i])
			return tell(why, odd, "a result", of_kernel.rets[i], odd->rets[i]);
	for (i = 0; i < 2 * FEW; i++)
		if (of_kernel.words[i] != odd->words[i])
			return tell(why, odd, "a copied word", of_kernel.words[i], odd->words[i]);
	return true;
}

/* Where the results cannot be stored, user space is to do that, if a slot runs at all. */
static bool run_odd(struct random *random, FILE *why)
{
	struct odd odd;
	struct kept before;
	struct batch_args args;
	long answer, expected;
	bool is_known;

	make_odd(&odd, random);
	is_known = is_answered(&odd, &expected);
	before = keep(&odd);
	args = *odd.args;
	if (odd.args_at == READABLE && odd.rets_at != GOOD)
		subject_may_die(SIGSEGV);
	answer = ferry_rawcall(FERRY_NR_BATCH, (long)address_of(odd.args_at, ARGS), (long)odd.size,
			       0, 0, 0, 0);
	subject_may_die(0);
	*odd.args = args; /* the kernel has left the state there */
	if (is_known)
		return answer == expected || tell(why, &odd, "the answer", answer, expected);
	/* Whoever restarts a batch at its middle has results before; here they may be nowhere. */
	if (odd.rets_at != GOOD || odd.calls_at == OF_KERNEL || args.ncall > FEW + 1)
		return answer == -EOPNOTSUPP || answer == -EFAULT ||
		       (answer >= 0 && answer < FEW) || tell(why, &odd, "the answer", answer, -1);
	return compare(&odd, answer, &before, why);
}

/* ---- good arguments in bad weather ---- */

static void add_watcher(struct random *random)
{
	static const unsigned int actions[] = {
		SECCOMP_RET_ALLOW, SECCOMP_RET_LOG,	     SECCOMP_RET_ERRNO | FILTERED_ERRNO,
		SECCOMP_RET_TRAP,  SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
	};
	static char may_pass = SYSCALL_DISPATCH_FILTER_ALLOW;
	unsigned int action = PICK(random, actions);

	if (random_percent(random, 15)) {
		prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &may_pass);
		return;
	}
	if (action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_KILL_THREAD)
		subject_may_die(SIGSYS);
	weather_filter(action, 0);
}

static bool run_good(struct random *random, FILE *why)
{
	static struct program program;
	bool waits = random_percent(random, 70), is_watched = random_percent(random, 50);
	int i;

	weather_prepare();
	program_open(&program);
	if (waits)
		weather_start_timer(random);
	for (i = 0; i < ROUNDS; i++) {
		long last;

		if (is_watched && i == ROUNDS / 2)
			add_watcher(random);
		program_make(&program, random);
		last = ferry_batch_on(FERRY_SYSCALL, program.rets, program.calls, program.ncall, 0,
				      0);
		if (!program_check(&program, last, why))
			return false;
	}
	return true;
}

static bool run(struct random *random, FILE *why)
{
	return random_percent(random, 70) ? run_odd(random, why) : run_good(random, why);
}

const struct subject arguments = { .name = "arguments", .begin = begin, .run = run, .forks = true };
