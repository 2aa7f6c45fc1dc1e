// SPDX-License-Identifier: MIT
/* The program builder: every function, every error, every boundary. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>

#include "tests/unit.h"

#define SENTINEL 0x5ca1ab1eL

static int make_program(void **state)
{
	*state = ferry_program_new();
	return *state ? 0 : -1;
}

static int free_program(void **state)
{
	ferry_program_free(*state);
	return 0;
}

#define PROGRAM_TEST(name) TEST_BETWEEN(name, make_program, free_program)

static void add_fillers(struct ferry_program *program, int count)
{
	while (count--)
		assert_true(ferry_call(program, SYS_getpid) >= 0);
}

/* ---- an empty program ---- */

PROGRAM_TEST(new_program_is_empty_and_runs)
{
	struct ferry_program *program = *state;

	assert_int_equal(ferry_program_length(program), 0);
	assert_non_null(ferry_program_slots(program));
	assert_null(ferry_program_missing_label(program));
	assert_int_equal(ferry_run(program, NULL), 0);
}

TEST(freeing_null_is_fine)
{
	ferry_program_free(NULL);
}

/* ---- appending ---- */

PROGRAM_TEST(add_stores_the_slot_and_returns_its_index)
{
	static const struct batch_slot plain = { .nr = SYS_getpid };
	struct ferry_program *program = *state;
	const long args[] = { 1, -2, LONG_MAX, LONG_MIN, 5, 6 };
	struct batch_slot *slots;

	assert_int_equal(ferry_add(program, SYS_getpid, NULL, 0), 0);
	assert_int_equal(ferry_add(program, SYS_mmap, args, 6), 1);
	assert_int_equal(ferry_add(program, SYS_mmap, args, 2), 2);
	assert_int_equal(ferry_program_length(program), 3);
	slots = ferry_program_slots(program);
	assert_memory_equal(&slots[0], &plain, sizeof(plain));
	assert_int_equal(slots[1].nr, SYS_mmap);
	assert_int_equal(slots[1].argc, 6);
	assert_memory_equal(slots[1].arg, args, sizeof(args));
	assert_int_equal(slots[2].argc, 2);
	assert_memory_equal(slots[2].arg, args, 2 * sizeof(*args));
	assert_int_equal(slots[2].arg[2], 0);
}

PROGRAM_TEST(add_takes_the_numbers_of_a_short)
{
	static const long refused[] = { SHRT_MIN - 1L, SHRT_MAX + 1L, LONG_MIN, LONG_MAX, 65536 };
	struct ferry_program *program = *state;
	size_t i;

	assert_int_equal(ferry_call(program, SHRT_MIN), 0);
	assert_int_equal(ferry_call(program, SHRT_MAX), 1);
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_int_equal(ferry_call(program, refused[i]), -EINVAL);
	assert_int_equal(ferry_program_length(program), 2);
	assert_int_equal(ferry_program_slots(program)[0].nr, SHRT_MIN);
	assert_int_equal(ferry_program_slots(program)[1].nr, SHRT_MAX);
}

PROGRAM_TEST(add_refuses_more_than_six_arguments)
{
	struct ferry_program *program = *state;
	const long args[7] = { 0 };

	assert_int_equal(ferry_add(program, SYS_getpid, args, 7), -EINVAL);
	assert_int_equal(ferry_add(program, SYS_getpid, args, UINT_MAX), -EINVAL);
	assert_int_equal(ferry_add(program, SYS_getpid, args, BATCH_ARGC_FORWARD), -EINVAL);
	assert_int_equal(ferry_program_length(program), 0);
}

