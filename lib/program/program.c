// SPDX-License-Identifier: MIT
/* The program builder: slots appended one by one, with jumps to labels and forwarding. */
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ferry.h>

#define SLOT_ALIGN 64
#define FIRST_ROOM 16
#define FEW_SLOTS 64 /* copied without an allocation */
#define END_OFFSET (-1)

/* A slot jumps after three kinds of result. */
enum outcome { FAIL, ZERO, POS, OUTCOMES };

#define NOT_YET (-1)
#define NO_JUMP (-1L)

struct label {
	const char *name;
	int place;    /* index of the slot it stands before, or NOT_YET */
	long waiting; /* the first jump that waits for it, or NO_JUMP */
	char text[];  /* what name points to */
};

/* Jump number `slot * OUTCOMES + outcome` of a program. */
struct jump {
	struct label *label; /* the label it waits for, or NULL */
	long next;	     /* the next jump waiting for that label, or NO_JUMP */
};

struct ferry_program {
	struct batch_slot *slots;
	struct jump *jumps; /* OUTCOMES for each of the slots there is room for */
	int length;
	int room;
	unsigned long waiting; /* how many jumps wait for a label */
	void *labels;	       /* struct label by name: the tree of tsearch(3) */
	struct parameter *parameters;
	size_t parameter_count;
};

/* An argument that ferry_run_with() replaces. */
struct parameter {
	int slot;
	unsigned int arg, index;
};

/* ---- labels ---- */

static int compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

static struct label *find_label(const struct ferry_program *program, const char *name)
{
	const struct label key = { .name = name };
	struct label *const *found = tfind(&key, &program->labels, compare_labels);

	return found ? *found : NULL;
}

static struct label *add_label(struct ferry_program *program, const char *name)
{
	size_t size = strlen(name) + 1;
	struct label *label = malloc(sizeof(*label) + size);

	if (!label)
		return NULL;
	*label = (struct label){ .name = label->text, .place = NOT_YET, .waiting = NO_JUMP };
	memcpy(label->text, name, size);
	if (!tsearch(label, &program->labels, compare_labels)) {
		free(label);
		return NULL;
	}
	return label;
}

/* As everywhere in the library, malloc() does not change the caller's errno. */
static struct label *find_or_add_label(struct ferry_program *program, const char *name)
{
	struct label *label = find_label(program, name);
	int saved_errno = errno;

	if (label)
		return label;
	label = add_label(program, name);
	errno = saved_errno;
	return label;
}

static bool is_end(const char *name)
{
	return !strcmp(name, FERRY_END);
}

static bool is_empty(const char *name)
{
	return !name || !*name;
}

/* ---- jumps ---- */

static void set_offset(struct ferry_program *program, long jump, short offset)
{
	struct batch_slot *slot = &program->slots[jump / OUTCOMES];

	switch (jump % OUTCOMES) {
	case FAIL:
		slot->jump_fail = offset;
		break;
	case ZERO:
		slot->jump_zero = offset;
		break;
	default:
		slot->jump_pos = offset;
	}
}

/* The offset that leads from SLOT to PLACE, which lies ahead: over SHRT_MAX when it is too far. */
static int offset_to(int slot, int place)
{
	return place - slot - 1;
}

static void stop_waiting(struct ferry_program *program, long jump)
{
	struct jump *waiting = &program->jumps[jump];
	long *link;

	if (!waiting->label)
		return;
	link = &waiting->label->waiting;
	while (*link != jump)
		link = &program->jumps[*link].next;
	*link = waiting->next;
	waiting->label = NULL;
	program->waiting--;
}

static void start_waiting(struct ferry_program *program, long jump, struct label *label)
{
	program->jumps[jump] = (struct jump){ .label = label, .next = label->waiting };
	label->waiting = jump;
	program->waiting++;
}

/* Replaces the jumps of SLOT after WHEN: by a wait for LABEL, or by OFFSET when it is NULL. */
static void replace_jumps(struct ferry_program *program, int slot, unsigned int when,
			  struct label *label, short offset)
{
	long first = (long)slot * OUTCOMES;
	int outcome;

