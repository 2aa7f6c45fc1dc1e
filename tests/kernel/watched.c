// SPDX-License-Identifier: MIT
/*
 * What the tests of watchers watch: a process that makes some calls that are easy to
 * tell, in one batch, and prints how each ended.
 *
 *     watched batch   in the kernel's batch()
 *     watched loop    one by one
 *     watched wait    a batch whose second call reads standard input
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ferry/loop.h>

#define SLOTS 7
#define EXIT_SKIPPED 77

static char byte;
static long word;

static const struct ferry_slot calls[SLOTS] = {
	{ .nr = SYS_getpgid, .argc = 1, .arg = { 0 } },
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1001, SEEK_SET } },
	/* No call is made for these three, so there is nothing to see. */
	{ .nr = SYS_fork },
	{ .nr = FERRY_NR_WDCPY, .argc = 2, .arg = { (long)&word, (long)&word } },
	{ .nr = -3 },
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1002, SEEK_CUR } },
	/* Its length is the word copy's result, 0. */
	{ .nr = SYS_write,
	  .argc = 3 | FERRY_ARGC_FORWARD,
	  .from = { 0, 0, 3 },
	  .arg = { -7, (long)"abc", 3 } },
};

static const struct ferry_slot waiting[] = {
	{ .nr = SYS_lseek, .argc = 3, .arg = { -7, 1001, SEEK_SET } },
	{ .nr = SYS_read, .argc = 6, .arg = { 0, (long)&byte, 1, 44, 55, 66 } },
};

static long batch(long rets[], const struct ferry_slot slots[], unsigned long nslots)
{
	return ferry_rawcall(FERRY_NR_BATCH, (long)rets, (long)slots, (long)nslots, 0,
			     sizeof(*slots), 0);
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
	else
		return fputs("usage: watched batch|loop|wait\n", stderr), 2;
	if (last == -ENOSYS)
		return EXIT_SKIPPED;
	for (i = 0; i <= last; i++)
		printf("%ld ", rets[i]);
	printf("\n");
	return 0;
}