PROGRAM_TEST(call_takes_any_integer_or_pointer)
{
	enum { ENUMERATOR = 7 };
	struct ferry_program *program = *state;
	struct batch_slot *slots;
	const char *text = "text";
	unsigned long biggest = ULONG_MAX;
	unsigned char byte = 200;
	bool flag = true;

	assert_int_equal(ferry_call(program, SYS_getpid), 0);
	assert_int_equal(ferry_call(program, SYS_getpid, text), 1);
	assert_int_equal(ferry_call(program, SYS_getpid, biggest, byte), 2);
	assert_int_equal(ferry_call(program, SYS_getpid, flag, 'c', ENUMERATOR), 3);
	assert_int_equal(ferry_call(program, SYS_getpid, -1, 2U, 3L, 4UL), 4);
	assert_int_equal(ferry_call(program, SYS_getpid, NULL, &slots, 3, 4, 5), 5);
	assert_int_equal(ferry_call(program, SYS_getpid, 1, (text++, 2), 3, 4, 5, 1 ? 6 : 7), 6);
	slots = ferry_program_slots(program);
	assert_int_equal(slots[1].arg[0], (long)(text - 1));
	assert_int_equal(slots[2].arg[0], -1);
	assert_int_equal(slots[2].arg[1], 200);
	assert_int_equal(slots[3].arg[0], 1);
	assert_int_equal(slots[3].arg[2], ENUMERATOR);
	assert_int_equal(slots[4].arg[0], -1);
	assert_int_equal(slots[5].arg[1], (long)&slots);
	assert_int_equal(slots[6].arg[1], 2);
	assert_int_equal(slots[6].arg[5], 6);
	for (int i = 0; i < 7; i++)
		assert_int_equal(slots[i].argc, i);
}

PROGRAM_TEST(growing_keeps_the_slots_and_their_alignment)
{
	struct ferry_program *program = *state;
	const int many = 10000;
	struct batch_slot *slots;

	for (int i = 0; i < many; i++) {
		assert_int_equal(ferry_call(program, i % 400, i, -i), i);
		assert_int_equal((uintptr_t)ferry_program_slots(program) % 64, 0);
	}
	slots = ferry_program_slots(program);
	assert_int_equal(ferry_program_length(program), many);
	for (int i = 0; i < many; i++) {
		assert_int_equal(slots[i].nr, i % 400);
		assert_int_equal(slots[i].arg[0], i);
		assert_int_equal(slots[i].arg[1], -i);
	}
}

PROGRAM_TEST(slots_can_be_changed_in_place)
{
	struct ferry_program *program = *state;
	long ret = SENTINEL;

	assert_int_equal(ferry_call(program, FERRY_NR_GOTO), 0);
	ferry_program_slots(program)[0].nr = SYS_getpid;
	assert_int_equal(ferry_run(program, &ret), 0);
	assert_int_equal(ret, getpid());
}

/* ---- word copies, forwarding ---- */

PROGRAM_TEST(copy_moves_a_word_when_the_program_runs)
{
	struct ferry_program *program = *state;
	long source = SENTINEL;
	long target = 0;
	long ret = -1;

	assert_int_equal(ferry_copy(program, &target, &source), 0);
	assert_int_equal(ferry_program_slots(program)[0].nr, BATCH_WDCPY);
	assert_int_equal(ferry_program_slots(program)[0].argc, 2);
	assert_int_equal(ferry_run(program, &ret), 0);
	assert_int_equal(ret, 0);
	assert_int_equal(target, SENTINEL);
}

PROGRAM_TEST(forward_hands_a_result_on)
{
	struct ferry_program *program = *state;
	long rets[3];

	assert_int_equal(ferry_call(program, SYS_getpid), 0);
	assert_int_equal(ferry_call(program, SYS_getpgid, -1), 1);
	assert_int_equal(ferry_call(program, SYS_getpgid, -1), 2);
	assert_int_equal(ferry_forward(program, 2, 0, 0), 0);
	assert_int_equal(ferry_run(program, rets), 2);
	assert_int_equal(rets[1], -ESRCH);
	assert_int_equal(rets[2], getpgid(0));
}

