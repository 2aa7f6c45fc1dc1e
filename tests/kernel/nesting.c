// SPDX-License-Identifier: MIT
/* A batch within a batch, by any of its numbers, gives -ENOSYS. */
#include "hostile.h"

TEST(no_batch_runs_within_a_batch)
{
	static const short numbers[] = { FERRY_NR_BATCH, FERRY_NR_BATCH_ALIAS };
	long inner_ret = UNTOUCHED;
	struct ferry_slot inner = SLOT(SYS_getpid);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct ferry_slot calls[] = {
			SLOT(numbers[i], &inner_ret, &inner, 1, 0, 64),
			SLOT(numbers[i], &inner_ret, &inner, 1, FERRY_BATCH_RESUME, 64),
			SLOT(numbers[i], NULL, NULL, 0, FERRY_BATCH_QUERY, 0),
			SLOT(SYS_getpid),
		};

		expect_pure(calls, 3, -ENOSYS, -ENOSYS, -ENOSYS, getpid());
	}
	expect_equal(inner_ret, UNTOUCHED);
}

/* A batch that runs its own slots does not loop for ever. */
TEST(a_batch_does_not_run_itself)
{
	struct guarded batch = guarded_new(2, AT_END);
	const long results[] = { -ENOSYS, -ENOSYS };

	batch.calls[0] = SLOT(FERRY_NR_BATCH, batch.rets, batch.calls, 2, 0, 64);
	batch.calls[1] = SLOT(FERRY_NR_BATCH_ALIAS, batch.rets, batch.calls, 2, 0, 64);
	expect_equal(run_batch(batch.rets, batch.calls, 2), 1);
	expect_rets(&batch, results);
}
