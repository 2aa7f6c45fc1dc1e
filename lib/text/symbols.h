/* SPDX-License-Identifier: MIT */
/* The labels and data of a program: where they were declared, and finding them by name. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include "errors.h"
#include "image.h"

struct indexed_name {
	const char *name; /* the image's */
	uint32_t number;  /* of the label or data object */
};

/* Names of one kind, sorted. */
struct name_index {
	struct indexed_name *names;
	size_t count;
};

struct data_source {
	struct place where;
	bool sized; /* its size is known */
};

struct symbols {
	const struct image *image;
	struct text_errors *errors;

	struct place *label_places; /* of image->labels[] */
	size_t label_place_count;
	struct data_source *data_sources; /* of image->data[] */
	size_t data_source_count;

	/* Empty until symbols_index(). */
	struct name_index labels;
	struct name_index data;
};

/* Sorts the names once all are declared, and reports duplicates: 0, -EINVAL or -ENOMEM. */
int symbols_index(struct symbols *symbols);

void symbols_free(struct symbols *symbols);

#define NOT_FOUND UINT32_MAX

/* The number of the label or data called NAME, or NOT_FOUND. */
uint32_t symbols_find_label(const struct symbols *symbols, struct span name);
uint32_t symbols_find_data(const struct symbols *symbols, struct span name);

/* A slot, as a text names it. */
struct slot_name {
	struct place where;
	struct span label; /* empty when it is given by its number */
	uint64_t number;
};

/* The index of the slot called NAME in *SLOT: 0, or -EINVAL when there is none. */
int symbols_find_slot(const struct symbols *symbols, const struct slot_name *name, uint32_t *slot);

/* Complain that no label, no data, or neither data nor a constant is called NAME. */
void symbols_complain_label(const struct symbols *symbols, struct span name, struct place where);
void symbols_complain_data(const struct symbols *symbols, struct span name, struct place where);
void symbols_complain_value(const struct symbols *symbols, struct span name, struct place where);

#endif /* SYMBOLS_H */