PROGRAM_TEST(forward_reaches_255_slots_back_and_no_further)
{
	struct ferry_program *program = *state;
	struct batch_slot before;

	add_fillers(program, 256);
	assert_int_equal(ferry_call(program, SYS_kill, 0, 0, 0, 0, 0, 0), 256);
	before = ferry_program_slots(program)[256];
	assert_int_equal(ferry_forward(program, 256, 5, 0), -ERANGE);
	assert_memory_equal(&ferry_program_slots(program)[256], &before, sizeof(before));
	assert_int_equal(ferry_forward(program, 256, 5, 1), 0);
	assert_int_equal(ferry_forward(program, 256, 0, 255), 0);
	assert_int_equal(ferry_program_slots(program)[256].argc, 6 | BATCH_ARGC_FORWARD);
	assert_int_equal(ferry_program_slots(program)[256].from[5], 255);
	assert_int_equal(ferry_program_slots(program)[256].from[0], 1);
	assert_int_equal(ferry_program_slots(program)[256].from[1], 0);
}

PROGRAM_TEST(forward_refuses_what_is_not_there)
{
	struct ferry_program *program = *state;
	struct batch_slot before;

	add_fillers(program, 1);
	assert_int_equal(ferry_call(program, SYS_kill, 1, 2), 1);
	before = ferry_program_slots(program)[1];
	assert_int_equal(ferry_forward(program, 2, 0, 0), -EINVAL);
	assert_int_equal(ferry_forward(program, -1, 0, 0), -EINVAL);
	assert_int_equal(ferry_forward(program, INT_MIN, 0, 0), -EINVAL);
	assert_int_equal(ferry_forward(program, 0, 0, 0), -EINVAL);
	assert_int_equal(ferry_forward(program, 1, 0, 1), -EINVAL);
	assert_int_equal(ferry_forward(program, 1, 0, 2), -EINVAL);
	assert_int_equal(ferry_forward(program, 1, 0, -1), -EINVAL);
	assert_int_equal(ferry_forward(program, 1, 2, 0), -EINVAL);
	assert_int_equal(ferry_forward(program, 1, 6, 0), -EINVAL);
	assert_int_equal(ferry_forward(program, 1, UINT_MAX, 0), -EINVAL);
	assert_memory_equal(&ferry_program_slots(program)[1], &before, sizeof(before));
	ferry_program_slots(program)[1].argc = 100;
	assert_int_equal(ferry_forward(program, 1, 6, 0), -EINVAL);
}

/* ---- jumps ---- */

static void assert_jumps(struct ferry_program *program, int slot, int fail, int zero, int pos)
{
	struct batch_slot *slots = ferry_program_slots(program);

	assert_non_null(slots);
	assert_int_equal(slots[slot].jump_fail, fail);
	assert_int_equal(slots[slot].jump_zero, zero);
	assert_int_equal(slots[slot].jump_pos, pos);
}

PROGRAM_TEST(jumps_wait_for_their_label)
{
	struct ferry_program *program = *state;

	add_fillers(program, 3);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ON_ZERO, "late"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_FAIL | FERRY_ON_POS, "later"), 0);
	assert_null(ferry_program_slots(program));
	assert_string_equal(ferry_program_missing_label(program), "later");
	assert_int_equal(ferry_run(program, NULL), -EINVAL);
	assert_int_equal(ferry_label(program, "later"), 0);
	assert_string_equal(ferry_program_missing_label(program), "late");
	assert_null(ferry_program_slots(program));
	add_fillers(program, 1);
	assert_int_equal(ferry_label(program, "late"), 0);
	assert_null(ferry_program_missing_label(program));
	assert_jumps(program, 0, 2, 0, 2);
	assert_jumps(program, 1, 0, 2, 0);
	assert_jumps(program, 2, 0, 0, 0);
}

PROGRAM_TEST(jumps_to_known_labels_are_resolved_at_once)
{
	struct ferry_program *program = *state;

	add_fillers(program, 2);
	assert_int_equal(ferry_label(program, "there"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_FAIL, "there"), 0);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ALWAYS, "there"), 0);
	assert_jumps(program, 0, 1, 0, 0);
	assert_jumps(program, 1, 0, 0, 0);
}

