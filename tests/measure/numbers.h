/* SPDX-License-Identifier: MIT */
/* Numbers in the requests of the tests in Python. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "common/memory.h"
#include "common/record.h"

/** The list under KEY of OBJECT, which is kept. */
static inline struct numbers numbers_at(const json_t *object, const char *key)
{
	const json_t *list = json_object_get(object, key);
	struct numbers numbers = { .count = json_array_size(list) };
	size_t i;

	numbers.of = keep(numbers.count, sizeof(double));
	for (i = 0; i < numbers.count; i++)
		numbers.of[i] = json_number_value(json_array_get(list, i));
	return numbers;
}

#endif /* NUMBERS_H */
