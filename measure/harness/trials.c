// SPDX-License-Identifier: MIT
#include "trials.h"

#include <stdlib.h>

#include "child.h"
#include "interrupt.h"
#include "json.h"
#include "memory.h"
#include "progress.h"

int run_trials(const struct run *run, const char *what, size_t rows, size_t *number,
	       int (*trial)(void *context), void *context)
{
	size_t trials = (size_t)run->settings->trials;
	int status = 0;

	progress_begin(what, trials * rows);
	for (; *number < trials && !status && !interrupted(); ++*number)
		status = run_in_child(trial, context);
	progress_end();
	return status;
}

void set_paired_ratio(json_t *json, const struct run *run, const double *trials, const double *base,
		      size_t count)
{
	double *ratios = allocate(count, sizeof(*ratios));
	struct summary s;
	size_t i;

	for (i = 0; i < count; i++)
		ratios[i] = base[i] / trials[i];
	s = summarize(ratios, count, run->settings->bootstrap);
	json_object_set_new(json, "ratio", json_number(s.median));
	json_object_set_new(json, "ratio_se", json_number(s.se));
	json_object_set_new(json, "significant",
			    json_boolean(differ((struct estimate){ s.median, s.se },
						(struct estimate){ 1, 0 })));
	free(ratios);
}
