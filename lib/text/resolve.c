// SPDX-License-Identifier: MIT
/* The end of assembling: names are known, and what waited for them is filled in. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "assembly.h"
#include "spelling.h"

static int fail_label(const struct assembly *assembly, struct span label, struct place where)
{
	struct spelling spelling;

	spelling_start(&spelling, label);
	spelling_offer_index(&spelling, &assembly->labels);
	return text_fail(assembly->error, where, "undefined label %.*s%s", shown_length(label),
			 label.start, spelling.hint);
}

int assembly_find_slot(const struct assembly *assembly, const struct slot_name *name,
		       uint32_t *slot)
{
	size_t count = assembly->image->slot_count;
	uint32_t label;

	if (!name->label.length) {
		*slot = (uint32_t)name->number;
		if (name->number < count)
			return 0;
		return text_fail(assembly->error, name->where,
				 "there is no slot %lu; the program has %zu, counted from 0",
				 (unsigned long)name->number, count);
	}
	label = name_index_find(&assembly->labels, name->label);
	if (label == NOT_FOUND)
		return fail_label(assembly, name->label, name->where);
	*slot = assembly->image->labels[label].slot;
	if (*slot < count)
		return 0;
	return text_fail(assembly->error, name->where,
			 "no slot follows label %.*s, so it has no result",
			 shown_length(name->label), name->label.start);
}

static int check_labels(const struct assembly *assembly)
{
	uint32_t first, second;

	if (!name_index_duplicate(&assembly->labels, &first, &second))
		return 0;
	return text_fail(assembly->error, assembly->label_places[second],
			 "duplicate label %.50s; line %u has it already",
			 assembly->image->labels[second].name, assembly->label_places[first].line);
}

static int check_data(const struct assembly *assembly)
{
	uint32_t first, second;

	if (!name_index_duplicate(&assembly->data, &first, &second))
		return 0;
	return text_fail(assembly->error, assembly->data_sources[second].where,
			 "duplicate data %.50s; line %u has it already",
			 assembly->image->data[second].name,
			 assembly->data_sources[first].where.line);
}

static int resolve_sizes(struct assembly *assembly)
{
	const struct image *image = assembly->image;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < assembly->size_count; i++) {
		const struct waiting_size *waiting = &assembly->sizes[i];
		int error = assembly_set_known_size(assembly, waiting->data, &waiting->expression);

		if (error)
			return error;
	}
	for (i = 0; i < image->data_count; i++) {
		total += image->data[i].size;
		if (total > IMAGE_DATA_MAX)
			return text_fail(assembly->error, assembly->data_sources[i].where,
					 "the data is larger than 1 GiB with %.50s",
					 image->data[i].name);
	}
	return 0;
}

static int resolve_words(struct assembly *assembly)
{
	size_t i;

	for (i = 0; i < assembly->word_count; i++) {
		const struct waiting_word *waiting = &assembly->words[i];
		int error = assembly_set_known_word(assembly, waiting->place, &waiting->expression);

		if (error)
			return error;
	}
	return 0;
}

static int resolve_forward(struct assembly *assembly, const struct waiting_forward *waiting)
{
	struct ferry_slot *slot = &assembly->image->slots[waiting->slot];
	struct place where = waiting->from.where;
	uint32_t from;
	int error = assembly_find_slot(assembly, &waiting->from, &from);

	if (error)
		return error;
	if (from >= waiting->slot)
		return text_fail(assembly->error, where,
				 "forward from the future: slot %u has no result before slot %u",
				 from, waiting->slot);
	if (waiting->slot - from > UCHAR_MAX)
		return text_fail(assembly->error, where,
				 "forward over %u slots; %d is the most, a copy reaches further",
				 waiting->slot - from, UCHAR_MAX);
	slot->from[waiting->argument] = (unsigned char)(waiting->slot - from);
	return 0;
}

static int resolve_jump(struct assembly *assembly, const struct waiting_jump *waiting)
{
	uint32_t label = name_index_find(&assembly->labels, waiting->label);
	struct span name = waiting->label;
	uint32_t target;

	if (label == NOT_FOUND)
		return fail_label(assembly, name, waiting->where);
	target = assembly->image->labels[label].slot;
	if (target <= waiting->slot)
		return text_fail(assembly->error, waiting->where,
				 "backward jump: label %.*s does not lie ahead of slot %u",
				 shown_length(name), name.start, waiting->slot);
	if (target - waiting->slot - 1 > SHRT_MAX)
		return text_fail(assembly->error, waiting->where,
				 "jump over %u slots to %.*s; %d is the most",
				 target - waiting->slot - 1, shown_length(name), name.start,
				 SHRT_MAX);
	*slot_jump(&assembly->image->slots[waiting->slot], waiting->jump) =
		(short)(target - waiting->slot - 1);
	return 0;
}

static int compare_relocations(const void *a, const void *b)
{
	const struct relocation *left = a;
	const struct relocation *right = b;

	return word_place_compare(left->place, right->place);
}

int assembly_resolve(struct assembly *assembly)
{
	struct image *image = assembly->image;
	int error = name_index_labels(&assembly->labels, image);
	size_t i;

	error = error ? error : name_index_data(&assembly->data, image);
	error = error ? error : check_labels(assembly);
	error = error ? error : check_data(assembly);
	error = error ? error : resolve_sizes(assembly);
	error = error ? error : resolve_words(assembly);
	for (i = 0; !error && i < assembly->forward_count; i++)
		error = resolve_forward(assembly, &assembly->forwards[i]);
	for (i = 0; !error && i < assembly->jump_count; i++)
		error = resolve_jump(assembly, &assembly->jumps[i]);
	if (!error && image->relocation_count)
		qsort(image->relocations, image->relocation_count, sizeof(*image->relocations),
		      compare_relocations);
	return error;
}
