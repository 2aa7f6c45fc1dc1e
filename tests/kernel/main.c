// SPDX-License-Identifier: MIT
/*
 * Malicious or unlucky callers of the kernel's batch().  Meant for a guest whose
 * console is watched: a test also fails if the kernel logs an error.  Exits with 77 if
 * this kernel has no batch().
 */
#include <getopt.h>
#include <inttypes.h>

#include <ferry/batchcall.h>

#include "hostile.h"
#include "tests/lib/conformance/run.h"

#define EXIT_SKIPPED 77

enum ferry_engine engine = FERRY_SYSCALL;
bool full_run;
uint64_t seed;

static long run_in_kernel(long rets[], const struct batch_slot calls[], unsigned long ncall,
			  long flags, long size)
{
	(void)flags;
	(void)size;
	return ferry_batchcall(rets, calls, ncall);
}

static int probe_kernel(const char **why)
{
	*why = "this kernel does not have the batch system call";
	return ferry_rawcall(FERRY_NR_BATCH, 0, 0, 0, 0, 0, 0) < 0 ? -ENOSYS : 0;
}

static const struct way kernel = { .name = "kernel", .run = run_in_kernel, .probe = probe_kernel };

static int usage(FILE *to, int status)
{
	fputs("usage: hostile [--engine syscall|device] [--full] [--seed N] [--only TEXT]\n"
	      "Runs the hostile tests of the kernel's batch(), or of the module, or those whose\n"
	      "name holds TEXT.\n",
	      to);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "full", no_argument, NULL, 'f' },
						 { "engine", required_argument, NULL, 'e' },
						 { "seed", required_argument, NULL, 's' },
						 { "only", required_argument, NULL, 'o' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	const char *filter = NULL;
	const char *why;
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = any_seed();
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			full_run = true;
			break;
		case 'e':
			engine = ferry_engine_by_name(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			filter = optarg;
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (optind < argc || (engine != FERRY_SYSCALL && engine != FERRY_DEVICE))
		return usage(stderr, 2);
	way = engine == FERRY_DEVICE ? way_by_name("device") : &kernel;
	if (way_probe(&why)) {
		printf("skipped: %s\n", why);
		return EXIT_SKIPPED;
	}
	printf("seed: %" PRIu64 "\n", seed);
	return tests_run(way->name, filter) ? 1 : 0;
}
