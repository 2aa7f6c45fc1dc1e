// SPDX-License-Identifier: MIT
/* Slots and results in memory of every kind, and slots that change its kind. */
#include "beside.h"

#define SYS_MSEAL 462
#define HUGE_PAGE (2UL << 20)
#define PKEY_NO_ACCESS 1
#define PKEY_NO_WRITE 2

static void tell_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	tell("signal %d, code %d\n", sig, info->si_code);
	_exit(3);
}

static void tell_faults(void)
{
	const struct sigaction action = { .sa_sigaction = tell_fault, .sa_flags = SA_SIGINFO };

	expect(!sigaction(SIGSEGV, &action, NULL));
	expect(!sigaction(SIGBUS, &action, NULL));
}

static void tell_results(const long rets[], unsigned int count, long last)
{
	unsigned int i;

	tell("last %ld\n", last);
	for (i = 0; i < count; i++)
		tell("%u: %ld\n", i, rets[i]);
}

static void fill(struct batch_slot calls[], unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		calls[i] = SLOT(SYS_getuid);
}

/* ---- protection keys ---- */

/* Sets the rights of KEY to BITS, and gives all others; false where this does not know how. */
static bool set_rights(long key, unsigned int bits)
{
#ifdef __x86_64__
	__asm__ volatile(".byte 0x0f, 0x01, 0xef" /* wrpkru */
			 :
			 : "a"(bits << 2 * key), "c"(0), "d"(0));
	return true;
#else
	(void)key;
	(void)bits;
	return false;
#endif
}

static long new_key(void)
{
	long key = syscall(SYS_pkey_alloc, 0, 0);

	if (key < 0 || !set_rights(key, 0))
		suite_skip("needs protection keys");
	return key;
}

static void store_with(unsigned int bits)
{
	long *rets = shared_memory(PAGE);
	struct batch_slot calls[2];
	long key = new_key();
	long last;

	fill(calls, 2);
	tell_faults();
	expect(!syscall(SYS_pkey_mprotect, rets, PAGE, PROT_READ | PROT_WRITE, key));
	set_rights(key, bits);
	last = run_batch(rets, calls, 2);
	set_rights(key, 0);
	tell_results(rets, 2, last);
}

BESIDE_THE_LOOP(a_key_may_forbid_to_write_results)
{
	store_with(PKEY_NO_WRITE);
}

BESIDE_THE_LOOP(a_key_may_forbid_all_access_to_results)
{
	store_with(PKEY_NO_ACCESS);
}

/* The key protects the slots from number 64 on; PROTECT says whether it does from the start. */
static void fetch_with_key(bool from_the_start)
{
	struct batch_slot *calls = shared_memory(2 * PAGE);
	struct batch_slot *protected = calls + PAGE / sizeof(*calls);
	static long rets[128];
	long key = new_key();
	long last;

	fill(calls, 128);
	tell_faults();
	if (from_the_start)
		expect(!syscall(SYS_pkey_mprotect, protected, PAGE, PROT_READ | PROT_WRITE, key));
	else
		calls[3] = SLOT(SYS_pkey_mprotect, protected, PAGE, PROT_READ | PROT_WRITE, key);
	set_rights(key, PKEY_NO_ACCESS);
	last = run_batch(rets, calls, 128);
	set_rights(key, 0);
	tell_results(rets, 128, last);
}

BESIDE_THE_LOOP(a_key_may_forbid_to_read_slots)
{
	fetch_with_key(true);
}

BESIDE_THE_LOOP(a_slot_may_put_later_slots_under_a_key)
{
	fetch_with_key(false);
}

/* ---- huge, secret, executable and sealed pages ---- */

static char *huge_pages(const char *reserved, size_t size, int flags)
{
	int file = open("/proc/sys/vm/nr_hugepages", O_WRONLY | O_CLOEXEC);
	char *map;

	if (file >= 0) {
		expect(write(file, reserved, strlen(reserved)) > 0);
		close(file);
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
	if (map == MAP_FAILED)
		suite_skip("needs huge pages");
	return map;
}

BESIDE_THE_LOOP(slots_and_results_may_lie_in_huge_pages)
{
	char *map = huge_pages("2", 2 * HUGE_PAGE, 0);
	struct batch_slot *calls = (void *)map;
	long *rets = (void *)(map + HUGE_PAGE);

	tell_faults();
	fill(calls, 4);
	calls[2] = SLOT(SYS_madvise, rets, HUGE_PAGE, MADV_DONTNEED);
	tell_results(rets, 4, run_batch(rets, calls, 4));
}

BESIDE_THE_LOOP(there_may_be_no_huge_page_for_results)
{
	long *rets = (void *)huge_pages("0", HUGE_PAGE, MAP_NORESERVE);
	struct batch_slot calls[2];

	fill(calls, 2);
	tell_faults();
	tell_results(rets, 2, run_batch(rets, calls, 2));
}

BESIDE_THE_LOOP(slots_and_results_may_be_secret)
{
	int file = (int)syscall(SYS_memfd_secret, 0);
	struct batch_slot *calls;
	long *rets;
	char *map;

	if (file < 0 || ftruncate(file, 2 * PAGE))
		suite_skip("needs memfd_secret()");
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		suite_skip("needs locked memory");
	calls = (void *)map;
	rets = (void *)(map + PAGE);
	tell_faults();
	fill(calls, 3);
	calls[1] = SLOT(SYS_write, open("/dev/null", O_WRONLY), map, 8);
	tell_results(rets, 3, run_batch(rets, calls, 3));
}

BESIDE_THE_LOOP(slots_that_can_only_be_executed)
{
	struct batch_slot *calls = shared_memory(PAGE);
	long rets[3];

	fill(calls, 3);
	tell_faults();
	expect(!mprotect(calls, PAGE, PROT_EXEC));
	tell("last %ld\n", run_batch(rets, calls, 3));
}

BESIDE_THE_LOOP(a_slot_may_seal_the_slots)
{
	struct script *s = shared_memory(2 * PAGE);

	tell_faults();
	add_slot(s, SLOT(SYS_MSEAL, s, 2 * PAGE, 0));
	add_slot(s, SLOT(SYS_munmap, s, 2 * PAGE));
	add_slot(s, SLOT(SYS_mprotect, s, PAGE, PROT_NONE));
	add_slot(s, SLOT(SYS_mremap, s, PAGE, 2 * PAGE, 1));
	add_slot(s, SLOT(SYS_getuid));
	run_script(s);
}

BESIDE_THE_LOOP(the_pages_of_slots_and_results_may_be_swapped_merged_and_copied)
{
	struct script *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const struct batch_slot later = { .nr = SYS_getuid };
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	pid_t pid;

	expect(s != MAP_FAILED && mem >= 0);
	/* Which advice there is depends on the kernel. */
	add_slot(s, SLOT(SYS_madvise, s, sizeof(*s), MADV_MERGEABLE));
	add_slot(s, SLOT(SYS_pwrite64, mem, &later, sizeof(later), &s->calls[2]));
	add_slot(s, SLOT(-1));
	add_slot(s, SLOT(SYS_madvise, s, sizeof(*s), 21 /* MADV_PAGEOUT */));
	add_slot(s, SLOT(SYS_madvise, s, sizeof(*s), MADV_HUGEPAGE));
	add_slot(s, SLOT(SYS_getuid));
	pid = fork(); /* the pages are shared with the child until they are written */
	if (!pid) {
		usleep(100000);
		_exit(0);
	}
	run_script(s);
	expect_equal(waitpid(pid, NULL, 0), pid);
}
