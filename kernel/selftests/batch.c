// SPDX-License-Identifier: GPL-2.0
/* The semantics of a batch: order, jumps, word copies, forwarding, limits, faults. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <sys/mman.h>

#include "ferry_test.h"

#define PAGE 4096UL
#define NO_SUCH_CALL 600 /* no architecture here has as many */

/* Arrays that end right before inaccessible pages. */
FIXTURE(batch)
{
	char *calls_page;
	char *rets_page;
	/* Set by PLACE(). */
	struct ferry_slot *calls;
	long *rets;
};

static void *guarded_page(void)
{
	char *map = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + PAGE, PAGE, PROT_READ | PROT_WRITE))
		return NULL;
	memset(map + PAGE, 0xa7, PAGE);
	return map + PAGE;
}

FIXTURE_SETUP(batch)
{
	if (!have_batch())
		SKIP(return, NO_BATCH);
	self->calls_page = guarded_page();
	self->rets_page = guarded_page();
	ASSERT_NE(NULL, self->calls_page);
	ASSERT_NE(NULL, self->rets_page);
}

FIXTURE_TEARDOWN(batch)
{
}

/* The address at which NCALL slots end with their page. */
static struct ferry_slot *place_calls(char *page, const struct ferry_slot calls[], size_t ncall)
{
	struct ferry_slot *placed = (struct ferry_slot *)(page + PAGE) - ncall;

	return memcpy(placed, calls, ncall * sizeof(*calls));
}

static long *place_rets(char *page, size_t ncall)
{
	long *rets = (long *)(page + PAGE);

	while (ncall--)
		*--rets = UNTOUCHED;
	return rets;
}

#define PLACE(array)								\
	do {									\
		__typeof__(array) *_array = &(array);				\
		size_t _n = ARRAY_SIZE(*_array);				\
										\
		self->calls = place_calls(self->calls_page, *_array, _n);	\
		self->rets = place_rets(self->rets_page, _n);			\
	} while (0)

/* Whether the bytes before the results still have the value from guarded_page(). */
static bool is_intact(const char *page, const long *rets)
{
	while (page < (char *)rets)
		if (*page++ != (char)0xa7)
			return false;
	return true;
}

#define EXPECT_BATCH(returned, batch_calls, ...)				\
	do {									\
		__typeof__(batch_calls) *_calls = &(batch_calls);		\
		const long _want[] = { __VA_ARGS__ };				\
		size_t _ncall = ARRAY_SIZE(*_calls), _i;			\
										\
		ASSERT_EQ(_ncall, ARRAY_SIZE(_want));				\
		PLACE(*_calls);							\
		EXPECT_EQ(returned, batch(self->rets, self->calls, _ncall));	\
		for (_i = 0; _i < _ncall; _i++)					\
			EXPECT_EQ(_want[_i], self->rets[_i])			\
				TH_LOG("rets[%zu]", _i);			\
		EXPECT_TRUE(is_intact(self->rets_page, self->rets));		\
		EXPECT_EQ(0, memcmp(self->calls, *_calls, sizeof(*_calls)));	\
	} while (0)

/* ---- order and jumps ---- */

TEST_F(batch, runs_its_slots_in_order)
{
	int file = memfd_create("order", 0);
	char got[4] = "";
	const struct ferry_slot calls[] = {
		SLOT(__NR_write, file, P("a"), 1),
		SLOT(__NR_write, file, P("bc"), 2),
		SLOT(__NR_pread64, file, P(got), 3, 0),
		SLOT(__NR_getpid),
	};

	EXPECT_BATCH(3, calls, 1, 2, 3, THIS_PROCESS);
	EXPECT_STREQ("abc", got);
}

TEST_F(batch, jumps_by_the_result)
{
	long from = 1, to;
	const struct ferry_slot calls[] = {
		jumping(SLOT(NO_SUCH_CALL), 1, 0, 0),
		SLOT(__NR_getpid),
		jumping(WORD_COPY(&to, &from), 0, 2, 0),
		SLOT(__NR_getpid),
		SLOT(__NR_getpid),
		jumping(SLOT(__NR_getpid), 0, 0, 1),
		SLOT(__NR_getpid),
		jumping(SLOT(__NR_close, -1), -1, 5, 5),
		SLOT(__NR_getpid),
	};

	EXPECT_BATCH(7, calls, -ENOSYS, UNTOUCHED, 0, UNTOUCHED, UNTOUCHED, THIS_PROCESS,
		     UNTOUCHED, -EBADF, UNTOUCHED);
}

TEST_F(batch, ends_past_the_end)
{
	const struct ferry_slot far[] = {
		jumping(SLOT(__NR_getpid), 0, 0, SHRT_MAX),
		SLOT(__NR_getpid),
	};
	const struct ferry_slot just[] = {
		jumping(SLOT(__NR_getpid), 0, 0, 1),
		SLOT(__NR_getpid),
	};

	EXPECT_BATCH(0, far, THIS_PROCESS, UNTOUCHED);
	EXPECT_BATCH(0, just, THIS_PROCESS, UNTOUCHED);
}