PROGRAM_TEST(jump_to_the_end_ends_the_batch)
{
	struct ferry_program *program = *state;
	long rets[2] = { SENTINEL, SENTINEL };

	add_fillers(program, 2);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_POS, FERRY_END), 0);
	assert_jumps(program, 0, 0, 0, -1);
	assert_int_equal(ferry_run(program, rets), 0);
	assert_int_equal(rets[0], getpid());
	assert_int_equal(rets[1], SENTINEL);
}

PROGRAM_TEST(jump_refuses_what_lies_behind_or_is_not_there)
{
	struct ferry_program *program = *state;

	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, "x"), -EINVAL);
	assert_int_equal(ferry_label(program, "first"), 0);
	add_fillers(program, 2);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, "first"), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ALWAYS, "first"), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 2, FERRY_ALWAYS, "x"), -EINVAL);
	assert_int_equal(ferry_jump_to(program, -1, FERRY_ALWAYS, "x"), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 0, 0, "x"), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 0, 8, "x"), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 0, UINT_MAX, FERRY_END), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, ""), -EINVAL);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, NULL), -EINVAL);
	assert_null(ferry_program_missing_label(program));
	assert_jumps(program, 0, 0, 0, 0);
	assert_jumps(program, 1, 0, 0, 0);
}

PROGRAM_TEST(label_refuses_used_empty_and_reserved_names)
{
	struct ferry_program *program = *state;

	assert_int_equal(ferry_label(program, "a"), 0);
	assert_int_equal(ferry_label(program, "a"), -EEXIST);
	add_fillers(program, 1);
	assert_int_equal(ferry_label(program, "a"), -EEXIST);
	assert_int_equal(ferry_label(program, ""), -EINVAL);
	assert_int_equal(ferry_label(program, NULL), -EINVAL);
	assert_int_equal(ferry_label(program, FERRY_END), -EINVAL);
	assert_int_equal(ferry_label(program, "ends"), 0);
	assert_int_equal(ferry_label(program, "En"), 0);
}

PROGRAM_TEST(label_names_are_copied)
{
	struct ferry_program *program = *state;
	char name[] = "copied";

	add_fillers(program, 1);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, name), 0);
	memset(name, 'x', sizeof(name) - 1);
	assert_string_equal(ferry_program_missing_label(program), "copied");
	assert_int_equal(ferry_label(program, name), 0);
	assert_int_equal(ferry_label(program, "copied"), 0);
	assert_null(ferry_program_missing_label(program));
}

PROGRAM_TEST(programs_do_not_share_labels)
{
	struct ferry_program *other = ferry_program_new();

	assert_non_null(other);
	assert_int_equal(ferry_label(*state, "same"), 0);
	assert_int_equal(ferry_label(other, "same"), 0);
	ferry_program_free(other);
}

PROGRAM_TEST(waiting_jump_reaches_32767_slots)
{
	struct ferry_program *program = *state;

	add_fillers(program, 1);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_POS, "far"), 0);
	add_fillers(program, SHRT_MAX);
	assert_int_equal(ferry_label(program, "far"), 0);
	assert_jumps(program, 0, 0, 0, SHRT_MAX);
}

PROGRAM_TEST(waiting_jump_over_32768_slots_is_refused)
{
	struct ferry_program *program = *state;

	add_fillers(program, 2);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ON_POS, "far"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_POS, "far"), 0);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ON_ZERO, "far"), 0);
	add_fillers(program, SHRT_MAX);
	assert_int_equal(ferry_label(program, "far"), -ERANGE);
	assert_string_equal(ferry_program_missing_label(program), "far");
	assert_null(ferry_program_slots(program));

	/* The other jumps still wait, and the jump in the way can be redirected. */
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_POS, FERRY_END), 0);
	assert_int_equal(ferry_label(program, "far"), 0);
	assert_jumps(program, 0, 0, 0, -1);
	assert_jumps(program, 1, 0, SHRT_MAX, SHRT_MAX);
}

