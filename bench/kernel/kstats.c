// SPDX-License-Identifier: MIT
/* kstats(): the whole call, and refused for its size, which is the crossing and the checks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>
#include <linux/ferry_kstats.h>

#include "count.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: kstats [--passes N]\n"
	"Prints a JSON line per way to call kstats(): the least cost of one, in each of N (5)\n"
	"passes, and the number of CPUs over which counters are summed.\n"
	"\n"
	"Example: kstats --passes 11\n";

#define REPEATS 50

static struct kstats stats;
static long result;

struct call {
	const char *name;
	int nr;
	void *stats;
	size_t size;
};

static const struct call calls[] = {
	{ "null", FERRY_NR_NULL, NULL, 0 },
	{ "kstats, refused for its size", FERRY_NR_KSTATS, &stats, 0 },
	{ "kstats", FERRY_NR_KSTATS, &stats, sizeof(stats) },
};

static void make_call(void *context)
{
	const struct call *call = context;

	result = ferry_rawcall(call->nr, (long)call->stats, (long)call->size, 0, 0, 0, 0);
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	size_t i;
	int pass;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct call call = calls[i];

		make_call(&call);
		printf("{\"bench\":\"kstats\",\"unit\":\"%s\",\"call\":\"%s\",\"here\":%s,"
		       "\"cpus\":%ld,\"cost\":[",
		       count_unit(), call.name, result == -ENOSYS ? "false" : "true",
		       sysconf(_SC_NPROCESSORS_CONF));
		for (pass = 0; pass < options.passes; pass++)
			printf("%s%lu", pass ? "," : "",
			       (unsigned long)count_least(make_call, NULL, &call, REPEATS));
		printf("]}\n");
	}
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
