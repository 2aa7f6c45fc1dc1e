/* SPDX-License-Identifier: MIT */
/* What `ferry bench crossing` concludes from its rows. */
#ifndef CROSSING_H
#define CROSSING_H

#include "measure/harness/rows.h"

struct crossing {
	const char *missing;
	struct row *rows; /* the empty loop first, until crossing_conclude() */
	size_t count;
	double loop; /* the empty loop, which is part of every row; NAN when not known */
};

void crossing_conclude(struct run *run, struct crossing *crossing);

#endif /* CROSSING_H */