PROGRAM_TEST(known_label_is_in_reach_up_to_32767_slots)
{
	struct ferry_program *program = *state;

	add_fillers(program, 2 + SHRT_MAX);
	assert_int_equal(ferry_label(program, "far"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, "far"), -ERANGE);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ALWAYS, "far"), 0);
	assert_jumps(program, 0, 0, 0, 0);
	assert_jumps(program, 1, SHRT_MAX, SHRT_MAX, SHRT_MAX);
}

PROGRAM_TEST(latest_jump_replaces_one_that_waits)
{
	struct ferry_program *program = *state;

	add_fillers(program, 3);
	assert_int_equal(ferry_label(program, "here"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, "a"), 0);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ALWAYS, "a"), 0);
	assert_int_equal(ferry_jump_to(program, 2, FERRY_ALWAYS, "a"), 0);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ON_ZERO, "b"), 0);
	assert_int_equal(ferry_jump_to(program, 1, FERRY_ON_POS, FERRY_END), 0);
	assert_int_equal(ferry_jump_to(program, 2, FERRY_ON_FAIL, "b"), 0);
	assert_int_equal(ferry_jump_to(program, 2, FERRY_ON_FAIL, "a"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ON_FAIL, "here"), 0);
	add_fillers(program, 1);
	assert_int_equal(ferry_label(program, "b"), 0);
	add_fillers(program, 1);
	assert_int_equal(ferry_label(program, "a"), 0);
	assert_jumps(program, 0, 2, 4, 4);
	assert_jumps(program, 1, 3, 2, -1);
	assert_jumps(program, 2, 2, 2, 2);
}

PROGRAM_TEST(label_that_nobody_waits_for_any_more_is_not_missing)
{
	struct ferry_program *program = *state;

	add_fillers(program, 1);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, "nowhere"), 0);
	assert_int_equal(ferry_jump_to(program, 0, FERRY_ALWAYS, FERRY_END), 0);
	assert_null(ferry_program_missing_label(program));
	assert_non_null(ferry_program_slots(program));
}

PROGRAM_TEST(thousands_of_labels_are_told_apart)
{
	struct ferry_program *program = *state;
	const int many = 8000;
	char name[16];

	for (int i = 0; i < many; i++) {
		snprintf(name, sizeof(name), "label%d", i);
		assert_int_equal(ferry_call(program, SYS_getpid), i);
		assert_int_equal(ferry_jump_to(program, i, FERRY_ON_FAIL, name), 0);
	}
	for (int i = many - 1; i >= 0; i--) {
		snprintf(name, sizeof(name), "label%d", i);
		assert_int_equal(ferry_label(program, name), 0);
		add_fillers(program, 1);
	}
	for (int i = 0; i < many; i++)
		assert_jumps(program, i, 2 * (many - 1 - i), 0, 0);
}

/* ---- go to ---- */

PROGRAM_TEST(goto_fails_and_goes_on_at_the_label)
{
	struct ferry_program *program = *state;
	long rets[4] = { SENTINEL, SENTINEL, SENTINEL, SENTINEL };

	assert_int_equal(ferry_goto(program, "over"), 0);
	add_fillers(program, 1);
	assert_int_equal(ferry_label(program, "over"), 0);
	assert_int_equal(ferry_goto(program, FERRY_END), 2);
	add_fillers(program, 1);
	assert_int_equal(ferry_program_slots(program)[0].nr, FERRY_NR_GOTO);
	assert_int_equal(ferry_run(program, rets), 2);
	assert_int_equal(rets[0], -ENOSYS);
	assert_int_equal(rets[1], SENTINEL);
	assert_int_equal(rets[2], -ENOSYS);
	assert_int_equal(rets[3], SENTINEL);
}

PROGRAM_TEST(goto_refuses_a_label_behind_and_adds_nothing)
{
	struct ferry_program *program = *state;

	assert_int_equal(ferry_label(program, "back"), 0);
	assert_int_equal(ferry_goto(program, "back"), -EINVAL);
	assert_int_equal(ferry_goto(program, ""), -EINVAL);
	assert_int_equal(ferry_goto(program, NULL), -EINVAL);
	assert_int_equal(ferry_program_length(program), 0);
	add_fillers(program, 1);
	assert_jumps(program, 0, 0, 0, 0);
}

