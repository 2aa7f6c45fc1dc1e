// SPDX-License-Identifier: MIT
/* What a call alone costs, made by one instruction: the ordinary path, and null()'s. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>

#include "count.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: call [--passes N]\n"
	"Prints a JSON line per call: the least cost of one, in each of N (5) passes.\n"
	"\n"
	"Example: call --passes 11\n";

#define REPEATS 50

static const struct {
	const char *name;
	int nr;
} calls[] = { { "getppid", SYS_getppid }, { "null", FERRY_NR_NULL } };

static long result;

static void make_call(void *nr)
{
	result = ferry_rawcall(*(const int *)nr, 0, 0, 0, 0, 0, 0);
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	size_t i;
	int pass;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int nr = calls[i].nr;

		make_call(&nr);
		printf("{\"bench\":\"call\",\"unit\":\"%s\",\"call\":\"%s\",\"here\":%s,\"cost\":[",
		       count_unit(), calls[i].name, result < 0 ? "false" : "true");
		for (pass = 0; pass < options.passes; pass++)
			printf("%s%lu", pass ? "," : "",
			       (unsigned long)count_least(make_call, NULL, &nr, REPEATS));
		printf("]}\n");
	}
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
