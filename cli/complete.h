/* SPDX-License-Identifier: MIT */
/*
 * What a shell may complete with: "ferry --complete WORD..." prints a candidate for the last WORD
 * per line, and a tab and a description where there is one.  It prints nothing where a file is
 * meant.
 */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stddef.h>

#include "command.h"

/** Prints candidates for the last of the COUNT WORDS that follow "ferry"; there is at least one. */
void complete(const struct command *const commands[], size_t ncommands, char *words[], int count);

#endif /* COMPLETE_H */
