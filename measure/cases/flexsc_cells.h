/* SPDX-License-Identifier: MIT */
/* The cells of `ferry bench flexsc`: a call, a way to make it, and the work between calls. */
#ifndef FLEXSC_CELLS_H
#define FLEXSC_CELLS_H

#include "measure/harness/bench.h"

/** Measures all cells, in turn within each trial.  Returns 0, or an exit status. */
int measure_cells(struct run *run, json_t **cells);

/** The measured cell of WAY, or NULL; THREADS and RUNNERS are 0 for ways without. */
json_t *find_cell(const json_t *cells, const char *call, const char *way, long threads,
		  long runners, double work);

/** Adds sentences on where flexsc wins, and where plain calls do. */
void conclude_cells(struct run *run, const json_t *cells);

/** The threads and the work of which most is said: the nearest to 64 and to 150 ns. */
long usual_threads(const struct settings *settings);
double usual_work(const struct settings *settings);

#endif /* FLEXSC_CELLS_H */
