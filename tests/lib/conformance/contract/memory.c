// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Partly mapped arrays: calls that cannot be read, results that cannot be stored. */
#include "suite.h"

static unsigned char *map_pages(size_t pages)
{
	void *map = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	expect(map != MAP_FAILED);
	return map;
}

TEST(calls_that_cannot_be_read_give_efault)
{
	unsigned char *gone = map_pages(2);
	struct batch_slot *bad[] = {
		NULL,
		(struct batch_slot *)8,
		(struct batch_slot *)64,
		(struct batch_slot *)gone,
		(struct batch_slot *)(gone + PAGE + 8),
		(struct batch_slot *)LONG_MIN,		 /* not an address */
		(struct batch_slot *)0xffff800000000000, /* the kernel's */
		(struct batch_slot *)0xffffffffff600000, /* the vsyscall page */
		(struct batch_slot *)-4096L,
		(struct batch_slot *)-64L, /* ends at the end of addresses */
		(struct batch_slot *)-56L, /* and beyond */
		(struct batch_slot *)-8L,
	};
	long ret = UNTOUCHED;
	size_t i;

	expect(!mprotect(gone, 2 * PAGE, PROT_NONE));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		expect_equal(run_batch(&ret, bad[i], 1), -EFAULT);
		expect_equal(run_batch(&ret, bad[i], 100), -EFAULT);
		expect_equal(run_batch(&ret, bad[i], BATCH_MAX_SLOTS), -EFAULT);
		expect_equal(ret, UNTOUCHED);
	}
	munmap(gone, 2 * PAGE);
}

/*
 * Removes the page at ADDRESS and reserves its address.  Protecting the page is not
 * enough: user-mode Linux reads protected pages on behalf of a process.
 */
static void make_unreadable(void *address)
{
	expect(mmap(address, PAGE, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       address);
}

/* Slot I gives I. */
static void fill(struct batch_slot calls[], long rets[], long count)
{
	long i;

	for (i = 0; i < count; i++) {
		calls[i] = result_of(i);
		rets[i] = UNTOUCHED;
	}
}

/* N slots whose memory ends after CUT bytes, at an unreadable page. */
static void expect_cut(unsigned long n, size_t cut)
{
	unsigned char *map = map_pages(8);
	unsigned char *calls = map + 4 * PAGE - cut;
	long whole = (long)(cut / sizeof(struct batch_slot));
	struct batch_slot slot;
	long rets[300];
	long i;

	for (i = 0; i < (long)n; i++) {
		slot = result_of(i);
		memcpy(calls + (size_t)i * sizeof(slot), &slot, sizeof(slot));
		rets[i] = UNTOUCHED;
	}
	make_unreadable(map + 4 * PAGE);
	expect_equal(run_batch(rets, (void *)calls, n), whole ? whole - 1 : -EFAULT);
	for (i = 0; i < (long)n; i++)
		expect_equal(rets[i], i < whole ? i : UNTOUCHED);
	munmap(map, 8 * PAGE);
}

TEST(a_batch_ends_before_the_first_slot_that_cannot_be_read)
{
	static const size_t cuts[] = { 0, 64, 128, 640, 4032, 4096, 4160, 8192, 3 * 4096 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cuts); i++)
		expect_cut(200, cuts[i]);
}

TEST(a_slot_that_is_only_partly_there_does_not_run)
{
	size_t part;

	for (part = 8; part < 64; part += 8) {
		expect_cut(1, part);
		expect_cut(5, 2 * 64 + part);
		expect_cut(150, 70 * 64 + part);
	}
}

TEST(slots_may_straddle_pages)
{
	unsigned char *map = map_pages(4);
	size_t part;

	for (part = 8; part < 64; part += 8) {
		struct batch_slot *calls = (struct batch_slot *)(map + part);
		long rets[180];
		long i;

		fill(calls, rets, 180);
		expect_equal(run_batch(rets, calls, 180), 179);
		for (i = 0; i < 180; i++)
			expect_equal(rets[i], i);
	}
	munmap(map, 4 * PAGE);
}

TEST(a_jump_over_pages_that_cannot_be_read_goes_on_behind_them)
{
	unsigned char *map = map_pages(4);
	struct batch_slot *calls = (struct batch_slot *)map;
	long rets[256];
	long i;

	fill(calls, rets, 256);
	calls[10] = jumping(result_of(10), 0, 0, 256 - 30 - 11);
	munmap(map + PAGE, PAGE);
	make_unreadable(map + 2 * PAGE);
	expect_equal(run_batch(rets, calls, 256), 255);
	for (i = 0; i < 256; i++)
		expect_equal(rets[i], i <= 10 || i >= 226 ? i : UNTOUCHED);
	munmap(map, 4 * PAGE);
}

