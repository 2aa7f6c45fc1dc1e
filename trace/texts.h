/* SPDX-License-Identifier: MIT */
/* What the arguments of a call in another process lead to. */
#ifndef TRACE_TEXTS_H
#define TRACE_TEXTS_H

#include "call.h"

/** Fills in the texts of CALL, which THREAD is about to make; what cannot be read stays NULL. */
void texts_read(pid_t thread, struct traced_call *call);

#endif /* TRACE_TEXTS_H */
