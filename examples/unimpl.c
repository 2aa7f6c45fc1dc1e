// SPDX-License-Identifier: MIT
/*
 * unimpl: measures the overhead of a batch, using a call that does nothing but fail.
 * Needs only <linux/batch.h>: cc -I include -I uapi unimpl.c
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/batch.h>

static const char help[] =
	"Usage: unimpl\n"
	"Times batches of 1 to 1024 calls that no kernel implements, and prints a table for a\n"
	"regression (cost per crossing, cost per call): slots per batch, number of batches,\n"
	"nanoseconds for all of them (the least of 10 trials), nanoseconds per slot.\n"
	"\n"
	"  --help  print this\n"
	"\n"
	"Environment: BATCH_EMUL forces the loop in user space; BATCH_VERBOSE prints the choice.\n"
	"\n"
	"Example: BATCH_EMUL=1 unimpl > loop.tsv\n";

#if defined(__x86_64__)
#define UNIMPLEMENTED 184 /* tuxcall, which no Linux ever had */
#else
#define UNIMPLEMENTED 30000 /* above every number in use */
#endif

#define MAX_SLOTS 1024
#define TRIALS 10

/* Takes a millisecond or more, so that the clock's own cost is negligible. */
#define SLOTS_PER_TRIAL 16384L

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Times BATCHES batches of N slots, in nanoseconds. */
static double trial(long rets[], syscall_t calls[], unsigned long n, long batches)
{
	double start = now();
	long i;

	for (i = 0; i < batches; i++)
		batch(rets, calls, n, 0, 0);
	return now() - start;
}

/* Whether every slot of the batch ran and failed as it must. */
static int check(long rets[], syscall_t calls[], unsigned long n)
{
	long last = batch(rets, calls, n, 0, 0);
	unsigned long i;

	if (last != (long)n - 1) {
		fprintf(stderr, "unimpl: a batch of %lu slots returned %ld\n", n, last);
		return 0;
	}
	for (i = 0; i < n; i++)
		if (rets[i] != -ENOSYS) {
			fprintf(stderr, "unimpl: call %d gives %ld here, not ENOSYS\n",
				UNIMPLEMENTED, rets[i]);
			return 0;
		}
	return 1;
}

static int measure(long rets[], syscall_t calls[], unsigned long n)
{
	long batches = SLOTS_PER_TRIAL / (long)n;
	double least = 0;
	int i;

	memset(rets, 0, n * sizeof(*rets));
	if (!check(rets, calls, n))
		return 0;
	for (i = 0; i < TRIALS; i++) {
		double took = trial(rets, calls, n, batches);

		if (!i || took < least)
			least = took;
	}
	printf("%lu\t%ld\t%.0f\t%.2f\n", n, batches, least, least / (double)(batches * (long)n));
	return 1;
}

static int finish(void)
{
	if (fclose(stdout)) {
		perror("unimpl: cannot write to standard output");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	static syscall_t calls[MAX_SLOTS];
	static long rets[MAX_SLOTS];
	unsigned long n;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return finish();
	}
	if (argc > 1) {
		fprintf(stderr, "unimpl: '%s' is not known: unimpl takes --help only\n", argv[1]);
		return 2;
	}
	for (n = 0; n < MAX_SLOTS; n++)
		calls[n].nr = UNIMPLEMENTED;
	puts("N\tbatches\tns\tns/slot");
	for (n = 1; n <= MAX_SLOTS; n *= 2)
		if (!measure(rets, calls, n))
			return EXIT_FAILURE;
	return finish();
}
