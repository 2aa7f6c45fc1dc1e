/* SPDX-License-Identifier: MIT */
/* Random programs of harmless calls. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stdint.h>

#include "program.h"

/* Makes PROGRAM number INDEX of SEED, of up to MAX slots (1 .. MAX_SLOTS). */
void generate(struct program *program, uint64_t seed, uint64_t index, unsigned long max);

#endif /* GENERATE_H */
