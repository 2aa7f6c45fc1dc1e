// SPDX-License-Identifier: MIT
#include "engines.h"

#include <ferry.h>

#include "common/messages.h"

static int check_engine(const char *name)
{
	const char *why;

	if (!ferry_engine_probe(ferry_engine_by_name(name), &why))
		return 0;
	return bad_input("bench: the engine %s is not available: %s", name, why);
}

int complete_engines(struct names *engines)
{
	size_t i;
	int e;

	for (i = 0; i < engines->count; i++)
		if (check_engine(engines->of[i]))
			return EXIT_USAGE;
	for (e = FERRY_LOOP; e < FERRY_ENGINES && !i; e++)
		if (!ferry_engine_probe(e, NULL))
			engines->of[engines->count++] = ferry_engine_name(e);
	return 0;
}
