// SPDX-License-Identifier: MIT
#include "script.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <ferry.h>

#include "common/memory.h"
#include "names.h"
#include "shapes.h"

#define CALLS_PER_RUN 16
#define NOTHING "/dev/null" /* in place of a pipe, a socket or a terminal */

/* What has been made of the turn so far. */
struct writer {
	struct script *script;
	long results[SCRIPT_SLOTS]; /* of the slots, as they were traced */
	char kinds[SCRIPT_SLOTS];   /* of these results */
};

static struct operand number(long value)
{
	return (struct operand){ .type = OPERAND_NUMBER, .number = value };
}

static struct operand forward(size_t slot)
{
	return (struct operand){ .type = OPERAND_FORWARD, .number = (long)slot };
}

/* ---- data ---- */

static struct operand add_data(struct script *script, const char *text, unsigned long address,
			       size_t size)
{
	script->data[script->data_count] = (struct script_data){ text, address, size };
	return (struct operand){ .type = OPERAND_DATA, .number = (long)script->data_count++ };
}

static struct operand string(struct script *script, const char *text)
{
	size_t i;

	for (i = 0; i < script->data_count; i++)
		if (script->data[i].text && !strcmp(script->data[i].text, text))
			return (struct operand){ .type = OPERAND_DATA, .number = (long)i };
	return add_data(script, text, 0, strlen(text) + 1);
}

/* The same memory of the program is the same data, which grows to the largest use. */
static struct operand buffer(struct script *script, unsigned long address, size_t size)
{
	size_t i;

	for (i = 0; i < script->data_count; i++) {
		struct script_data *data = &script->data[i];

		if (data->text || address < data->address || address - data->address >= data->size)
			continue;
		if (address - data->address + size > data->size)
			data->size = address - data->address + size;
		return (struct operand){ OPERAND_DATA, (long)i, (long)(address - data->address) };
	}
	return add_data(script, NULL, address, size);
}

/* ---- slots ---- */

static struct script_slot *add_slot(struct writer *writer, long result, char kind)
{
	struct script *script = writer->script;

	writer->results[script->slot_count] = result;
	writer->kinds[script->slot_count] = kind;
	return &script->slots[script->slot_count++];
}

/* The last slot with this result, or -1. */
static long slot_with(const struct writer *writer, char kind, long value)
{
	long i;

	for (i = (long)writer->script->slot_count - 1; i >= 0; i--)
		if (writer->kinds[i] == kind && writer->results[i] == value)
			break;
	return i;
}

/* A descriptor from before the turn is opened first, to read only, so that nothing is overwritten.
 */
static void open_file(struct writer *writer, long descriptor, const char *file)
{
	struct script_slot *slot = add_slot(writer, descriptor, 'd');

	*slot = (struct script_slot){ .name = "openat", .argc = 3, .ends_if_failed = true };
	slot->args[0] = number(AT_FDCWD);
	slot->args[1] =
		string(writer->script, file && *file == '/' && !is_device(file) ? file : NOTHING);
	slot->args[2] = number(O_RDONLY | O_CLOEXEC);
}

static bool is_outside(const struct writer *writer, long descriptor)
{
	return descriptor >= 0 && descriptor != 1 && descriptor != 2 &&
	       slot_with(writer, 'd', descriptor) < 0;
}

static struct operand descriptor(const struct writer *writer, long value)
{
	const long slot = slot_with(writer, 'd', value);

	return slot >= 0 ? forward((size_t)slot) : number(value);
}

/* ---- one call ---- */

