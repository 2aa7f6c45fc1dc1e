// SPDX-License-Identifier: MIT
/* Finding labels and data by their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "symbols.h"

/* ---- the index ---- */

static int compare(const void *a, const void *b)
{
	const struct indexed_name *left = a;
	const struct indexed_name *right = b;
	int order = strcmp(left->name, right->name);

	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static int allocate(struct name_index *index, size_t count)
{
	index->names = calloc(count ? count : 1, sizeof(*index->names));
	index->count = count;
	return index->names ? 0 : -ENOMEM;
}

static void sort(struct name_index *index)
{
	qsort(index->names, index->count, sizeof(*index->names), compare);
}

static int index_labels(struct name_index *index, const struct image *image)
{
	uint32_t i;

	if (allocate(index, image->label_count))
		return -ENOMEM;
	for (i = 0; i < image->label_count; i++)
		index->names[i] = (struct indexed_name){ image->labels[i].name, i };
	sort(index);
	return 0;
}

static int index_data(struct name_index *index, const struct image *image)
{
	uint32_t i;

	if (allocate(index, image->data_count))
		return -ENOMEM;
	for (i = 0; i < image->data_count; i++)
		index->names[i] = (struct indexed_name){ image->data[i].name, i };
	sort(index);
	return 0;
}

/* The first entry from *I on with the name of the one before it, or NULL. */
static const struct indexed_name *next_duplicate(const struct name_index *index, size_t *i)
{
	for (; *i < index->count; ++*i)
		if (!strcmp(index->names[*i - 1].name, index->names[*i].name))
			return &index->names[(*i)++];
	return NULL;
}

static int check_labels(const struct symbols *symbols)
{
	const struct place *places = symbols->label_places;
	const struct indexed_name *again;
	size_t i = 1;
	int error = 0;

	while ((again = next_duplicate(&symbols->labels, &i)))
		error = text_fail(symbols->errors, places[again->number],
				  "duplicate label %.50s; line %u has it already", again->name,
				  places[again[-1].number].line);
	return error;
}

static int check_data(const struct symbols *symbols)
{
	const struct data_source *sources = symbols->data_sources;
	const struct indexed_name *again;
	size_t i = 1;
	int error = 0;

	while ((again = next_duplicate(&symbols->data, &i)))
		error = text_fail(symbols->errors, sources[again->number].where,
				  "duplicate data %.50s; line %u has it already", again->name,
				  sources[again[-1].number].where.line);
	return error;
}

int symbols_index(struct symbols *symbols)
{
	int labels, data;

	if (index_labels(&symbols->labels, symbols->image) ||
	    index_data(&symbols->data, symbols->image))
		return -ENOMEM;
	labels = check_labels(symbols);
	data = check_data(symbols);
	return labels ? labels : data;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->label_places);
	free(symbols->data_sources);
	free(symbols->labels.names);
	free(symbols->data.names);
}

/* ---- finding ---- */

static int compare_span(const void *key, const void *element)
{
	const struct span *span = key;
	const struct indexed_name *indexed = element;
	int order = strncmp(span->start, indexed->name, span->length);

	return order ? order : -(indexed->name[span->length] != '\0');
}

static uint32_t find(const struct name_index *index, struct span name)
{
	const struct indexed_name *found =
		bsearch(&name, index->names, index->count, sizeof(*index->names), compare_span);

	return found ? found->number : NOT_FOUND;
}

uint32_t symbols_find_label(const struct symbols *symbols, struct span name)
{
	return find(&symbols->labels, name);
}

uint32_t symbols_find_data(const struct symbols *symbols, struct span name)
{
	return find(&symbols->data, name);
}

int symbols_find_slot(const struct symbols *symbols, const struct slot_name *name, uint32_t *slot)
{
	size_t count = symbols->image->slot_count;
	uint32_t label;

	if (!name->label.length) {
		*slot = (uint32_t)name->number;
		if (name->number < count)
			return 0;
		return text_fail(symbols->errors, name->where,
				 "there is no slot %lu; the program has %zu, counted from 0",
				 (unsigned long)name->number, count);
	}
	label = symbols_find_label(symbols, name->label);
	if (label == NOT_FOUND) {
		symbols_complain_label(symbols, name->label, name->where);
		return -EINVAL;
	}
	*slot = symbols->image->labels[label].slot;
	if (*slot < count)
		return 0;
	return text_fail(symbols->errors, name->where,
			 "no slot follows label %.*s, so it has no result",
			 shown_length(name->label), name->label.start);
}

/* ---- names that are not there ---- */

static void offer(struct spelling *spelling, const struct name_index *index)
{
	size_t i;

	for (i = 0; i < index->count; i++)
		spelling_offer(spelling, index->names[i].name);
}

void symbols_complain_label(const struct symbols *symbols, struct span name, struct place where)
{
	struct spelling spelling;

	spelling_start(&spelling, name);
	offer(&spelling, &symbols->labels);
	text_complain(symbols->errors, where, "undefined label %.*s%s", shown_length(name),
		      name.start, spelling.hint);
}

void symbols_complain_data(const struct symbols *symbols, struct span name, struct place where)
{
	struct spelling spelling;

	spelling_start(&spelling, name);
	offer(&spelling, &symbols->data);
	text_complain(symbols->errors, where, "unknown data %.*s%s", shown_length(name), name.start,
		      spelling.hint);
}

void symbols_complain_value(const struct symbols *symbols, struct span name, struct place where)
{
	struct spelling spelling;
	int shown = shown_length(name);

	if (symbols_find_label(symbols, name) != NOT_FOUND) {
		text_complain(symbols->errors, where,
			      "%.*s is a label; write &%.*s for the address of its result or "
			      "$%.*s to forward it",
			      shown, name.start, shown, name.start, shown, name.start);
		return;
	}
	spelling_start(&spelling, name);
	offer(&spelling, &symbols->data);
	spelling_offer_constants(&spelling);
	text_complain(symbols->errors, where, "unknown constant %.*s%s", shown, name.start,
		      spelling.hint);
}