	for (outcome = FAIL; outcome < OUTCOMES; outcome++) {
		if (!(when & 1U << outcome))
			continue;
		stop_waiting(program, first + outcome);
		if (label)
			start_waiting(program, first + outcome, label);
		else
			set_offset(program, first + outcome, offset);
	}
}

int ferry_jump_to(struct ferry_program *program, int slot, unsigned int when, const char *name)
{
	struct label *label;
	int offset;

	if (slot < 0 || slot >= program->length || !when || when & ~FERRY_ALWAYS || is_empty(name))
		return -EINVAL;
	if (is_end(name)) {
		replace_jumps(program, slot, when, NULL, END_OFFSET);
		return 0;
	}
	label = find_or_add_label(program, name);
	if (!label)
		return -ENOMEM;
	if (label->place == NOT_YET) {
		replace_jumps(program, slot, when, label, 0);
		return 0;
	}
	if (label->place <= slot)
		return -EINVAL;
	offset = offset_to(slot, label->place);
	if (offset > SHRT_MAX)
		return -ERANGE;
	replace_jumps(program, slot, when, NULL, (short)offset);
	return 0;
}

int ferry_label(struct ferry_program *program, const char *name)
{
	int place = program->length;
	struct label *label;
	long jump;

	if (is_empty(name) || is_end(name))
		return -EINVAL;
	label = find_or_add_label(program, name);
	if (!label)
		return -ENOMEM;
	if (label->place != NOT_YET)
		return -EEXIST;
	for (jump = label->waiting; jump != NO_JUMP; jump = program->jumps[jump].next)
		if (offset_to((int)(jump / OUTCOMES), place) > SHRT_MAX)
			return -ERANGE;
	while (label->waiting != NO_JUMP) {
		jump = label->waiting;
		stop_waiting(program, jump);
		set_offset(program, jump, (short)offset_to((int)(jump / OUTCOMES), place));
	}
	label->place = place;
	return 0;
}

const char *ferry_program_missing_label(const struct ferry_program *program)
{
	long jump = 0;

	if (!program->waiting)
		return NULL;
	while (!program->jumps[jump].label)
		jump++;
	return program->jumps[jump].label->name;
}

/* ---- slots ---- */

