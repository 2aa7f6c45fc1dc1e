/* SPDX-License-Identifier: MIT */
/* What `ferry bench dispatch` concludes from its rows. */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "measure/harness/rows.h"

void dispatch_conclude(struct run *run, struct row rows[], size_t count);

#endif /* DISPATCH_H */
