// SPDX-License-Identifier: MIT
/*
 * What flexsc takes of its caller, for an instruction counter: `flexsc_cost posted|empty CALLS`
 * makes CALLS one-byte writes by 64 user-level threads, or runs the same loop without the call.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ferry_flexsc.h>

#define THREADS 64

static int file;
static long calls;
static int posted;

static void *make_calls(void *argument)
{
	long i;

	for (i = 0; i < calls / THREADS; i++) {
		if (posted)
			ferry_write(file, "x", 1);
		else
			__asm__ volatile("" : : : "memory");
	}
	return argument;
}

int main(int argc, char *argv[])
{
	struct ferry_thread *threads[THREADS];
	struct ferry_flexsc *flexsc;
	int i;

	if (argc != 3) {
		fprintf(stderr, "Usage: flexsc_cost posted|empty CALLS\n");
		return 2;
	}
	posted = !strcmp(argv[1], "posted");
	calls = strtol(argv[2], NULL, 10);
	file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (ferry_flexsc_start(&flexsc, NULL))
		return 1;
	for (i = 0; i < THREADS; i++)
		if (ferry_thread_spawn(&threads[i], flexsc, make_calls, NULL))
			return 1;
	for (i = 0; i < THREADS; i++)
		ferry_thread_join(threads[i], NULL);
	return ferry_flexsc_stop(flexsc) != 0;
}
