/* SPDX-License-Identifier: MIT */
#ifndef CONCLUDE_PAGEFAULT_H
#define CONCLUDE_PAGEFAULT_H

#include <jansson.h>

#include "measure/harness/bench.h"

/* {"touches": [[trials of a fault a page], [clearing], [populating], [large pages]]} */
void conclude_pagefault(struct run *run, const json_t *request);

#endif /* CONCLUDE_PAGEFAULT_H */