/* Makes room for ROOM slots, more than there is. */
static int grow(struct ferry_program *program, int room)
{
	size_t jumps = (size_t)program->room * OUTCOMES;
	size_t more_jumps = (size_t)room * OUTCOMES;
	struct batch_slot *slots;
	struct jump *grown;

	grown = realloc(program->jumps, more_jumps * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + jumps, 0, (more_jumps - jumps) * sizeof(*grown));
	program->jumps = grown;
	slots = aligned_alloc(SLOT_ALIGN, (size_t)room * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (program->length)
		memcpy(slots, program->slots, (size_t)program->length * sizeof(*slots));
	free(program->slots);
	program->slots = slots;
	program->room = room;
	return 0;
}

static int make_room(struct ferry_program *program)
{
	int saved_errno = errno;
	int error;

	if (program->length < program->room)
		return 0;
	if (program->room == INT_MAX)
		return -ENOMEM;
	error = grow(program, program->room > INT_MAX / 2 ? INT_MAX : program->room * 2);
	errno = saved_errno;
	return error;
}

struct ferry_program *ferry_program_new(void)
{
	int saved_errno = errno;
	struct ferry_program *program = calloc(1, sizeof(*program));

	if (program && grow(program, FIRST_ROOM)) {
		ferry_program_free(program);
		program = NULL;
	}
	errno = saved_errno;
	return program;
}

void ferry_program_free(struct ferry_program *program)
{
	if (!program)
		return;
	tdestroy(program->labels, free);
	free(program->slots);
	free(program->jumps);
	free(program->parameters);
	free(program);
}

int ferry_add(struct ferry_program *program, long nr, const long args[], unsigned int argc)
{
	struct batch_slot *slot;

	if (nr < SHRT_MIN || nr > SHRT_MAX || argc > BATCH_MAX_ARGS)
		return -EINVAL;
	if (make_room(program))
		return -ENOMEM;
	slot = &program->slots[program->length];
	*slot = (struct batch_slot){ .nr = (short)nr, .argc = (unsigned char)argc };
	if (argc)
		memcpy(slot->arg, args, argc * sizeof(*args));
	return program->length++;
}

int ferry_copy(struct ferry_program *program, long *dst, const long *src)
{
	return ferry_call(program, BATCH_WDCPY, dst, src);
}

int ferry_goto(struct ferry_program *program, const char *name)
{
	struct label *label = NULL;
	int slot;

	if (is_empty(name))
		return -EINVAL;
	if (!is_end(name)) {
		label = find_or_add_label(program, name);
		if (!label)
			return -ENOMEM;
		if (label->place != NOT_YET)
			return -EINVAL;
	}
	slot = ferry_call(program, FERRY_NR_GOTO);
	if (slot >= 0)
		replace_jumps(program, slot, FERRY_ON_FAIL, label, END_OFFSET);
	return slot;
}

int ferry_forward(struct ferry_program *program, int slot, unsigned int arg, int from)
{
	struct batch_slot *to;

	if (slot < 0 || slot >= program->length || from < 0 || from >= slot)
		return -EINVAL;
	to = &program->slots[slot];
	if (arg >= BATCH_MAX_ARGS || arg >= (to->argc & ~BATCH_ARGC_FORWARD))
		return -EINVAL;
	if (slot - from > UCHAR_MAX)
		return -ERANGE;
	to->argc |= BATCH_ARGC_FORWARD;
	to->from[arg] = (unsigned char)(slot - from);
	return 0;
}

unsigned long ferry_program_length(const struct ferry_program *program)
{
	return (unsigned long)program->length;
}

struct batch_slot *ferry_program_slots(struct ferry_program *program)
{
	return program->waiting ? NULL : program->slots;
}

long ferry_run(const struct ferry_program *program, long rets[])
{
	if (program->waiting)
		return -EINVAL;
	return ferry_batch(rets, program->slots, ferry_program_length(program), 0,
			   sizeof(struct batch_slot));
}

/* ---- parameters ---- */

static bool is_forwarded(const struct batch_slot *slot, unsigned int arg)
{
	return slot->argc & BATCH_ARGC_FORWARD && slot->from[arg];
}

int ferry_parameter(struct ferry_program *program, int slot, unsigned int arg, unsigned int index)
{
	const size_t count = program->parameter_count;
	struct parameter *more;
	int saved_errno = errno;

	if (slot < 0 || slot >= program->length || arg >= BATCH_MAX_ARGS ||
	    arg >= (program->slots[slot].argc & ~BATCH_ARGC_FORWARD) ||
	    is_forwarded(&program->slots[slot], arg))
		return -EINVAL;
	more = realloc(program->parameters, (count + 1) * sizeof(*more));
	errno = saved_errno;
	if (!more)
		return -ENOMEM;
	more[count] = (struct parameter){ slot, arg, index };
	program->parameters = more;
	program->parameter_count++;
	return 0;
}

static bool all_have_values(const struct ferry_program *program, size_t count)
{
	size_t i;

	for (i = 0; i < program->parameter_count; i++)
		if (program->parameters[i].index >= count)
			return false;
	return true;
}

static long run_copy(const struct ferry_program *program, struct batch_slot slots[],
		     const long values[], long rets[])
{
	size_t i;

	memcpy(slots, program->slots, (size_t)program->length * sizeof(*slots));
	for (i = 0; i < program->parameter_count; i++) {
		const struct parameter *parameter = &program->parameters[i];

		slots[parameter->slot].arg[parameter->arg] = values[parameter->index];
	}
	return ferry_batch(rets, slots, ferry_program_length(program), 0, sizeof(*slots));
}

long ferry_run_with(const struct ferry_program *program, const long values[], size_t count,
		    long rets[])
{
	struct batch_slot few[FEW_SLOTS] __attribute__((aligned(SLOT_ALIGN)));
	struct batch_slot *slots;
	int saved_errno = errno;
	long answer;

	if (program->waiting || !all_have_values(program, count))
		return -EINVAL;
	if (program->length <= FEW_SLOTS)
		return run_copy(program, few, values, rets);
	slots = aligned_alloc(SLOT_ALIGN, (size_t)program->length * sizeof(*slots));
	errno = saved_errno;
	if (!slots)
		return -ENOMEM;
	answer = run_copy(program, slots, values, rets);
	free(slots);
	return answer;
}
