// SPDX-License-Identifier: MIT
/* Apart from conclusions.c, because flexsc and pagefault both have an enum way. */
#include "conclude_pagefault.h"

#include "measure/cases/pagefault.h"
#include "numbers.h"

void conclude_pagefault(struct run *run, const json_t *request)
{
	static const enum way ways[] = {
		BASE, CLEAR, POPULATE, LARGE_PAGES, PREFAULT, PREFAULT_HERE
	};
	json_t *touches = json_object_get(request, "touches");
	struct pagefault *pagefault = keep(1, sizeof(*pagefault));
	size_t i;

	pagefault->rows = keep(COUNT_OF(ways), sizeof(*pagefault->rows));
	pagefault->count = json_array_size(touches);
	for (i = 0; i < pagefault->count; i++) {
		json_t *holder =
			json_pack("{s:O, s:[f]}", "of", json_array_get(touches, i), "later", 5.0);

		pagefault->rows[i] = (struct touched){
			.name = way_names[ways[i]],
			.label = way_names[ways[i]],
			.access = "write",
			.order = "sequential",
			.way = way_names[ways[i]],
			.base = 0,
			.touch = { .order = SEQUENTIAL, .way = ways[i] },
			.pages = 1024,
			.mapped = 1024,
			.trials = numbers_at(holder, "of"),
			.later = numbers_at(holder, "later"),
		};
		json_decref(holder);
	}
	pagefault_conclude(run, pagefault);
}