/* ---- many threads, one program ---- */

#define RUNS_PER_THREAD 2000

static void *run_again_and_again(void *program)
{
	long rets[4];

	for (int i = 0; i < RUNS_PER_THREAD; i++) {
		memset(rets, 0, sizeof(rets));
		rets[2] = SENTINEL;
		if (ferry_run(program, rets) != 3 || rets[0] != getpid() || rets[1] != -ENOSYS ||
		    rets[2] != SENTINEL || rets[3] != getpgid(0))
			return program;
	}
	return NULL;
}

PROGRAM_TEST(threads_can_run_one_program_at_once)
{
	struct ferry_program *program = *state;
	pthread_t threads[8];
	void *failed;

	add_fillers(program, 1);
	assert_int_equal(ferry_goto(program, "past"), 1);
	add_fillers(program, 1);
	assert_int_equal(ferry_label(program, "past"), 0);
	assert_int_equal(ferry_call(program, SYS_getpgid, 0), 3);
	assert_int_equal(ferry_forward(program, 3, 0, 0), 0);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_again_and_again, program),
				 0);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

/* ---- random programs against a simple model ---- */

#define MODEL_SLOTS 40
#define MODEL_LABELS 6

struct model {
	int places[MODEL_LABELS];  /* or -1 */
	int waits[MODEL_SLOTS][3]; /* label, or -1 */
	short offsets[MODEL_SLOTS][3];
	int length;
};

static int model_jump(struct model *model, int slot, unsigned int when, int label)
{
	if (slot >= model->length || (model->places[label] >= 0 && model->places[label] <= slot))
		return -EINVAL;
	for (int k = 0; k < 3; k++) {
		if (!(when >> k & 1))
			continue;
		model->waits[slot][k] = model->places[label] < 0 ? label : -1;
		model->offsets[slot][k] = (short)(model->places[label] - slot - 1);
	}
	return 0;
}

static int model_label(struct model *model, int label)
{
	if (model->places[label] >= 0)
		return -EEXIST;
	model->places[label] = model->length;
	for (int slot = 0; slot < model->length; slot++)
		for (int k = 0; k < 3; k++)
			if (model->waits[slot][k] == label)
				model_jump(model, slot, 1U << k, label);
	return 0;
}

static void assert_like_model(struct ferry_program *program, const struct model *model)
{
	bool waits = false;

	for (int slot = 0; slot < model->length; slot++)
		for (int k = 0; k < 3; k++)
			waits = waits || model->waits[slot][k] >= 0;
	assert_int_equal(ferry_program_length(program), model->length);
	assert_int_equal(waits, ferry_program_missing_label(program) != NULL);
	assert_int_equal(waits, ferry_program_slots(program) == NULL);
	for (int slot = 0; slot < model->length && !waits; slot++)
		assert_jumps(program, slot, model->offsets[slot][0], model->offsets[slot][1],
			     model->offsets[slot][2]);
}

static void random_step(struct ferry_program *program, struct model *model)
{
	int label = rand() % MODEL_LABELS;
	int slot = rand() % MODEL_SLOTS;
	unsigned int when = 1 + (unsigned int)rand() % FERRY_ALWAYS;
	char name[2] = { (char)('a' + label), 0 };

	switch (rand() % 4) {
	case 0:
		assert_int_equal(ferry_label(program, name), model_label(model, label));
		break;
	case 1:
		assert_int_equal(ferry_call(program, SYS_getpid), model->length);
		for (int k = 0; k < 3; k++) {
			model->waits[model->length][k] = -1;
			model->offsets[model->length][k] = 0;
		}
		model->length++;
		break;
	default:
		assert_int_equal(ferry_jump_to(program, slot, when, name),
				 model_jump(model, slot, when, label));
	}
}

