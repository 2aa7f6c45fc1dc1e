// SPDX-License-Identifier: MIT
/*
 * The loop engine beside what people write by hand, on a program of 1,024 calls
 * that no kernel has: `loop_cost raw|loop|libc REPEATS` runs one side, for an
 * instruction counter; `loop_cost compare` times loop against libc's syscall(), in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry/rawcall.h>

#include "measure/harness/clock.h"
#include "measure/harness/machine.h"
#include "sample.h"

#define SLOTS 1024
#define PAIRS 1001
#define UNIMPLEMENTED 511

static struct ferry_slot slots[SLOTS] __attribute__((aligned(4096)));
static long rets[SLOTS];

/* The least that a program can do by hand for the same calls. */
static void run_raw(void)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		rets[i] = ferry_rawcall(slots[i].nr, slots[i].arg[0], slots[i].arg[1],
					slots[i].arg[2], slots[i].arg[3], slots[i].arg[4],
					slots[i].arg[5]);
}

static void run_loop(void)
{
	ferry_batch_on(FERRY_LOOP, rets, slots, SLOTS, 0, 0);
}

/* A call through libc for each slot: a switch over argc, errno, and the jumps. */
static long call_by_argc(const struct ferry_slot *slot)
{
	const __s64 *a = slot->arg;

	switch (slot->argc) {
	case 0:
		return syscall(slot->nr);
	case 1:
		return syscall(slot->nr, a[0]);
	case 2:
		return syscall(slot->nr, a[0], a[1]);
	case 3:
		return syscall(slot->nr, a[0], a[1], a[2]);
	case 4:
		return syscall(slot->nr, a[0], a[1], a[2], a[3]);
	case 5:
		return syscall(slot->nr, a[0], a[1], a[2], a[3], a[4]);
	default:
		return syscall(slot->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

static void run_libc(void)
{
	long i, skip = 0;

	for (i = 0; i < SLOTS && skip >= 0; i += 1 + skip) {
		rets[i] = call_by_argc(&slots[i]);
		skip = rets[i] < 0 ? slots[i].jump_fail :
		       rets[i]	   ? slots[i].jump_pos :
				     slots[i].jump_zero;
	}
}

static const struct side {
	const char *name;
	void (*run)(void);
} sides[] = { { "raw", run_raw }, { "loop", run_loop }, { "libc", run_libc } };

static double time_side(int which, void *context)
{
	double start = now_ns();

	(void)context;
	if (which)
		run_loop();
	else
		run_libc();
	return (now_ns() - start) / SLOTS;
}

static void print_comparison(void)
{
	struct duel c;

	cpu_stay(-1);
	compare(time_side, NULL, PAIRS / 10);
	c = compare(time_side, NULL, PAIRS);
	printf("libc's syscall() per slot %.1f ns, loop engine %.1f ns; "
	       "libc / loop %.3f (quartiles %.3f .. %.3f of %d pairs)\n",
	       c.side[0].median, c.side[1].median, c.ratio.median, c.ratio.low, c.ratio.high,
	       PAIRS);
}

int main(int argc, char *argv[])
{
	long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	size_t i;

	for (i = 0; i < SLOTS; i++)
		slots[i].nr = UNIMPLEMENTED;
	if (argc == 2 && !strcmp(argv[1], "compare")) {
		print_comparison();
		return 0;
	}
	for (i = 0; repeats > 0 && i < sizeof(sides) / sizeof(sides[0]); i++) {
		if (strcmp(argv[1], sides[i].name) != 0)
			continue;
		while (repeats--)
			sides[i].run();
		return 0;
	}
	fprintf(stderr, "Usage: loop_cost compare | raw REPEATS | loop REPEATS | libc REPEATS\n");
	return 2;
}