TEST_F(batch, of_nothing_returns_zero)
{
	EXPECT_EQ(0, batch(NULL, NULL, 0));
}

TEST_F(batch, fetches_a_slot_when_its_turn_comes)
{
	struct ferry_slot calls[] = { SLOT(0), SLOT(NO_SUCH_CALL), SLOT(NO_SUCH_CALL) };
	struct ferry_slot later = SLOT(__NR_getpid);

	PLACE(calls);
	self->calls[0] = WORD_COPY(&self->calls[2], &later);
	EXPECT_EQ(2, batch(self->rets, self->calls, 3));
	EXPECT_EQ(0, self->rets[0]);
	EXPECT_EQ(-ENOSYS, self->rets[1]);
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);
}

TEST_F(batch, finishes_a_close_before_the_next_slot)
{
	int ends[2];
	char byte;

	ASSERT_EQ(0, pipe(ends));

	const struct ferry_slot calls[] = {
		SLOT(__NR_close, ends[1]),
		SLOT(__NR_read, ends[0], P(&byte), 1),
	};

	EXPECT_BATCH(1, calls, 0, 0);
}

/* ---- word copies and forwarding ---- */

TEST_F(batch, copies_words)
{
	long to = 0, from = 0x123456789abcdef;
	const struct ferry_slot calls[] = {
		WORD_COPY(&to, &from),
		WORD_COPY(&to, NULL),
		WORD_COPY(NULL, &from),
		WORD_COPY(&to, -8L),
		WORD_COPY(-8L, &from),
		WORD_COPY(&to, self->calls_page + PAGE),
	};

	EXPECT_BATCH(5, calls, 0, -EFAULT, -EFAULT, -EFAULT, -EFAULT, -EFAULT);
	EXPECT_EQ(from, to);
}

TEST_F(batch, forwards_results)
{
	int file = memfd_create("forward", 0);
	const struct ferry_slot calls[] = {
		SLOT(__NR_write, file, P("abc"), 3),
		SLOT(__NR_fcntl, file, F_DUPFD, 100),
		forwarding(forwarding(SLOT(__NR_write, -1, P("de"), -1), 0, 1), 2, 2),
		forwarding(SLOT(__NR_close, -1), 0, 2),
	};

	EXPECT_BATCH(3, calls, 3, 100, 3, 0);
	EXPECT_EQ(6, lseek(file, 0, SEEK_END));
}

TEST_F(batch, refuses_what_cannot_be_forwarded)
{
	struct ferry_slot calls[] = {
		forwarding(SLOT(__NR_getpid), 0, 1),
		forwarding(SLOT(__NR_getpid), 5, 2),
		forwarding(SLOT(__NR_getpid), 0, 1),
		forwarding(SLOT(__NR_getpid), 0, 1),
		SLOT(__NR_getpid),
		SLOT(__NR_getpid),
	};

	calls[2].reserved = 1;
	calls[3].argc = FERRY_ARGC_FORWARD | 7;
	calls[4].argc = 7;
	calls[5].reserved = 1; /* used only with bit 7 of argc */
	EXPECT_BATCH(5, calls, -EINVAL, -EINVAL, -EINVAL, -ENOSYS, -ENOSYS, THIS_PROCESS);
}

/* ---- numbers ---- */

#define BLOCKED_ROW(limit, nr, name, reason)	\
	[(nr) & ((limit) - 1)] = name ": " reason,

static const char *const blocked[FERRY_BLOCKED_LIMIT] = {
	FERRY_BLOCKED_TABLE(BLOCKED_ROW, FERRY_BLOCKED_LIMIT)
};

TEST_F(batch, makes_no_blocked_call)
{
	struct ferry_slot call[1];
	int nr;

	for (nr = 0; nr < FERRY_BLOCKED_LIMIT; nr++) {
		if (!blocked[nr])
			continue;
		call[0] = SLOT(nr);
		PLACE(call);
		EXPECT_EQ(0, batch(self->rets, self->calls, 1));
		EXPECT_EQ(-ENOSYS, self->rets[0])
			TH_LOG("%s", blocked[nr]);
	}
}

TEST_F(batch, knows_no_other_numbers)
{
	const struct ferry_slot calls[] = {
		SLOT(-1), SLOT(-3), SLOT(SHRT_MIN), SLOT(SHRT_MAX), SLOT(512), SLOT(NO_SUCH_CALL),
	};

	EXPECT_BATCH(5, calls, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS, -ENOSYS);
}

/* ---- arguments of batch() ---- */