TEST(random_programs_match_a_plain_model)
{
	const char *given = getenv("SEED");
	unsigned int seed =
		given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)time(NULL);

	print_message("seed %u (set SEED to repeat)\n", seed);
	srand(seed);
	for (int round = 0; round < 2000; round++) {
		struct ferry_program *program = ferry_program_new();
		struct model model = { .length = 0 };

		memset(model.places, -1, sizeof(model.places));
		while (model.length < MODEL_SLOTS) {
			random_step(program, &model);
			assert_like_model(program, &model);
		}
		ferry_program_free(program);
	}
}

/* ---- parameters ---- */

PROGRAM_TEST(run_with_uses_the_values)
{
	struct ferry_program *program = *state;
	long from[] = { 11, 22 }, to[2] = { 0 }, rets[2];
	long values[] = { (long)&to[0], (long)&from[0], (long)&to[1], (long)&from[1] };

	ferry_copy(program, to, from + 1);
	ferry_copy(program, to, from);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ferry_parameter(program, i / 2, i % 2, (unsigned int)i), 0);
	assert_int_equal(ferry_run_with(program, values, 4, rets), 1);
	assert_int_equal(to[0], 11);
	assert_int_equal(to[1], 22);
	values[1] = (long)&from[1];
	assert_int_equal(ferry_run_with(program, values, 4, rets), 1);
	assert_int_equal(to[0], 22);
	assert_int_equal(ferry_run(program, rets), 1);
	assert_int_equal(to[0], 11);
}

PROGRAM_TEST(run_with_takes_long_programs)
{
	struct ferry_program *program = *state;
	long from = 5, to[1000] = { 0 }, rets[1000];
	const long values[] = { (long)&from };

	for (int i = 0; i < 1000; i++) {
		ferry_copy(program, &to[i], NULL);
		assert_int_equal(ferry_parameter(program, i, 1, 0), 0);
	}
	assert_int_equal(ferry_run_with(program, values, 1, rets), 999);
	assert_int_equal(to[0] + to[999], 10);
}

PROGRAM_TEST(run_with_runs_a_copy)
{
	struct ferry_program *program = *state;
	const long other = SYS_getppid; /* a slot's first word, without jumps */
	long rets[2];

	ferry_copy(program, NULL, &other);
	ferry_call(program, SYS_getpid);
	ferry_program_slots(program)->arg[0] = (long)(ferry_program_slots(program) + 1);
	assert_int_equal(ferry_run_with(program, NULL, 0, rets), 1);
	assert_int_equal(rets[1], getpid());
	assert_int_equal(ferry_run_with(program, NULL, 0, rets), 1);
	assert_int_equal(rets[1], getppid());
}

PROGRAM_TEST(parameters_refuse_what_is_not_there)
{
	struct ferry_program *program = *state;
	long values[1] = { 0 }, rets[3];

	ferry_call(program, SYS_getpid);
	ferry_call(program, SYS_close, -1);
	ferry_call(program, SYS_close, -1);
	assert_int_equal(ferry_forward(program, 2, 0, 0), 0);
	assert_int_equal(ferry_parameter(program, 0, 0, 0), -EINVAL);
	assert_int_equal(ferry_parameter(program, 1, 1, 0), -EINVAL);
	assert_int_equal(ferry_parameter(program, 3, 0, 0), -EINVAL);
	assert_int_equal(ferry_parameter(program, -1, 0, 0), -EINVAL);
	assert_int_equal(ferry_parameter(program, 2, 0, 0), -EINVAL);
	assert_int_equal(ferry_run_with(program, NULL, 0, rets), 2);
	assert_int_equal(ferry_parameter(program, 1, 0, 1), 0);
	assert_int_equal(ferry_run_with(program, values, 1, rets), -EINVAL);
	assert_int_equal(ferry_run(program, rets), 2);
	ferry_jump_to(program, 0, FERRY_ON_FAIL, "later");
	assert_int_equal(ferry_run_with(program, values, 2, rets), -EINVAL);
}

TEST_MAIN