TEST(a_jump_into_a_page_that_cannot_be_read_ends_the_batch_there)
{
	unsigned char *map = map_pages(3);
	struct batch_slot *calls = (struct batch_slot *)map;
	long rets[192];
	long i;

	fill(calls, rets, 192);
	calls[20] = jumping(result_of(20), 0, 0, 79);
	munmap(map + PAGE, PAGE);
	expect_equal(run_batch(rets, calls, 192), 20);
	for (i = 0; i < 192; i++)
		expect_equal(rets[i], i <= 20 ? i : UNTOUCHED);
	munmap(map, 3 * PAGE);
}

/* Slot 10 takes away the slots behind the first page. */
TEST(a_slot_may_remove_the_pages_to_come)
{
	unsigned char *map = map_pages(4);
	struct batch_slot *calls = (struct batch_slot *)map;
	long rets[256];
	long i;

	fill(calls, rets, 256);
	calls[10] = SLOT(SYS_mmap, map + PAGE, 3 * PAGE, PROT_NONE,
			 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect_equal(run_batch(rets, calls, 256), 63);
	for (i = 0; i < 256; i++)
		if (i != 10)
			expect_equal(rets[i], i < 64 ? i : UNTOUCHED);
	munmap(map, 4 * PAGE);
}

TEST(calls_beyond_the_end_of_a_mapped_file_cannot_be_read)
{
	int file = memory_file();
	struct batch_slot *calls;
	long rets[100];
	long i;

	expect(!ftruncate(file, 2 * PAGE));
	calls = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	expect(calls != MAP_FAILED);
	fill(calls, rets, 100);
	expect(!ftruncate(file, PAGE));
	expect_equal(run_batch(rets, calls, 100), 63);
	for (i = 0; i < 100; i++)
		expect_equal(rets[i], i < 64 ? i : UNTOUCHED);
	munmap(calls, 2 * PAGE);
	close(file);
}

TEST(calls_may_be_read_only)
{
	struct batch_slot *calls = (struct batch_slot *)map_pages(1);
	long rets[3];

	calls[0] = result_of(1);
	calls[1] = forwarding(result_of(2), 1, 1);
	calls[2] = SLOT(SYS_getpid);
	expect(!mprotect(calls, PAGE, PROT_READ));
	expect_equal(run_batch(rets, calls, 3), 2);
	expect_equal(rets[0], 1);
	expect_equal(rets[1], 1);
	expect_equal(rets[2], getpid());
	munmap(calls, PAGE);
}

/* ---- results ---- */

TEST(results_that_are_jumped_over_need_not_be_writable)
{
	long *rets = (long *)map_pages(3);
	struct guarded batch = guarded_new(1536, AT_END);
	long i;

	for (i = 0; i < 1536; i++)
		batch.calls[i] = result_of(i);
	batch.calls[500] = jumping(result_of(500), 0, 0, 524);
	expect(!mprotect(rets + 512, PAGE, PROT_NONE));
	expect_equal(run_batch(rets, batch.calls, 1536), 1535);
	for (i = 0; i < 1536; i++)
		if (i < 512 || i >= 1024)
			expect_equal(rets[i], i <= 500 || i >= 1025 ? i : 0);
	munmap(rets, 3 * PAGE);
}

static void store_to(void *arg)
{
	struct batch_slot calls[] = { result_of(1) };

	run_batch(arg, calls, 1);
}

/* UBSan reports a store to NULL itself, before the processor can. */
#define SIGNAL_OF_NULL (SANITIZED ? SIGABRT : SIGSEGV)

TEST(results_that_cannot_be_stored_raise_sigsegv)
{
	unsigned char *map = map_pages(1);

	expect_killed(store_to, NULL, SIGNAL_OF_NULL);
	expect_killed(store_to, (void *)8, SIGSEGV);
	expect(!mprotect(map, PAGE, PROT_READ));
	expect_killed(store_to, map, SIGSEGV);
	expect(!mprotect(map, PAGE, PROT_NONE));
	expect_killed(store_to, map, SIGSEGV);
	munmap(map, PAGE);
	expect_killed(store_to, map, SIGSEGV);
	expect_killed(store_to, (void *)-16L, SIGSEGV); /* above user space */
	expect_killed(store_to, (void *)LONG_MIN, SIGSEGV);
	expect_killed(store_to, (void *)0xffffffff81000000, SIGSEGV);
}

/* The first half of the results can be stored, and is, before the signal. */
static sigjmp_buf after_fault;
static void *fault_address;

static void leave(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	fault_address = info->si_addr;
	siglongjmp(after_fault, 1);
}

/* Runs 80 slots, of which 40 find room for their results.  Returns the array. */
static long *run_with_half_the_room(struct batch_slot calls[80])
{
	const struct sigaction action = { .sa_sigaction = leave, .sa_flags = SA_SIGINFO };
	long *rets = (long *)(map_pages(2) + PAGE) - 40;

	expect(!mprotect(rets + 40, PAGE, PROT_NONE));
	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(after_fault, 1)) {
		run_batch(rets, calls, 80);
		expect(!"a bad result pointer raises SIGSEGV");
	}
	return rets;
}

