/* SPDX-License-Identifier: MIT */
/*
 * A program for the original source API: it includes only <linux/batch.h>, links no
 * library, and prints one line per way to write a batch.  C89 to C17, C++11 to C++20.
 */
#include <linux/batch.h>

static char text[] = "x";

/*
 * Positional initializers, with argc followed by the arguments: the only form that needs
 * warnings disabled, for missing braces and arguments.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static syscall_t flat[] = {
	{ __NR_getpid, 0, 0, 0, 0 },
	{ __NR_write, 0, 0, 0, 3, -1, (long)text, 1 },
	{ __NR_getpgid, -1, 0, 0, 1, 0 },
	{ __NR_mmap, 0, -1, 0, 6, 0, 0, 0, 0x22, -1, 0 },
};
#pragma GCC diagnostic pop

/* ... and with the arguments in separate braces. */
static syscall_t nested[] = {
	{ __NR_getpid, 0, 0, 0, 0, { 0 } },
	{ __NR_write, 0, 0, 0, 3, { -1, (long)text, 1 } },
	{ __NR_getpgid, -1, 0, 0, 1, { 0 } },
	{ __NR_mmap, 0, -1, 0, 6, { 0, 0, 0, 0x22, -1, 0 } },
};

static syscall_t made[] = {
	scall0(getpid, 1, 2, 3),
	scall1(getpid, 1, 2, 3, 11),
	scall2(getpid, 1, 2, 3, 11, 12),
	scall3(getpid, 1, 2, 3, 11, 12, 13),
	scall4(getpid, 1, 2, 3, 11, 12, 13, 14),
	scall5(getpid, 1, 2, 3, 11, 12, 13, 14, 15),
	scall6(getpid, 1, 2, 3, 11, 12, 13, 14, 15, 16),
};

static int failures;

static void check(int right, const char *what)
{
	const char *verdict = right ? "ok " : "FAILED ";
	syscall_t lines[] = {
		scall3(write, 0, 0, 0, 1, verdict, strlen(verdict)),
		scall3(write, 0, 0, 0, 1, what, strlen(what)),
		scall3(write, 0, 0, 0, 1, "\n", 1),
	};
	long rets[3];

	if (batch(rets, lines, 3, 0, sizeof(syscall_t)) != 2 || !right)
		failures++;
}

static int is_made(const syscall_t *slot, int argc)
{
	int k;

	if (slot->nr != __NR_getpid || slot->argc != argc)
		return 0;
	if (slot->jumpFail != 1 || slot->jump0 != 2 || slot->jumpPos != 3)
		return 0;
	for (k = 0; k < 6; k++)
		if (slot->arg[k] != (k < argc ? 11 + k : 0))
			return 0;
	return 1;
}

static int are_made(const syscall_t *slots)
{
	int argc;

	for (argc = 0; argc <= 6; argc++)
		if (!is_made(&slots[argc], argc))
			return 0;
	return 1;
}

static long argument_of(syscall_t slot)
{
	return slot.arg[0];
}

static void forms_of_a_slot(void)
{
	long pid = ferry_rawcall(__NR_getpid, 0, 0, 0, 0, 0, 0);
	long rets[4];
	syscall_t values[7];
	syscall_t automatic[] = {
		scall0(getpid, 1, 2, 3),
		scall1(getpid, 1, 2, 3, 11),
		scall2(getpid, 1, 2, 3, 11, 12),
		scall3(getpid, 1, 2, 3, 11, 12, 13),
		scall4(getpid, 1, 2, 3, 11, 12, 13, 14),
		scall5(getpid, 1, 2, 3, 11, 12, 13, 14, 15),
		scall6(getpid, 1, 2, 3, 11, 12, 13, 14, 15, 16),
	};

	check(!memcmp(flat, nested, sizeof(flat)), "positional slots");
	check(batch(rets, flat, 4, 0, 0) == 3 && rets[0] == pid && rets[1] == -EBADF &&
		      rets[2] > 0 && rets[3] == -EINVAL,
	      "positional slots run");
	check(are_made(made), "static slots");
	check(are_made(automatic), "automatic slots");
	values[0] = scall0(getpid, 1, 2, 3);
	values[1] = scall1(getpid, 1, 2, 3, 11);
	values[2] = scall2(getpid, 1, 2, 3, 11, 12);
	values[3] = scall3(getpid, 1, 2, 3, 11, 12, 13);
	values[4] = scall4(getpid, 1, 2, 3, 11, 12, 13, 14);
	values[5] = scall5(getpid, 1, 2, 3, 11, 12, 13, 14, 15);
	values[6] = scall6(getpid, 1, 2, 3, 11, 12, 13, 14, 15, 16);
	check(are_made(values), "assigned slots");
	check(argument_of(scall1(getpid, 0, 0, 0, text)) == (long)text, "passed slot");
}

static void word_copies(void)
{
	long ret[5] = { 77, 77, 77, 77, 77 };
	long copied = 0;
	syscall_t b[] = {
		scall0(getpid, 0, 0, 0),
		scall2(wdcpy, -1, 0, 0, &b[2].arg[0], &ret[0]),
		scall1(getpgid, -1, -1, 1, -1),
		scall2(wdcpy, 0, 0, 0, &copied, &ret[1]),
		scall2(wdcpy, -1, 0, 0, &copied, &ret[2]),
	};

	check(batch(ret, b, 5, 0, 0) == 4, "last slot");
	check(b[2].arg[0] == ret[0], "word copied into a later slot");
	check(ret[2] > 0 && copied == ret[2], "word copied from an earlier result");
	check(ret[3] == 77, "skipped slot");
}

static void go_tos(void)
{
	long rets[5] = { 77, 77, 77, 77, 77 };
	int fail = 1;
	syscall_t b[] = {
		{ -1, 1, 0, 0, 0, { 0 } },	scall0(getpid, 0, 0, 0),
		scall0(exit_group, fail, 0, 0), scall0(getpid, 0, 0, 0),
		scall0(getppid, 0, -1, -1),
	};

	check(batch(rets, b, 5, 0, 0) == 4, "go-to and blocked call");
	check(rets[0] == -ENOSYS && rets[1] == 77 && rets[2] == -ENOSYS && rets[3] == 77,
	      "results of go-tos");
}

static void refusals(void)
{
	long ret = 77;

	check(batch(&ret, flat, 1, 1, 0) == 0 && batch(&ret, flat, 1, -1, 0) == 0, "any flags");
	check(batch(&ret, flat, 1, 0, 63) == 0 && ret == getpid(), "any size");
	errno = 0;
	check(batch(&ret, flat, 1, 0, 0) == 0 && !errno, "errno");
	check(batch(&ret, flat, BATCH_MAX_SLOTS + 1, 0, 0) == -1 && errno == EINVAL,
	      "too many slots");
	check(batch(&ret, NULL, 1, 0, 0) == -1 && errno == EFAULT, "no slots");
	check(batch(NULL, NULL, 0, 0, 0) == 0, "empty batch");
	check(batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0) == 0x303, "query");
	check(ret == getpid(), "results of refused batches");
}

int main(void)
{
	forms_of_a_slot();
	word_copies();
	go_tos();
	refusals();
	return failures != 0;
}
