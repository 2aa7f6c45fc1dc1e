/* SPDX-License-Identifier: MIT */
/* The engines of the library as a setting of a bench. */
#ifndef ENGINES_H
#define ENGINES_H

#include "common/messages.h"
#include "measure/harness/options.h"

#define ENGINE_OPTION(at)                                                 \
	{                                                                 \
		'e', NAMES_OPTION, "engine", "E,...", "engines", at,      \
			"the engines; by default all that are available", \
			.list_values = engine_names                       \
	}

/**
 * Fills in all that are available where none was named: 0, or EXIT_USAGE after complaining about
 * one that is not available.
 */
int complete_engines(struct names *engines);

#endif /* ENGINES_H */
