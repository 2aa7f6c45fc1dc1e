// SPDX-License-Identifier: MIT
#include "complete.h"

#include <stdio.h>
#include <string.h>

#include <ferry.h>

/* Each line of HELP that begins with an option: "  -j, --json  print JSON instead". */
static void complete_options(const char *help)
{
	const char *line, *next;

	for (line = help; *line; line = next) {
		size_t length = strcspn(line, "\n"), name;
		const char *option = strstr(line, "--"), *text;

		next = line + length + (line[length] == '\n');
		if (strspn(line, " ") < 2 || line[strspn(line, " ")] != '-' || !option ||
		    option >= line + length)
			continue;
		name = strcspn(option, " \n");
		text = strstr(option, "  ");
		if (!text || text >= line + length)
			text = line + length;
		text += strspn(text, " ");
		printf("%.*s\t%.*s\n", (int)name, option, (int)(line + length - text), text);
	}
}

/* The values of an option of a command without values of its own: false when they are not known. */
static bool complete_values(const char *option)
{
	int engine;

	if (!strcmp(option, "--engine") || !strcmp(option, "-e")) {
		for (engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++)
			puts(ferry_engine_name(engine));
		return true;
	}
	if (!strcmp(option, "--sort"))
		puts("name\nsize");
	return !strcmp(option, "--sort");
}

void complete(const struct command *const commands[], size_t ncommands, char *words[], int count)
{
	size_t i;

	if (count == 1) {
		for (i = 0; i < ncommands; i++)
			printf("%s\t%s\n", commands[i]->name, commands[i]->summary);
		puts("--help\n--version");
		return;
	}
	for (i = 0; i < ncommands; i++) {
		if (strcmp(commands[i]->name, words[0]) != 0)
			continue;
		if (commands[i]->complete)
			commands[i]->complete(words + 1, count - 1);
		else if (!complete_values(words[count - 2]) && words[count - 1][0] == '-')
			complete_options(commands[i]->help);
	}
}
