// SPDX-License-Identifier: MIT
/* A program being assembled: values are filled in at once, or when all names are known. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "assembly.h"

int assembly_start(struct assembly *assembly, struct text_errors *errors)
{
	*assembly = (struct assembly){ .errors = errors };
	assembly->image = calloc(1, sizeof(*assembly->image));
	assembly->symbols.image = assembly->image;
	assembly->symbols.errors = errors;
	return assembly->image ? 0 : -ENOMEM;
}

void assembly_free(struct assembly *assembly)
{
	symbols_free(&assembly->symbols);
	free(assembly->ops);
	free(assembly->words);
	free(assembly->sizes);
	free(assembly->forwards);
	free(assembly->jumps);
}

short *slot_jump(struct batch_slot *slot, enum jump jump)
{
	if (jump == JUMP_FAIL)
		return &slot->jump_fail;
	return jump == JUMP_ZERO ? &slot->jump_zero : &slot->jump_pos;
}

/* ---- words ---- */

static int set_known_word(struct assembly *assembly, struct word_place place,
			  const struct expression *expression)
{
	struct image *image = assembly->image;
	struct relocation *relocation;
	struct value value;
	uint64_t word;
	int error = evaluate(&assembly->symbols, assembly->ops, expression, &value);

	if (error)
		return error;
	word = (uint64_t)value.number;
	memcpy(image_word(image, place), &word, sizeof(word));
	if (!value.base)
		return 0;
	relocation = array_add(image->relocations, image->relocation_count);
	if (!relocation)
		return -ENOMEM;
	*relocation = (struct relocation){ place, value.base, value.object };
	return 0;
}

int assembly_set_word(struct assembly *assembly, struct word_place place,
		      const struct expression *expression)
{
	struct waiting_word *waiting;

	if (!expression->symbolic) {
		assembly->op_count = expression->first;
		return set_known_word(assembly, place, expression);
	}
	waiting = array_add(assembly->words, assembly->word_count);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting_word){ place, *expression };
	return 0;
}

static int resolve_words(struct assembly *assembly)
{
	size_t i;

	for (i = 0; i < assembly->word_count && !assembly->errors->more; i++) {
		const struct waiting_word *waiting = &assembly->words[i];

		if (set_known_word(assembly, waiting->place, &waiting->expression) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* ---- sizes of buffers ---- */

static int set_known_size(struct assembly *assembly, uint32_t data,
			  const struct expression *expression)
{
	struct value value;
	int error = evaluate(&assembly->symbols, assembly->ops, expression, &value);

	/* Known from here on even if it is wrong: one mistake is reported once. */
	assembly->symbols.data_sources[data].sized = true;
	if (error)
		return error;
	if (value.base || value.number < 0 || value.number > (wide)IMAGE_DATA_MAX)
		return text_fail(assembly->errors, expression->where,
				 "the size of a buffer is a number from 0 to %lu", IMAGE_DATA_MAX);
	assembly->image->data[data].size = (uint64_t)value.number;
	return 0;
}

int assembly_set_size(struct assembly *assembly, uint32_t data, const struct expression *expression)
{
	struct waiting_size *waiting;

	if (!expression->symbolic) {
		assembly->op_count = expression->first;
		return set_known_size(assembly, data, expression);
	}
	waiting = array_add(assembly->sizes, assembly->size_count);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting_size){ data, *expression };
	return 0;
}

static void resolve_sizes(struct assembly *assembly)
{
	size_t i;

	for (i = 0; i < assembly->size_count && !assembly->errors->more; i++)
		set_known_size(assembly, assembly->sizes[i].data, &assembly->sizes[i].expression);
}

static void check_total_size(const struct assembly *assembly)
{
	const struct image *image = assembly->image;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < image->data_count; i++) {
		total += image->data[i].size;
		if (total > IMAGE_DATA_MAX) {
			text_complain(assembly->errors, assembly->symbols.data_sources[i].where,
				      "the data is larger than 1 GiB with %.50s",
				      image->data[i].name);
			return;
		}
	}
}

/* ---- forwards and jumps ---- */

static void resolve_forward(struct assembly *assembly, const struct waiting_forward *waiting)
{
	struct batch_slot *slot = &assembly->image->slots[waiting->slot];
	struct place where = waiting->from.where;
	uint32_t from;

	if (symbols_find_slot(&assembly->symbols, &waiting->from, &from))
		return;
	if (from >= waiting->slot)
		text_complain(assembly->errors, where,
			      "forward from the future: slot %u has no result before slot %u", from,
			      waiting->slot);
	else if (waiting->slot - from > UCHAR_MAX)
		text_complain(assembly->errors, where,
			      "forward over %u slots; %d is the most, a copy reaches further",
			      waiting->slot - from, UCHAR_MAX);
	else
		slot->from[waiting->argument] = (unsigned char)(waiting->slot - from);
}

static void resolve_jump(struct assembly *assembly, const struct waiting_jump *waiting)
{
	uint32_t label = symbols_find_label(&assembly->symbols, waiting->label);
	struct span name = waiting->label;
	uint32_t target;

	if (label == NOT_FOUND) {
		symbols_complain_label(&assembly->symbols, name, waiting->where);
		return;
	}
	target = assembly->image->labels[label].slot;
	if (target <= waiting->slot)
		text_complain(assembly->errors, waiting->where,
			      "backward jump: label %.*s does not lie ahead of slot %u",
			      shown_length(name), name.start, waiting->slot);
	else if (target - waiting->slot - 1 > SHRT_MAX)
		text_complain(assembly->errors, waiting->where,
			      "jump over %u slots to %.*s; %d is the most",
			      target - waiting->slot - 1, shown_length(name), name.start, SHRT_MAX);
	else
		*slot_jump(&assembly->image->slots[waiting->slot], waiting->jump) =
			(short)(target - waiting->slot - 1);
}

/* ---- everything that waits ---- */

static int compare_relocations(const void *a, const void *b)
{
	const struct relocation *left = a;
	const struct relocation *right = b;

	return word_place_compare(left->place, right->place);
}

int assembly_resolve(struct assembly *assembly)
{
	struct image *image = assembly->image;
	size_t i;

	if (symbols_index(&assembly->symbols) == -ENOMEM)
		return -ENOMEM;
	resolve_sizes(assembly);
	check_total_size(assembly);
	if (resolve_words(assembly))
		return -ENOMEM;
	for (i = 0; i < assembly->forward_count && !assembly->errors->more; i++)
		resolve_forward(assembly, &assembly->forwards[i]);
	for (i = 0; i < assembly->jump_count && !assembly->errors->more; i++)
		resolve_jump(assembly, &assembly->jumps[i]);
	if (image->relocation_count)
		qsort(image->relocations, image->relocation_count, sizeof(*image->relocations),
		      compare_relocations);
	return 0;
}
