// SPDX-License-Identifier: MIT
/* A program being assembled: values set at once or left to wait. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "assembly.h"
#include "evaluate.h"

#define NAME_SHOWN_MAX 50

int shown_length(struct span name)
{
	return name.length < NAME_SHOWN_MAX ? (int)name.length : NAME_SHOWN_MAX;
}

int assembly_start(struct assembly *assembly, struct text_error *error)
{
	*assembly = (struct assembly){ .error = error };
	assembly->image = calloc(1, sizeof(*assembly->image));
	return assembly->image ? 0 : -ENOMEM;
}

void assembly_free(struct assembly *assembly)
{
	free(assembly->label_places);
	free(assembly->data_sources);
	free(assembly->ops);
	free(assembly->words);
	free(assembly->sizes);
	free(assembly->forwards);
	free(assembly->jumps);
	name_index_free(&assembly->labels);
	name_index_free(&assembly->data);
}

short *slot_jump(struct ferry_slot *slot, enum jump jump)
{
	if (jump == JUMP_FAIL)
		return &slot->jump_fail;
	return jump == JUMP_ZERO ? &slot->jump_zero : &slot->jump_pos;
}

int assembly_set_known_word(struct assembly *assembly, struct word_place place,
			    const struct expression *expression)
{
	struct image *image = assembly->image;
	struct relocation *relocation;
	struct value value;
	uint64_t word;
	int error = evaluate(assembly, expression, &value);

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
		return assembly_set_known_word(assembly, place, expression);
	}
	waiting = array_add(assembly->words, assembly->word_count);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting_word){ place, *expression };
	return 0;
}

int assembly_set_known_size(struct assembly *assembly, uint32_t data,
			    const struct expression *expression)
{
	struct value value;
	int error = evaluate(assembly, expression, &value);

	if (error)
		return error;
	if (value.base || value.number < 0 || value.number > (wide)IMAGE_DATA_MAX)
		return text_fail(assembly->error, expression->where,
				 "the size of a buffer is a number from 0 to %lu", IMAGE_DATA_MAX);
	assembly->image->data[data].size = (uint64_t)value.number;
	assembly->data_sources[data].sized = true;
	return 0;
}

int assembly_set_size(struct assembly *assembly, uint32_t data, const struct expression *expression)
{
	struct waiting_size *waiting;

	if (!expression->symbolic) {
		assembly->op_count = expression->first;
		return assembly_set_known_size(assembly, data, expression);
	}
	waiting = array_add(assembly->sizes, assembly->size_count);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting_size){ data, *expression };
	return 0;
}
