// SPDX-License-Identifier: MIT
/* Batches that destroy what they depend on: slots, results, files, descriptors, registers. */
#include <sys/resource.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#include "hostile.h"

static sigjmp_buf after_fault;
static void *fault_address;

static void note_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	fault_address = info->si_addr;
	siglongjmp(after_fault, sig);
}

/* Runs a batch that must raise SIGSEGV at ADDRESS. */
static void expect_fault(long rets[], const struct batch_slot calls[], unsigned long ncall,
			 const void *address)
{
	const struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };

	expect(!sigaction(SIGSEGV, &action, NULL));
	if (!sigsetjmp(after_fault, 1)) {
		run_batch(rets, calls, ncall);
		suite_fail(__FILE__, __LINE__, "the batch came back");
	}
	expect_equal((long)fault_address, (long)address);
}

/* ---- slots ---- */

/* Runs getpid, UNDERMINE and getpid, at the start of PAGE; two of them give results. */
static void expect_end_after(void *page, struct batch_slot undermine)
{
	long rets[] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_slot *calls = page;

	calls[0] = SLOT(SYS_getpid);
	calls[1] = undermine;
	calls[2] = SLOT(SYS_getpid);
	expect_equal(run_batch(rets, calls, 3), 1);
	expect_equal(rets[0], getpid());
	expect_equal(rets[1], 0);
	expect_equal(rets[2], UNTOUCHED);
}

/* True in user-mode Linux, which reads memory even if its processes may not. */
static bool reads_what_cannot_be_read(void)
{
	char *page = new_page();
	int file = memory_file();

	page[0] = 'x';
	expect(!mprotect(page, PAGE, PROT_NONE));
	return write(file, page, 1) == 1;
}

TEST(a_batch_that_takes_its_slots_away_ends_there)
{
	void *page = new_page();
	void *file_page;
	int file = memory_file();

	expect_end_after(page, SLOT(SYS_munmap, page, PAGE));
	page = new_page();
	if (!reads_what_cannot_be_read())
		expect_end_after(page, SLOT(SYS_mprotect, page, PAGE, PROT_NONE));

	expect(!ftruncate(file, PAGE));
	file_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	expect(file_page != MAP_FAILED);
	expect_end_after(file_page, SLOT(SYS_ftruncate, file, 0));
}

