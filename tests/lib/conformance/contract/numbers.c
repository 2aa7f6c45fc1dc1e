// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Call numbers: negative, unknown, blocked, and their neighbours. */
#include <sched.h>

#include <linux/subcall.h>

#include "suite.h"

static void expect_enosys(short nr, unsigned char argc)
{
	struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(nr, 0, 0, 0, 0, 0, 0), result_of(1),
				      result_of(2) };

	calls[1].argc = argc;
	expect_pure(calls, 3, getpid(), -ENOSYS, 1, 2);
	/* It jumps like any failure. */
	calls[1] = jumping(calls[1], 1, -1, -1);
	expect_pure(calls, 3, getpid(), -ENOSYS, UNTOUCHED, 2);
}

TEST(negative_numbers_are_never_implemented)
{
	static const short numbers[] = {
		-1,    -3,     -4,	 -39,		-500,	      -501, -512,
		-4096, -32767, SHRT_MIN, SHRT_MIN + 39, SHRT_MIN + 1, -511, SHRT_MIN + 57
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		expect_enosys(numbers[i], 0);
	expect_enosys(-1, 6);
	expect_enosys(-1, BATCH_ARGC_FORWARD);
}

TEST(negative_numbers_ignore_their_arguments)
{
	struct batch_slot calls[] = { SLOT(-1, -1, 8, LONG_MIN, LONG_MAX, 1, -4096), SLOT(-3, 8, 8),
				      SLOT(SHRT_MIN, 8, 8) };

	expect_pure(calls, 2, -ENOSYS, -ENOSYS, -ENOSYS);
}

TEST(unknown_numbers_give_enosys)
{
	static const short numbers[] = { 510,  511,  512,  513,	   512 + 39, 1023,
					 1024, 4096, 8191, 0x4000, 32766,    32767 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		expect_enosys(numbers[i], 0);
}

static const struct {
	int nr;
	const char *name;
} blocked[] = {
#define ROW(ctx, number, text, reason) { number, text },
	SUBCALL_BLOCKED_TABLE(ROW, 0)
#undef ROW
};

TEST(every_blocked_call_is_refused)
{
	static const unsigned char argcs[] = {
		0, 1, 2, 3, 4, 5, 6, BATCH_ARGC_FORWARD, BATCH_ARGC_FORWARD | 6
	};
	size_t i;
	size_t a;

	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		for (a = 0; blocked[i].nr >= 0 && a < ARRAY_SIZE(argcs); a++)
			expect_enosys((short)blocked[i].nr, argcs[a]);
}

/* With arguments with which each of them would succeed. */
static void refuse_with_real_arguments(void *arg)
{
	static char *const argv[] = { "/bin/false", NULL };
	char stack[64];
	struct batch_slot calls[] = {
		SLOT(SYS_execve, "/bin/false", argv, argv + 1),
		SLOT(SYS_execveat, AT_FDCWD, "/bin/false", argv, argv + 1, 0),
		SLOT(SYS_clone, SIGCHLD, 0, 0, 0, 0),
		SLOT(SYS_clone, CLONE_VM, stack + sizeof(stack), 0, 0, 0),
		SLOT(SYS_exit, 3),
		SLOT(SYS_exit_group, 3),
		SLOT(SUBCALL_NR_BATCH, 0, 0),
	};

	(void)arg;
	expect_batch(calls, 6, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS);
	expect_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	expect_equal(errno, ECHILD);
	_exit(42);
}

TEST(blocked_calls_have_no_effect)
{
	int status = in_child(refuse_with_real_arguments, NULL);

	expect(WIFEXITED(status));
	expect_equal(WEXITSTATUS(status), 42);
}

TEST(all_blocked_calls_in_one_batch_are_refused)
{
	struct batch_slot calls[ARRAY_SIZE(blocked)];
	long results[ARRAY_SIZE(blocked)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked); i++) {
		calls[i] = SLOT(blocked[i].nr, 0, 0, 0, 0, 0, 0);
		results[i] = -ENOSYS;
	}
	expect_run(calls, ARRAY_SIZE(blocked), results);
	expect_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	expect_equal(errno, ECHILD);
}

TEST(a_blocked_call_within_a_run_of_writes_fails_in_its_place)
{
	struct batch_slot calls[100];
	long results[100];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		calls[i] = SLOT(SYS_write, null, "x", 1);
		results[i] = 1;
	}
	calls[40] = SLOT(SYS_exit_group, 1);
	calls[70] = SLOT(-7);
	results[40] = -ENOSYS;
	results[70] = -ENOSYS;
	expect_run(calls, 100, results);
	close(null);
}

/* Neighbours in the table of calls, which a wrong bitmap would block too. */
TEST(calls_numbered_next_to_blocked_ones_are_made)
{
	struct batch_slot calls[] = { SLOT(SYS_wait4, -1, 0, WNOHANG, 0), SLOT(SYS_uname, 8),
				      SLOT(SYS_kill, getpid(), 0) };

	expect_pure(calls, 2, -ECHILD, -EFAULT, 0);
}

/* ---- a batch within a batch ---- */

TEST(no_batch_runs_within_a_batch)
{
	struct batch_slot inner = SLOT(SYS_getpid);
	long inner_ret = UNTOUCHED;
	struct batch_args args = { (unsigned long)&inner_ret, (unsigned long)&inner, 1 };
	struct batch_slot calls[] = {
		SLOT(SUBCALL_NR_BATCH, &args, sizeof(args)),
		SLOT(SUBCALL_NR_BATCH, NULL, 0),
		SLOT(SYS_getpid),
	};

	expect_pure(calls, 2, -ENOSYS, -ENOSYS, getpid());
	expect_equal(inner_ret, UNTOUCHED);
}

/* It would not end. */
TEST(a_batch_does_not_run_itself)
{
	struct guarded batch = guarded_new(2, AT_END);
	struct batch_args args = { (unsigned long)batch.rets, (unsigned long)batch.calls, 2 };
	const long results[] = { -ENOSYS, -ENOSYS };

	batch.calls[0] = SLOT(SUBCALL_NR_BATCH, &args, sizeof(args));
	batch.calls[1] = batch.calls[0];
	expect_equal(run_batch(batch.rets, batch.calls, 2), 1);
	expect_rets(&batch, results);
}
