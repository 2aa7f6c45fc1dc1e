// SPDX-License-Identifier: MIT
/* Names of one kind, sorted to be found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "name_index.h"

static int compare(const void *a, const void *b)
{
	const struct indexed_name *left = a;
	const struct indexed_name *right = b;
	int order = strcmp(left->name, right->name);

	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static int start(struct name_index *index, size_t count)
{
	index->names = calloc(count ? count : 1, sizeof(*index->names));
	index->count = count;
	return index->names ? 0 : -ENOMEM;
}

static void sort(struct name_index *index)
{
	qsort(index->names, index->count, sizeof(*index->names), compare);
}

int name_index_labels(struct name_index *index, const struct image *image)
{
	uint32_t i;

	if (start(index, image->label_count))
		return -ENOMEM;
	for (i = 0; i < image->label_count; i++)
		index->names[i] = (struct indexed_name){ image->labels[i].name, i };
	sort(index);
	return 0;
}

int name_index_data(struct name_index *index, const struct image *image)
{
	uint32_t i;

	if (start(index, image->data_count))
		return -ENOMEM;
	for (i = 0; i < image->data_count; i++)
		index->names[i] = (struct indexed_name){ image->data[i].name, i };
	sort(index);
	return 0;
}

void name_index_free(struct name_index *index)
{
	free(index->names);
}

static int compare_span(const void *key, const void *element)
{
	const struct span *span = key;
	const struct indexed_name *indexed = element;
	int order = strncmp(span->start, indexed->name, span->length);

	return order ? order : -(indexed->name[span->length] != '\0');
}

uint32_t name_index_find(const struct name_index *index, struct span name)
{
	const struct indexed_name *found;

	found = bsearch(&name, index->names, index->count, sizeof(*index->names), compare_span);
	return found ? found->number : NOT_FOUND;
}

bool name_index_duplicate(const struct name_index *index, uint32_t *first, uint32_t *second)
{
	size_t i;

	for (i = 1; i < index->count; i++) {
		if (strcmp(index->names[i - 1].name, index->names[i].name) != 0)
			continue;
		*first = index->names[i - 1].number;
		*second = index->names[i].number;
		return true;
	}
	return false;
}
