// SPDX-License-Identifier: MIT
/*
 * kstats(): the whole call, and refused for its size, which is the crossing and the checks;
 * beside what reading the same counters costs within the kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>
#include <linux/ferry_kstats.h>

#include "count.h"
#include "module.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: kstats [--passes N]\n"
	"Prints a JSON line per way to call kstats(): the least cost of one, in each of N (5)\n"
	"passes, and the number of CPUs over which counters are summed.  With the test module\n"
	"loaded, also one of reading the counters in the kernel.\n"
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

static void print_head(const char *name, bool here)
{
	printf("{\"bench\":\"kstats\",\"unit\":\"%s\",\"call\":\"%s\",\"here\":%s,\"cpus\":%ld",
	       count_unit(), name, here ? "true" : "false", sysconf(_SC_NPROCESSORS_CONF));
}

static void print_call(const struct call *call, int passes)
{
	struct call own = *call;
	int pass;

	make_call(&own);
	print_head(call->name, result != -ENOSYS);
	for (pass = 0; pass < passes; pass++)
		printf("%s%lu", pass ? "," : ",\"cost\":[",
		       (unsigned long)count_least(make_call, NULL, &own, REPEATS));
	printf("]}\n");
}

static void print_counters(int passes)
{
	struct ferry_bench_counters counters = { .rounds = REPEATS };
	bool here = !ioctl(module_descriptor(), FERRY_BENCH_COUNTERS, &counters);
	int pass;

	print_head("counters, read in the kernel", here);
	for (pass = 0; here && pass < passes; pass++) {
		ioctl(module_descriptor(), FERRY_BENCH_COUNTERS, &counters);
		printf("%s%lu", pass ? "," : ",\"cost\":[", counters.least);
	}
	printf("%s}\n", here ? "]" : "");
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		print_call(&calls[i], options.passes);
	print_counters(options.passes);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
