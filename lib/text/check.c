// SPDX-License-Identifier: MIT
/* What is probably wrong with the arguments of a call, as far as its text shows. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calls/calls.h"
#include "image.h"

__attribute__((format(printf, 2, 3))) static void warn(struct slot_warnings *warnings,
						       const char *format, ...)
{
	char *reason = warnings->reason[warnings->count++];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(*warnings->reason), format, arguments);
	va_end(arguments);
}

static unsigned int argument_count(const struct batch_slot *slot)
{
	return slot->argc & ~(unsigned int)BATCH_ARGC_FORWARD;
}

static const char *plural(unsigned int count)
{
	return count == 1 ? "" : "s";
}

static void check_count(const struct call *call, const struct batch_slot *slot,
			struct slot_warnings *warnings)
{
	unsigned int count = argument_count(slot);

	if (count > BATCH_MAX_ARGS)
		return; /* an error of the batch, which ferry_check() reports */
	if (count > call->most)
		warn(warnings, "%s takes %d argument%s, not %u", call->name, call->most,
		     plural(call->most), count);
	else if (count < call->least)
		warn(warnings, "%s takes %s%d argument%s, not %u; those left out are 0", call->name,
		     call->least < call->most ? "at least " : "", call->least, plural(call->least),
		     count);
}

/* Whether some word copy may change argument K of slot INDEX before the slot runs. */
static bool may_be_copied_to(const struct image *image, unsigned long index, unsigned int k)
{
	uint64_t argument = index * sizeof(struct batch_slot) + offsetof(struct batch_slot, arg) +
			    k * sizeof(long);
	uint64_t word;
	size_t i;

	for (i = 0; i < image->relocation_count; i++) {
		if (image->relocations[i].base != BASE_SLOTS)
			continue;
		memcpy(&word, image_word(image, image->relocations[i].place), sizeof(word));
		if (word == argument)
			return true;
	}
	return false;
}

/* Whether argument K of slot INDEX is the word in the text, and not a forwarded result. */
static bool is_written(const struct batch_slot *slot, unsigned int k)
{
	bool forwarded = slot->argc & BATCH_ARGC_FORWARD && slot->from[k];

	return k < argument_count(slot) && !forwarded;
}

/* The room for the buffer BUFFER of slot INDEX, whose length is in its argument LENGTH. */
static void check_length(const struct image *image, unsigned long index, unsigned int buffer,
			 unsigned int length_arg, struct slot_warnings *warnings)
{
	const struct batch_slot *slot = &image->slots[index];
	struct word_place place = { HOLDER_SLOT, (uint32_t)index, buffer };
	const struct relocation *address = image_relocation(image, place);
	unsigned long length = (unsigned long)slot->arg[length_arg];
	long offset = slot->arg[buffer];
	const struct data *data;
	unsigned long room;

	place.word = length_arg;
	if (!is_written(slot, buffer) || !is_written(slot, length_arg) || !address ||
	    address->base != BASE_DATA || offset < 0 || image_relocation(image, place))
		return;
	data = &image->data[address->object];
	room = (unsigned long)offset < data->size ? data->size - (unsigned long)offset : 0;
	if (length <= room || may_be_copied_to(image, index, buffer) ||
	    may_be_copied_to(image, index, length_arg))
		return;
	if (offset)
		warn(warnings, "the length is %lu, but only %lu bytes are left at %.50s+%ld",
		     length, room, data->name, offset);
	else
		warn(warnings, "the length is %lu, but %.50s has only %lu bytes", length,
		     data->name, room);
}

void image_check_slot(const struct image *image, unsigned long slot, struct slot_warnings *warnings)
{
	const struct call *call = known_call(image->slots[slot].nr);
	unsigned int k;

	warnings->count = 0;
	if (!call)
		return;
	check_count(call, &image->slots[slot], warnings);
	for (k = 0; k < call->most && warnings->count < SLOT_WARNINGS_MAX; k++)
		if (call->args[k].size == 1)
			check_length(image, slot, k, (unsigned int)call->args[k].length, warnings);
}
