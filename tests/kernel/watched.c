// SPDX-License-Identifier: MIT
/*
 * The process watched by the tests of strace, audit and tracepoints.  It makes some calls
 * that are easy to recognize, and prints the result of each.
 *
 *     watched batch         in the kernel's batch()
 *     watched loop          one by one
 *     watched wait          a batch whose second call reads standard input
 *     watched flexsc        in flexsc_serve(), by the thread that posted them
 *     watched flexsc-wait   the same, and the second call reads standard input
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ferry/batchcall.h>
#include <linux/flexsc.h>

#define SLOTS 7
#define ENTRIES 8
#define SET_SIZE (sizeof(struct flexsc_set) + ENTRIES * sizeof(struct flexsc_entry))
#define EXIT_SKIPPED 77

static char byte;
static long word;

static const struct batch_slot calls[SLOTS] = {
	{ .nr = SYS_getpgid, .argc = 1, .arg = { 0 } },
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1001, SEEK_SET } },
	/* These three make no call, so there is nothing to see. */
	{ .nr = SYS_fork },
	{ .nr = BATCH_WDCPY, .argc = 2, .arg = { (long)&word, (long)&word } },
	{ .nr = -3 },
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1002, SEEK_CUR } },
	/* Its length is the word copy's result, 0. */
	{ .nr = SYS_write,
	  .argc = 3 | BATCH_ARGC_FORWARD,
	  .from = { 0, 0, 3 },
	  .arg = { -7, (long)"abc", 3 } },
};

static const struct batch_slot waiting[] = {
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1001, SEEK_SET } },
	{ .nr = SYS_read, .argc = 6, .arg = { 0, (long)&byte, 1, 44, 55, 66 } },
};

/* A call that stops the runner follows them. */
static const struct flexsc_entry posted[] = {
	{ .nr = SYS_getpgid, .argc = 1, .arg = { 0 } },
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1001, SEEK_SET } },
	/* These two make no call. */
	{ .nr = SYS_fork },
	{ .nr = -3 },
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1002, SEEK_CUR } },
	{ .nr = SYS_write, .argc = 3, .arg = { -7, (long)"abc", 0 } },
};

static const struct flexsc_entry posted_waiting[] = {
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1001, SEEK_SET } },
	{ .nr = SYS_read, .argc = 6, .arg = { 0, (long)&byte, 1, 44, 55, 66 } },
};

static long batch(long rets[], const struct batch_slot slots[], unsigned long nslots)
{
	long answer = ferry_rawcall(FERRY_NR_BATCH, 0, 0, 0, 0, 0, 0);

	return answer < 0 ? answer : ferry_batchcall(rets, slots, nslots);
}

/* Makes the call that the kernel left in the middle, and ends it. */
static void make_left_call(struct flexsc_set *set)
{
	struct flexsc_entry *entry = set->entry;

	while (!entry->begun)
		entry++;
	entry->result = ferry_rawcall(entry->nr, entry->arg[0], entry->arg[1], entry->arg[2],
				      entry->arg[3], entry->arg[4], entry->arg[5]);
	entry->begun = 0;
	entry->status = FLEXSC_ENTRY_DONE;
}

/* A call that stores FLEXSC_GATE_STOP in the gate of SET, so that its runner ends. */
static struct flexsc_entry stopping(struct flexsc_set *set)
{
	static const unsigned int stop = FLEXSC_GATE_STOP;
	int ends[2];

	if (pipe(ends) || write(ends[1], &stop, sizeof(stop)) != sizeof(stop))
		abort();
	return (struct flexsc_entry){
		.nr = SYS_read,
		.argc = 3,
		.arg = { ends[0], (long)&set->gate, sizeof(set->gate) },
	};
}

/* Posts the calls, serves them, and returns the index of the last of their results. */
static long serve(long rets[], const struct flexsc_entry calls_to_post[], unsigned int count)
{
	struct flexsc_set *set = aligned_alloc(64, SET_SIZE);
	unsigned int i;
	long error;

	if (!set)
		abort();
	memset(set, 0, SET_SIZE);
	set->version = FLEXSC_VERSION;
	set->flags = FLEXSC_FENCES;
	set->count = ENTRIES;
	set->eventfd = -1;
	memcpy(set->entry, calls_to_post, count * sizeof(*calls_to_post));
	set->entry[count] = stopping(set);
	for (i = 0; i <= count; i++) {
		set->entry[i].result = ferry_rawcall(SYS_gettid, 0, 0, 0, 0, 0, 0);
		set->entry[i].status = FLEXSC_ENTRY_SUBMITTED;
	}
	while ((error = ferry_rawcall(FERRY_NR_FLEXSC_SERVE, (long)set, 0, 0, 0, 0, 0)) ==
	       -EOPNOTSUPP)
		make_left_call(set);
	for (i = 0; i < count; i++)
		rets[i] = set->entry[i].result;
	free(set);
	return error ? error : (long)count - 1;
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	long rets[SLOTS] = { 0 };
	long last;
	int i;

	if (!strcmp(how, "batch"))
		last = batch(rets, calls, SLOTS);
	else if (!strcmp(how, "loop"))
		last = ferry_loop(rets, calls, SLOTS);
	else if (!strcmp(how, "wait"))
		last = batch(rets, waiting, 2);
	else if (!strcmp(how, "flexsc"))
		last = serve(rets, posted, sizeof(posted) / sizeof(*posted));
	else if (!strcmp(how, "flexsc-wait"))
		last = serve(rets, posted_waiting, 2);
	else
		return fputs("usage: watched batch|loop|wait|flexsc|flexsc-wait\n", stderr), 2;
	if (last == -ENOSYS)
		return EXIT_SKIPPED;
	for (i = 0; i <= last; i++)
		printf("%ld ", rets[i]);
	printf("\n");
	return 0;
}
