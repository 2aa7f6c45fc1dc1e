/* SPDX-License-Identifier: MIT */
/* Names of one kind, sorted to be found. */
#ifndef NAME_INDEX_H
#define NAME_INDEX_H

#include "image.h"
#include "lexer.h"

struct indexed_name {
	const char *name; /* the image's */
	uint32_t number;  /* of the label or data object */
};

struct name_index {
	struct indexed_name *names;
	size_t count;
};

#define NOT_FOUND UINT32_MAX

/* Indexes the labels or the data of IMAGE: 0 or -ENOMEM. */
int name_index_labels(struct name_index *index, const struct image *image);
int name_index_data(struct name_index *index, const struct image *image);

void name_index_free(struct name_index *index);

/* The number of NAME, or NOT_FOUND. */
uint32_t name_index_find(const struct name_index *index, struct span name);

/* A name that is there twice: true with the numbers of two, the smaller first. */
bool name_index_duplicate(const struct name_index *index, uint32_t *first, uint32_t *second);

#endif /* NAME_INDEX_H */
