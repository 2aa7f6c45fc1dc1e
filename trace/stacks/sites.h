/* SPDX-License-Identifier: MIT */
/* Where in its program the calls of a finding are made. */
#ifndef TRACE_STACKS_SITES_H
#define TRACE_STACKS_SITES_H

#include "../findings/evidence.h"
#include "site.h"

/** The sites of the calls that are a part of findings of this KIND. */
struct sites sites_of(const struct evidence *evidence, const char *kind);

/** PLACE for people, from its first frame outside of the C library on: kept. */
const char *site_text(const struct site *site);

/** Frees what unwinding keeps from one stack to the next. */
void sites_end(void);

#endif /* TRACE_STACKS_SITES_H */
