// SPDX-License-Identifier: MIT
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carrier.h"
#include "start.h"

#define REASONS 128

struct tally {
	const char *reason;
	unsigned long times;
};

static unsigned long counts[COUNTS];
static struct tally homes[REASONS], bounds[REASONS];

void report_count(enum count count)
{
	__atomic_fetch_add(&counts[count], 1, __ATOMIC_RELAXED);
}

/* The entry of REASON; literals of the same text are told apart only while they are counted. */
static void tally(struct tally *tallies, const char *reason)
{
	const char *taken;
	int i;

	for (i = 0; i < REASONS; i++) {
		taken = __atomic_load_n(&tallies[i].reason, __ATOMIC_RELAXED);
		if (!taken && __atomic_compare_exchange_n(&tallies[i].reason, &taken, reason, 0,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			taken = reason;
		if (taken == reason || !strcmp(taken, reason))
			break;
	}
	if (i < REASONS)
		__atomic_fetch_add(&tallies[i].times, 1, __ATOMIC_RELAXED);
}

void report_home(const char *reason)
{
	tally(homes, reason);
}

void report_bound(const char *reason)
{
	tally(bounds, reason);
}

void report_reset(void)
{
	memset(counts, 0, sizeof(counts));
	memset(homes, 0, sizeof(homes));
	memset(bounds, 0, sizeof(bounds));
}

/* ---- printing: straight to the descriptor, as the streams may be gone ---- */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length > 0)
		raw3(SYS_write, STDERR_FILENO, (long)line, length);
}

static unsigned long total(const struct tally *tallies)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < REASONS; i++)
		sum += tallies[i].times;
	return sum;
}

static void print_tallies(const struct tally *tallies)
{
	int i;

	for (i = 0; i < REASONS && tallies[i].reason; i++)
		say("ferry threads:   %8lu %s\n", tallies[i].times, tallies[i].reason);
}

static unsigned long switches(void)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < carrier_state.made; i++)
		sum += __atomic_load_n(&carriers[i].switches, __ATOMIC_RELAXED);
	return sum;
}

static void print(void)
{
	const char *off = start_refusal();

	if (off) {
		say("ferry threads: %d: no thread was carried: %s\n", getpid(), off);
		return;
	}
	say("ferry threads: %d: carried %lu threads on %d carriers (%lu replaced)\n", getpid(),
	    counts[COUNT_CARRIED], carrier_state.wanted, counts[COUNT_STUCK]);
	say("ferry threads: %lu switches without the kernel, %lu looks for events, %lu wake-ups\n",
	    switches(), counts[COUNT_LOOKS], counts[COUNT_KICKS]);
	say("ferry threads: %lu rests, in which threads waited at home\n", counts[COUNT_RESTS]);
	say("ferry threads: %lu trips home for a call:\n", total(homes));
	print_tallies(homes);
	say("ferry threads: %lu threads at home for good:\n", total(bounds));
	print_tallies(bounds);
}

void report_at_exit(void)
{
	if (getenv("FERRY_THREADS_REPORT"))
		print();
}
