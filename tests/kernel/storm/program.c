// SPDX-License-Identifier: MIT
/* Random batches and their outcomes; see program.h. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include <ferry/loop.h>

#include "program.h"

#define UNTOUCHED 0x5e5e5e5e5e5e5e5eL

static const struct timespec a_moment = { 0, 200000 };
static const unsigned long rare_signal[] = { 1UL << 62 }; /* which nobody sends */
static const int futex_word;
static const long one = 1;
static long sink; /* its contents do not matter */

void program_open(struct program *program)
{
	program->memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	program->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (program->memory < 0 || program->event < 0)
		err(2, "storm: files");
	program->pid = getpid();
	program->parent = getppid();
	program->tid = gettid();
}

/* ---- making ---- */

static struct batch_slot slot(long nr, long a, long b, long c, long d)
{
	struct batch_slot made = { .nr = (short)nr, .argc = 4, .arg = { a, b, c, d } };

	return made;
}

static struct batch_slot any_call(const struct program *program, struct random *random)
{
	static const long values[] = { 0, 1, -1, -ENOSYS, -4095, -4096, LONG_MAX, LONG_MIN, 4242 };
	static const short refused[] = { -1,
					 -7,
					 400,
					 511,
					 SYS_clone,
					 SYS_execve,
					 SYS_exit_group,
					 SYS_rt_sigreturn,
					 FERRY_NR_BATCH };

	switch (random_below(random, 14)) {
	case 0:
		return slot(SYS_getpid, 0, 0, 0, 0);
	case 1:
		return slot(SYS_gettid, 0, 0, 0, 0);
	case 2:
	case 3:
		return slot(SYS_getppid, 0, 0, 0, 0);
	case 4:
	case 5:
		return slot(SYS_lseek, program->memory, values[random_below(random, 9)], SEEK_SET,
			    0);
	case 6:
		return slot(refused[random_below(random, 9)], 0, 0, 0, 0);
	case 7:
		return slot(SYS_write, program->event, (long)&one, sizeof(one), 0);
	case 8:
		return slot(SYS_read, program->event, (long)&sink, sizeof(sink), 0);
	case 9:
		return slot(SYS_nanosleep, (long)&a_moment, 0, 0, 0);
	case 10:
		return slot(SYS_rt_sigtimedwait, (long)rare_signal, 0, (long)&a_moment, 8);
	case 11:
		return slot(SYS_futex, (long)&futex_word, FUTEX_WAIT_PRIVATE, 0, (long)&a_moment);
	default:
		return slot(BATCH_WDCPY, (long)&program->words[random_below(random, WORDS)],
			    (long)&program->rets[random_below(random, SLOTS)], 0, 0);
	}
}

static short any_jump(struct random *random)
{
	return (short)(random_percent(random, 70) ? 0 : (long)random_below(random, 6) - 1);
}

void program_make(struct program *program, struct random *random)
{
	unsigned long i;

	program->ncall = 1 + random_below(random, SLOTS);
	for (i = 0; i < program->ncall; i++) {
		struct batch_slot *made = &program->calls[i];

		*made = any_call(program, random);
		made->jump_fail = any_jump(random);
		made->jump_zero = any_jump(random);
		made->jump_pos = any_jump(random);
		if (made->nr != SYS_lseek || !random_percent(random, 50))
			continue;
		made->argc |= BATCH_ARGC_FORWARD;
		made->from[1] = (unsigned char)random_below(random, 6);
	}
	for (i = 0; i <= SLOTS; i++)
		program->rets[i] = UNTOUCHED;
	for (i = 0; i < WORDS; i++)
		program->words[i] = UNTOUCHED;
}

/* ---- checking ---- */

/* What the slots before the one that is checked have left. */
struct state {
	long rets[SLOTS];
	long words[WORDS];
};

static bool is_one_of(long result, long a, long b, long c)
{
	return result == a || result == b || result == c;
}

static bool event_result(struct program *program, const struct batch_slot *call, long result)
{
	bool was_set = program->is_set;

	program->is_set = call->nr == SYS_write;
	return result == (was_set || program->is_set ? (long)sizeof(one) : -EAGAIN);
}

static bool lseek_result(const struct batch_slot *call, const struct state *state, long i,
			 long result)
{
	long d = call->argc & BATCH_ARGC_FORWARD ? call->from[1] : 0;

	if (d > i)
		return result == -EINVAL;
	return result == (d ? state->rets[i - d] : call->arg[1]);
}

static bool word_copy_result(const struct program *program, const struct batch_slot *call,
			     struct state *state, long result)
{
	long to = (const long *)call->arg[0] - program->words;
	long from = (const long *)call->arg[1] - program->rets;

	state->words[to] = state->rets[from];
	return result == 0;
}

/* Whether slot I can have had RESULT. */
static bool is_possible(struct program *program, struct state *state, long i, long result)
{
	const struct batch_slot *call = &program->calls[i];

	switch (call->nr) {
	case SYS_getpid:
		return result == program->pid;
	case SYS_gettid:
		return result == program->tid;
	case SYS_getppid:
		return is_one_of(result, program->parent, -FILTERED_ERRNO, FILTERED_RESULT);
	case SYS_lseek:
		return lseek_result(call, state, i, result);
	case SYS_write:
	case SYS_read:
		return event_result(program, call, result);
	case SYS_nanosleep:
		return is_one_of(result, 0, -EINTR, 0);
	case SYS_rt_sigtimedwait:
		return is_one_of(result, -EAGAIN, -EINTR, -EAGAIN);
	case SYS_futex:
		return is_one_of(result, -ETIMEDOUT, -EINTR, -ETIMEDOUT);
	case BATCH_WDCPY:
		return word_copy_result(program, call, state, result);
	default:
		return result == -ENOSYS;
	}
}

static short jump_of(const struct batch_slot *call, long result)
{
	if (!result)
		return call->jump_zero;
	return ferry_failed(result) ? call->jump_fail : call->jump_pos;
}

bool program_check(struct program *program, long last, FILE *out)
{
	struct state state;
	long i = 0, ran = 0, k;

	for (k = 0; k < SLOTS; k++)
		state.rets[k] = UNTOUCHED;
	for (k = 0; k < WORDS; k++)
		state.words[k] = UNTOUCHED;
	while (i < (long)program->ncall) {
		short jump;

		ran = i;
		if (!is_possible(program, &state, i, program->rets[i])) {
			fprintf(out, "slot %ld, call %d: the result cannot be %ld\n", i,
				program->calls[i].nr, program->rets[i]);
			return false;
		}
		state.rets[i] = program->rets[i];
		jump = jump_of(&program->calls[i], state.rets[i]);
		if (jump < 0)
			break;
		i += 1 + jump;
	}
	if (last != ran) {
		fprintf(out, "the batch returned %ld, but slot %ld ran last\n", last, ran);
		return false;
	}
	if (memcmp(state.rets, program->rets, sizeof(state.rets)) != 0 ||
	    program->rets[SLOTS] != UNTOUCHED) {
		fprintf(out, "a result was stored for a slot that did not run\n");
		return false;
	}
	if (memcmp(state.words, program->words, sizeof(state.words)) != 0) {
		fprintf(out, "a word copy did something else\n");
		return false;
	}
	return true;
}
