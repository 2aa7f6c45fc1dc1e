/* SPDX-License-Identifier: MIT */
/* Random programs of harmless calls. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stdint.h>

#include "program.h"
#include "random.h"

/* Makes PROGRAM number INDEX of SEED, of up to MAX slots (1 .. MAX_SLOTS). */
void generate(struct program *program, uint64_t seed, uint64_t index, unsigned long max);

/* Makes the PROGRAM that the words of RANDOM stand for. */
void generate_from(struct program *program, struct random *random, unsigned long max);

#endif /* GENERATE_H */