static void store_half(void *arg)
{
	struct batch_slot calls[80];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	long *rets, ran = 0, one = 1;
	int i;

	for (i = 0; i < 80; i++)
		calls[i] = arg ? SLOT(SYS_write, null, "x", 1) : result_of(1);
	calls[79] = WORD_COPY(&ran, &one);
	rets = run_with_half_the_room(calls);
	for (i = 0; i < 40; i++)
		expect_equal(rets[i], 1);
	expect_equal((long)fault_address, (long)&rets[40]);
	expect_equal(ran, 0);
	/* The thread can still run batches. */
	expect_run(calls, 2, ((const long[]){ 1, 1 }));
}

/* A result that is stored is that of a call that was made. */
static void store_half_of_reads(void *arg)
{
	struct batch_slot calls[80];
	unsigned char bytes[80] = { 0 };
	int file = disk_file();
	long *rets;
	int i;

	(void)arg;
	expect_equal(write(file, pattern(80), 80), 80);
	for (i = 0; i < 80; i++)
		calls[i] = SLOT(SYS_pread64, file, &bytes[i], 1, i);
	rets = run_with_half_the_room(calls);
	for (i = 0; i < 40; i++)
		expect(!rets[i] || (rets[i] == 1 && bytes[i] == pattern(80)[i]));
}

TEST(results_before_one_that_cannot_be_stored_are_stored)
{
	expect_child(store_half, NULL);
	expect_child(store_half, "");
	expect_child(store_half_of_reads, NULL);
}

static char *room;

static void make_room(int sig)
{
	(void)sig;
	mprotect(room, PAGE, PROT_READ | PROT_WRITE);
}

/* Each call is made once, although its result is stored late. */
TEST(a_handler_may_make_room_for_results)
{
	const struct sigaction action = { .sa_handler = make_room };
	int file = memory_file();
	struct batch_slot calls[100];
	long *rets;
	int i;

	room = (char *)map_pages(2) + PAGE;
	rets = (long *)room - 50;
	for (i = 0; i < 100; i++)
		calls[i] = SLOT(SYS_write, file, "x", 1);
	calls[50] = jumping(calls[50], 0, 0, 9);
	expect(!sigaction(SIGSEGV, &action, NULL));
	expect(!mprotect(room, PAGE, PROT_READ));
	expect_equal(run_batch(rets, calls, 100), 99);
	for (i = 0; i < 100; i++)
		expect_equal(rets[i], i <= 50 || i >= 60);
	expect_equal(lseek(file, 0, SEEK_END), 91);
	munmap(room - PAGE, 2 * PAGE);
	close(file);
}

static siginfo_t fault;

static void note_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	fault = *info;
	siglongjmp(after_fault, 1);
}

static void expect_fault(void *address, int sig, int code)
{
	struct batch_slot call = result_of(1);

	memset(&fault, 0, sizeof(fault));
	if (!sigsetjmp(after_fault, 1))
		run_batch(address, &call, 1);
	expect_equal(fault.si_signo, sig);
	expect_equal(fault.si_code, code);
	expect_equal((long)fault.si_addr, (long)address);
}

TEST(a_result_that_cannot_be_stored_raises_the_signal_of_a_store)
{
	const struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	unsigned char *map = map_pages(1);
	int file = memory_file();
	void *end_of_file;

	expect(!sigaction(SIGSEGV, &action, NULL));
	expect(!sigaction(SIGBUS, &action, NULL));
	expect(!mprotect(map, PAGE, PROT_READ));
	expect_fault(map, SIGSEGV, SEGV_ACCERR);
	munmap(map, PAGE);
	expect_fault(map, SIGSEGV, SEGV_MAPERR);
	end_of_file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	expect(end_of_file != MAP_FAILED);
	expect_fault(end_of_file, SIGBUS, BUS_ADRERR);
	munmap(end_of_file, PAGE);
	close(file);
}

/* Slot 1 unmaps the page of result 0, and slot 2 forwards that result. */
static void forward_from(void *arg)
{
	unsigned char *map = map_pages(2);
	struct batch_slot calls[] = { result_of(1), SLOT(SYS_munmap, map, PAGE),
				      forwarding(result_of(2), 1, 2) };

	(void)arg;
	run_batch((long *)(map + PAGE) - 1, calls, 3);
}

TEST(forwarding_from_results_that_cannot_be_read_raises_sigsegv)
{
	expect_killed(forward_from, NULL, SIGSEGV);
}
