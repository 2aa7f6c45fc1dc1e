/* SPDX-License-Identifier: MIT */
/* An echo server, which does nothing but wait: one process serves, another sends requests. */
#ifndef ECHO_H
#define ECHO_H

#include "sides.h"

/** Measures it for `ferry bench flexsc`: its sides and how many there are.  Returns a status. */
int echo_measure(struct run *run, struct side **sides, size_t *count);

#endif /* ECHO_H */
