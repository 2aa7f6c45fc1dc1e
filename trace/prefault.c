// SPDX-License-Identifier: MIT
#include "prefault.h"

#include <math.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/record.h"
#include "measure/harness/clock.h"
#include "measure/harness/statistics.h"

#define PAGES 1024 /* in a trial */
#define TRIALS 24  /* a multiple of the number of loops */

/*
 * Loops whose code lies elsewhere in a cache line each, because that decides what a fault costs: on
 * an AMD EPYC, 0.2 us more than mapping ahead where the loop is in two lines, and 0.5 where it is
 * in one.
 */
#if defined(__x86_64__)

#define TOUCH(at)                                                                      \
	static void touch_##at(char *page, const char *end, size_t size)               \
	{                                                                              \
		__asm__ volatile(".balign 64\n\t.skip " #at ", 0x90\n"                 \
				 "1:\n\tmovb $1, (%0)\n\tadd %2, %0\n\tcmp %1, %0\n\t" \
				 "jne 1b"                                              \
				 : "+r"(page)                                          \
				 : "r"(end), "r"(size)                                 \
				 : "memory", "cc");                                    \
	}

TOUCH(1)
TOUCH(9)
TOUCH(17)
TOUCH(25)
TOUCH(33)
TOUCH(41)
TOUCH(49)
TOUCH(57)

static void (*const loops[])(char *page, const char *end,
			     size_t size) = { touch_1,	touch_9,  touch_17, touch_25,
					      touch_33, touch_41, touch_49, touch_57 };

#else

static void touch(char *page, const char *end, size_t size)
{
	for (; page < end; page += size)
		*(volatile char *)page = 1;
}

static void (*const loops[])(char *page, const char *end, size_t size) = { touch };

#endif

/* ns of CPU time until new memory is mapped and touched: it is given back later. */
static double time_of_touching(int flags, size_t loop)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	const double start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			    -1, 0);
	double end;

	if (memory == MAP_FAILED)
		return NAN;
	loops[loop](memory, memory + size, page);
	end = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	munmap(memory, size);
	return end - start;
}

/*
 * Both sides map and clear the same pages, so that what is saved is a small difference, measured in
 * turn.  Nobody knows where the loop of a program lies: the error is that of one loop.
 */
struct way measure_prefault(void)
{
	const struct bootstrap bootstrap = { .seed = 1, .resamples = 200 };
	double trials[TRIALS];
	struct summary summary;
	size_t i;

	for (i = 0; i < TRIALS; i++) {
		const size_t loop = i % COUNT_OF(loops);

		trials[i] =
			(time_of_touching(0, loop) - time_of_touching(MAP_POPULATE, loop)) / PAGES;
	}
	summary = summarize(trials, TRIALS, bootstrap);
	return (struct way){ .saved = { summary.median, hypot(summary.se, summary.sd) } };
}