static struct operand operand_of(struct writer *writer, const struct traced_call *call, int k,
				 int *paths)
{
	const struct call *shape = shape_of(call->nr);
	const long value = (long)call->args[k];
	unsigned long size;
	const char *path;
	long from;

	switch (kind_of(shape, k)) {
	case 'd':
		return descriptor(writer, (int)value);
	case 'p':
		path = *paths < CALL_PATHS ? call->paths[(*paths)++] : NULL;
		return path ? string(writer->script, path) : number(0);
	case 'l':
		from = slot_with(writer, 'l', value);
		return from >= 0 && value && kind_of(shape, k - 1) == 'w' ? forward((size_t)from) :
									    number(value);
	case 'a':
		from = slot_with(writer, 'a', value);
		return from >= 0 ? forward((size_t)from) : number(value);
	case 'r':
	case 'w':
	case 's':
	case 'x':
		size = call_argument_size(shape, k, call->args);
		return value ? buffer(writer->script, (unsigned long)value, size ? size : 4096) :
			       number(0);
	default:
		return number(value);
	}
}

/* What would harm the one who runs it, or wait for ever. */
static const char *why_left_out(const struct writer *writer, const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);
	int k;

	if (ferry_blocked_reason(call->nr))
		return ferry_blocked_reason(call->nr);
	if (!shape)
		return "the meaning of its arguments is not known";
	if (waits_for_others(call))
		return "it may block";
	if (shape->acts_on_others || shape->who == CHANGES_RIGHTS)
		return "it may change more than this process";
	for (k = 0; kind_of(shape, k); k++) {
		if (kind_of(shape, k) == 't' && call->args[k])
			return "the structure that it reads was not recorded";
		if (kind_of(shape, k) == 'a' && call->args[k] &&
		    slot_with(writer, 'a', (long)call->args[k]) < 0)
			return "it works on the memory of the program that was traced";
	}
	return NOT_LEFT_OUT;
}

static void write_call(struct writer *writer, const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);
	struct script_slot slot = { .left_out = why_left_out(writer, call),
				    .name = name_of_call(call->nr) };
	int k, paths = 0;

	for (k = 0; !slot.left_out && kind_of(shape, k); k++)
		slot.args[slot.argc++] = operand_of(writer, call, k, &paths);
	slot.ends_if_failed = !slot.left_out && call->result >= 0 && shape->result == 'd';
	*add_slot(writer, call->result, slot.left_out ? 0 : shape->result) = slot;
}

/* Descriptors that the turn did not open itself. */
static void open_files(struct writer *writer, const struct traced_call *const calls[], size_t count)
{
	size_t i, before;

	for (i = 0; i < count; i++) {
		const struct call *shape = shape_of(calls[i]->nr);
		const int k = first_argument(shape, "d");
		const long value = k < 0 ? -1 : (int)calls[i]->args[k];

		for (before = 0; before < i; before++)
			if (shape_of(calls[before]->nr) && calls[before]->result == value &&
			    shape_of(calls[before]->nr)->result == 'd')
				break;
		if (before == i && is_outside(writer, value) &&
		    writer->script->slot_count < SCRIPT_SLOTS / 2)
			open_file(writer, value, calls[i]->file);
	}
}

static size_t calls_of_turn(const struct sequences *sequences, const struct sequence *sequence,
			    const struct traced_call *calls[])
{
	const struct place place = sequence->places[sequence->count / 2];
	size_t count = 0, step;
	int n;

	for (step = 0; step < sequence->length; step++)
		for (n = 0; n < sequence_run(sequences, place, step)->count && n < CALLS_PER_RUN &&
			    count < SCRIPT_SLOTS / 2;
		     n++)
			calls[count++] = sequence_call(sequences, place, step, n);
	return count;
}

const struct script *script_of(const char *program, const struct sequences *sequences, size_t index)
{
	const struct traced_call *calls[SCRIPT_SLOTS / 2];
	struct writer writer = { .script = keep(1, sizeof(struct script)) };
	const size_t count = calls_of_turn(sequences, &sequences->of[index], calls);
	size_t i;

	writer.script->program = program;
	writer.script->sequence = index + 1;
	open_files(&writer, calls, count);
	for (i = 0; i < count; i++)
		write_call(&writer, calls[i]);
	return writer.script;
}
