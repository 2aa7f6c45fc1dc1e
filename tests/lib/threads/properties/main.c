// SPDX-License-Identifier: MIT
/*
 * What POSIX threads promise, one property a run: `properties NAME` prints the same whether its
 * threads are carried or not.  test_properties.py compares.  `properties --list` prints the names.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "helpers.h"
#include "properties.h"

static const struct {
	const char *name;
	void (*run)(void);
} properties[] = {
#define X(name) { #name, name },
	PROPERTIES(X)
#undef X
};

int main(int argc, char *argv[])
{
	bool found = false;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	for (i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], "--list"))
			puts(properties[i].name);
		else if (argc != 2 || strcmp(argv[1], properties[i].name) != 0)
			continue;
		else
			properties[i].run();
		found = true;
	}
	if (!found)
		fprintf(stderr, "properties: name a property, or --list\n");
	return !found;
}
