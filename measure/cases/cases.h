/* SPDX-License-Identifier: MIT */
/* What `ferry bench` can measure. */
#ifndef CASES_H
#define CASES_H

#include "measure/harness/bench.h"

extern const struct bench crossing_bench;
extern const struct bench batch_bench;
extern const struct bench dispatch_bench;
extern const struct bench apps_bench;
extern const struct bench chain_bench;
extern const struct bench files_bench;
extern const struct bench flexsc_bench;
extern const struct bench pagefault_bench;
extern const struct bench threads_bench;

#endif /* CASES_H */