TEST_F(batch, answers_the_query_and_nothing_like_it)
{
	const struct ferry_slot call[] = { SLOT(__NR_getpid) };
	const long features = FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD;

	PLACE(call);
	EXPECT_EQ(FERRY_ABI_VERSION | features << FERRY_FEATURE_SHIFT,
		  raw_batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(self->rets, NULL, 0, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(NULL, self->calls, 0, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(NULL, NULL, 1, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(NULL, NULL, 0, FERRY_BATCH_QUERY, sizeof(call)));
}

TEST_F(batch, refuses_unknown_flags_and_sizes)
{
	static const long sizes[] = { 1, 63, 65, 128, -1, LONG_MIN };
	const struct ferry_slot call[] = { SLOT(__NR_getpid) };
	size_t i;

	PLACE(call);
	for (i = 0; i < 64; i++) {
		if (1L << i != FERRY_BATCH_RESUME)
			EXPECT_EQ(-EINVAL, raw_batch(self->rets, self->calls, 1, 1L << i, 0));
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		EXPECT_EQ(-EINVAL, raw_batch(self->rets, self->calls, 1, 0, sizes[i]));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	EXPECT_EQ(0, raw_batch(self->rets, self->calls, 1, 0, 0));
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
}

TEST_F(batch, refuses_arrays_that_nothing_could_hold)
{
	const struct ferry_slot call[] = { SLOT(__NR_getpid) };

	PLACE(call);
	EXPECT_EQ(-EINVAL, batch(self->rets, self->calls, FERRY_MAX_SLOTS + 1));
	EXPECT_EQ(-EINVAL, batch(self->rets, self->calls, -1UL));
	EXPECT_EQ(-EFAULT, batch(self->rets, NULL, 1));
	EXPECT_EQ(-EFAULT, batch(self->rets, (struct ferry_slot *)-64L, 1));
	EXPECT_EQ(-EFAULT, batch(self->rets, (struct ferry_slot *)LONG_MIN, 1));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	/* A batch shorter than ncall ends where its memory ends. */
	EXPECT_EQ(0, batch(self->rets, self->calls, FERRY_MAX_SLOTS));
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
}

TEST_F(batch, keeps_the_registers_of_its_caller)
{
	const struct ferry_slot calls[] = {
		SLOT(__NR_getpid, 1, 2, 3, 4, 5, 6),
		SLOT(__NR_close, -1, 2, 3, 4, 5, 6),
	};

	PLACE(calls);

	const long before[] = { P(self->rets), P(self->calls), 2, 0, sizeof(*calls), 0x1234567 };
	long arg[FERRY_MAX_ARGS];

	memcpy(arg, before, sizeof(arg));
	EXPECT_EQ(1, raw_call(FERRY_NR_BATCH, arg));
	EXPECT_EQ(0, memcmp(before, arg, sizeof(arg)));
}

/* ---- faults ---- */

TEST_F(batch, ends_where_its_slots_do)
{
	const struct ferry_slot calls[] = { SLOT(__NR_getpid), SLOT(__NR_getpid) };
	struct ferry_slot *last;

	PLACE(calls);
	/* rets has room for slots that do not exist. */
	EXPECT_EQ(1, batch(self->rets - 8, self->calls, 8));
	EXPECT_EQ(THIS_PROCESS, self->rets[-7]);
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	EXPECT_EQ(-EFAULT, batch(self->rets, self->calls + 2, 1));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);

	/* A slot that is only partly in memory does not run either. */
	last = (struct ferry_slot *)(self->calls_page + PAGE - 40);
	memcpy(last, calls, 40);
	EXPECT_EQ(-EFAULT, batch(self->rets, last, 1));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

static sigjmp_buf after_fault;
static void *fault_address;

static void note_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	fault_address = info->si_addr;
	siglongjmp(after_fault, sig);
}

/* Runs the batch.  Returns the address of the fault that ended it, or NULL. */
static void *fault_of(long *rets, struct ferry_slot *calls, unsigned long ncall)
{
	const struct sigaction action = {
		.sa_sigaction = note_fault,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGSEGV, &action, NULL);
	fault_address = NULL;
	if (!sigsetjmp(after_fault, 1))
		batch(rets, calls, ncall);
	return fault_address;
}

TEST_F(batch, raises_sigsegv_where_results_cannot_be_stored)
{
	long stored = 0, from = 1;
	struct ferry_slot calls[4] = {};
	long *end;

	PLACE(calls);
	end = self->rets + 4;
	self->calls[0] = SLOT(__NR_getpid);
	self->calls[1] = SLOT(__NR_getpid);
	self->calls[2] = SLOT(__NR_getpid);
	self->calls[3] = WORD_COPY(&stored, &from);

	EXPECT_EQ((void *)end, fault_of(end - 2, self->calls, 4));
	EXPECT_EQ(THIS_PROCESS, end[-1]);
	EXPECT_EQ(0, stored);
	EXPECT_EQ((void *)8L, fault_of((long *)8L, self->calls, 4));

	ASSERT_EQ(0, mprotect(self->rets_page, PAGE, PROT_READ));
	EXPECT_EQ((void *)self->rets, fault_of(self->rets, self->calls, 4));
}

TEST_F(batch, writes_no_result_above_user_space)
{
	struct ferry_slot calls[] = { SLOT(__NR_getpid), SLOT(__NR_getpid) };

	PLACE(calls);
	EXPECT_NE(NULL, fault_of((long *)-16L, self->calls, 2));
	EXPECT_NE(NULL, fault_of((long *)LONG_MIN, self->calls, 2));
	EXPECT_NE(NULL, fault_of((long *)0xffffffff81000000, self->calls, 2));
}

TEST_HARNESS_MAIN
