// SPDX-License-Identifier: MIT
#include "messages.h"

#include <stdarg.h>
#include <stdio.h>

#include "memory.h"

void complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("ferry: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int too_many_arguments(const char *command, const char *extra)
{
	complain("%s: unexpected argument '%s'; see 'ferry %s --help'", command, extra, command);
	return EXIT_USAGE;
}

const char *engine_names(void)
{
	const char *names = ferry_engine_name(FERRY_AUTO);
	int e;

	for (e = FERRY_AUTO + 1; e < FERRY_ENGINES; e++)
		names = keep_text("%s %s", names, ferry_engine_name(e));
	return names;
}

int parse_engine(const char *name)
{
	int engine = ferry_engine_by_name(name);

	if (engine < 0)
		complain("there is no engine '%s'; the engines are %s", name,
			 keep_list(engine_names(), " and "));
	return engine;
}