TEST(a_batch_that_moves_its_slots_away_ends_there)
{
	struct batch_slot *calls = new_page();
	long rets[] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	char *elsewhere = new_page();

	calls[0] = SLOT(SYS_getpid);
	calls[1] = SLOT(SYS_mremap, calls, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
	calls[2] = SLOT(SYS_getpid);
	expect_equal(run_batch(rets, calls, 3), 1);
	expect_equal(rets[1], (long)elsewhere);
	expect_equal(rets[2], UNTOUCHED);
}

/* Slots are fetched one at a time; the content at that time runs. */
TEST(a_batch_may_map_other_slots_over_its_own)
{
	struct batch_slot *calls = new_page();
	struct batch_slot others[3] = { SLOT(-1), SLOT(-1), SLOT(SYS_getppid) };
	const long results[] = { getpid(), (long)calls, getppid() };
	int file = memory_file();
	long rets[3];

	expect_equal(write(file, others, sizeof(others)), sizeof(others));
	calls[0] = SLOT(SYS_getpid);
	calls[1] = SLOT(SYS_mmap, calls, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
	calls[2] = SLOT(SYS_getpid);
	expect_equal(run_batch(rets, calls, 3), 2);
	expect_bytes(rets, results, sizeof(results));
}

TEST(a_batch_may_punch_a_hole_into_its_slots)
{
	int file = memory_file();
	struct batch_slot *calls;
	long rets[] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	const long of_zeros = result_of_zeros();

	expect(!ftruncate(file, PAGE));
	calls = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	expect(calls != MAP_FAILED);
	calls[0] = SLOT(SYS_getpid);
	calls[1] = SLOT(SYS_madvise, calls, PAGE, MADV_REMOVE);
	calls[2] = SLOT(SYS_getpid);
	expect_equal(run_batch(rets, calls, 3), 2);
	expect_equal(rets[1], 0);
	expect_equal(rets[2], of_zeros);
}

/* riscv64 copies fewer than 72 bytes one by one, and more by words. */
TEST(a_write_copies_up_to_a_fault)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct batch_slot calls[] = { SLOT(SYS_pwrite64, memory_file(), pages + PAGE - 3, 100,
						 0) };
	long written;

	expect(pages != MAP_FAILED && !mprotect(pages + PAGE, PAGE, PROT_NONE));
	patience(60);
	expect_equal(run_batch(&written, calls, 1), 0);
	expect_equal(written, 3);
}

/* ---- results ---- */

static void expect_fault_after(long *rets, struct batch_slot undermine)
{
	const struct batch_slot calls[] = { SLOT(SYS_getpid), undermine, SLOT(SYS_getpid) };

	expect_fault(rets, calls, 3, &rets[1]);
}

TEST(a_batch_that_takes_its_results_away_faults)
{
	long *rets = new_page();

	expect_fault_after(rets, SLOT(SYS_munmap, rets, PAGE));
	rets = new_page();
	expect_fault_after(rets, SLOT(SYS_mprotect, rets, PAGE, PROT_READ));
	expect_equal(rets[0], getpid());
	expect_equal(rets[1], 0);
	rets = new_page();
	expect_fault_after(rets, SLOT(SYS_mprotect, rets, PAGE, PROT_NONE));
}

TEST(a_batch_may_forget_its_results)
{
	long *rets = new_page();
	const struct batch_slot calls[] = { SLOT(SYS_getpid),
					    SLOT(SYS_madvise, rets, PAGE, MADV_DONTNEED),
					    SLOT(SYS_getpid) };

	expect_equal(run_batch(rets, calls, 3), 2);
	expect_equal(rets[0], 0);
	expect_equal(rets[1], 0);
	expect_equal(rets[2], getpid());
}

TEST(a_batch_may_take_everything_away)
{
	char *both = new_page();
	struct batch_slot *calls = (struct batch_slot *)both;
	long *rets = (long *)(both + PAGE / 2);

	calls[0] = SLOT(SYS_getpid);
	calls[1] = SLOT(SYS_munmap, both, PAGE);
	expect_fault(rets, calls, 3, &rets[1]);
}

/* ---- descriptors ---- */

TEST(a_batch_may_close_what_it_uses)
{
	int file = memory_file();
	int copy = dup(file);
	char byte;
	const struct batch_slot calls[] = {
		SLOT(SYS_write, file, "a", 1),
		SLOT(SYS_close, file),
		SLOT(SYS_write, file, "b", 1),
		SLOT(SYS_pread64, copy, &byte, 1, 0),
		SLOT(SYS_close_range, 0, ~0U, 0),
		SLOT(SYS_pread64, copy, &byte, 1, 0),
		SLOT(SYS_close, copy),
		SLOT(SYS_getpid),
	};
	long rets[ARRAY_SIZE(calls)];
	const long results[] = { 1, 0, -EBADF, 1, 0, -EBADF, -EBADF, getpid() };

	expect_equal(run_batch(rets, calls, ARRAY_SIZE(calls)), ARRAY_SIZE(calls) - 1);
	if (memcmp(rets, results, sizeof(results)) != 0 || byte != 'a')
		_exit(3); /* no descriptor is left for a message */
}

TEST(a_batch_may_forbid_itself_descriptors)
{
	const struct rlimit none = { 0, 0 };
	const struct batch_slot calls[] = {
		SLOT(SYS_prlimit64, 0, RLIMIT_NOFILE, &none, NULL),
		SLOT(SYS_openat, AT_FDCWD, "/", O_RDONLY),
		SLOT(SYS_dup, 0),
	};
	long rets[3];

	expect_equal(run_batch(rets, calls, 3), 2);
	expect_equal(rets[0], 0);
	expect_equal(rets[1], -EMFILE);
	expect_equal(rets[2], -EMFILE);
}

/* ---- thread state ---- */

#ifdef __x86_64__

/* The memory at %fs is unmapped for a while, but nothing runs in user space meanwhile. */
TEST(a_batch_may_change_the_base_of_fs)
{
	unsigned long base = 0;
	unsigned long seen = 0;
	const struct batch_slot calls[] = {
		SLOT(SYS_arch_prctl, ARCH_GET_FS, &base),
		SLOT(SYS_arch_prctl, ARCH_SET_FS, 0x10000),
		SLOT(SYS_arch_prctl, ARCH_GET_FS, &seen),
		SLOT(BATCH_WDCPY, NULL, &base),
		SLOT(SYS_arch_prctl, ARCH_SET_FS, 0),
	};
	struct batch_slot run[ARRAY_SIZE(calls)];
	long rets[ARRAY_SIZE(calls)];

	memcpy(run, calls, sizeof(calls));
	run[3].arg[0] = (long)&run[4].arg[1];
	expect_equal(run_batch(rets, run, ARRAY_SIZE(run)), ARRAY_SIZE(run) - 1);
	expect_equal(rets[1], 0);
	expect_equal(rets[4], 0);
	expect_equal(seen, 0x10000);
	errno = 7; /* thread-local */
	expect_equal(errno, 7);
}
#endif
