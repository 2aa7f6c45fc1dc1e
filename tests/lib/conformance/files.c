// SPDX-License-Identifier: MIT
/* Reading and writing files of every kind: results, contents, offsets, errors. */
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "contract/suite.h"

/* ---- extreme counts and offsets; the reference is the same call made alone ---- */

static const long odd_counts[] = {
	0,	    1,		4096,	    0x7ffff000,	 0x7ffff001,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x100000005,
	1L << 47,   LONG_MAX,	-1,	    LONG_MIN,	 (1L << 32) - 4096,
};

TEST(counts_are_whole_words)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct batch_slot calls[4 * ARRAY_SIZE(odd_counts)];
	long results[ARRAY_SIZE(calls)];
	static char byte;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		static const short numbers[] = { SYS_write, SYS_read, SYS_pwrite64, SYS_pread64 };
		short nr = numbers[i / ARRAY_SIZE(odd_counts)];
		long count = odd_counts[i % ARRAY_SIZE(odd_counts)];

		calls[i] = SLOT(nr, null, &byte, count, 0);
		results[i] = ferry_rawcall(nr, null, (long)&byte, count, 0, 0, 0);
	}
	expect_run(calls, ARRAY_SIZE(calls), results);
	close(null);
}

TEST(offsets_are_whole_words_and_negative_ones_refused)
{
	static const long offsets[] = { 0,	  1,	    5,	      6,
					7,	  -1,	    -2,	      INT_MIN,
					LONG_MIN, LONG_MAX, 1L << 32, (1L << 32) - 1,
					1L << 40, -4096 };
	int file = disk_file();
	struct batch_slot calls[2 * ARRAY_SIZE(offsets)];
	long results[ARRAY_SIZE(calls)];
	char byte;
	size_t i;

	expect_equal(write(file, "abcdef", 6), 6);
	lseek(file, 2, SEEK_SET);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		short nr = i < ARRAY_SIZE(offsets) ? SYS_pread64 : SYS_pwrite64;
		long offset = offsets[i % ARRAY_SIZE(offsets)];

		/* No byte is written, so the file stays small. */
		calls[i] = SLOT(nr, file, &byte, nr == SYS_pread64, offset);
		results[i] = ferry_rawcall(nr, file, (long)&byte, nr == SYS_pread64, offset, 0, 0);
	}
	expect_run(calls, ARRAY_SIZE(calls), results);
	expect_equal(results[5], -EINVAL);
	expect_equal(lseek(file, 0, SEEK_CUR), 2);
	close(file);
}

/* One odd call among 100 good ones; its result must be the same as when made alone. */
struct odd_one {
	struct batch_slot good;
	struct batch_slot odd;
	int at;
};

static void run_odd_one(void *arg)
{
	const struct odd_one *one = arg;
	const __s64 *odd = one->odd.arg;
	struct batch_slot calls[100];
	long results[100];
	int i;

	for (i = 0; i < 100; i++) {
		calls[i] = one->good;
		results[i] = one->good.arg[2];
	}
	calls[one->at] = one->odd;
	results[one->at] = ferry_rawcall(one->odd.nr, odd[0], odd[1], odd[2], odd[3], 0, 0);
	expect_run(calls, 100, results);
}

/* Each in a child, because an engine may back off after a run that fell short. */
static void expect_odd_one(struct batch_slot good, int arg, long value)
{
	static const int places[] = { 0, 1, 50, 98, 99 };
	struct odd_one one = { good, good, 0 };
	size_t i;

	one.odd.arg[arg] = value;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		one.at = places[i];
		expect_child(run_odd_one, &one);
	}
}

TEST(odd_arguments_within_a_run_count_for_their_slot_alone)
{
	static const long offsets[] = { -1, -2, LONG_MIN, LONG_MAX, 1L << 32, 60, 64 };
	static unsigned char buffer[8];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
	int file = disk_file();
	size_t i;

	expect_equal(write(file, pattern(64), 64), 64);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		expect_odd_one(SLOT(SYS_pread64, file, buffer, 8, 0), 3, offsets[i]);
		expect_odd_one(SLOT(SYS_pread64, zero, buffer, 8, 0), 3, offsets[i]);
		expect_odd_one(SLOT(SYS_pwrite64, null, buffer, 8, 0), 3, offsets[i]);
	}
	for (i = 0; i < ARRAY_SIZE(odd_counts); i++)
		expect_odd_one(SLOT(SYS_write, null, buffer, 8), 2, odd_counts[i]);
	expect_odd_one(SLOT(SYS_read, zero, buffer, 8), 1, 0);
	expect_odd_one(SLOT(SYS_read, zero, buffer, 8), 1, LONG_MIN);
	expect_odd_one(SLOT(SYS_write, null, buffer, 8), 1, LONG_MIN);
	expect_odd_one(SLOT(SYS_pread64, file, buffer, 8, 0), 0, null);
	close(null);
	close(zero);
	close(file);
}

TEST(the_upper_half_of_a_descriptor_argument_is_ignored)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const long high = 1L << 32;
	struct batch_slot calls[40];
	long results[40];
	size_t i;

	for (i = 0; i < 40; i++) {
		calls[i] = SLOT(SYS_write, null + high * (long)(i % 3), "x", 1);
		results[i] = 1;
	}
	calls[7].arg[0] = -1;
	calls[8].arg[0] = INT_MIN;
	calls[9].arg[0] = INT_MAX;
	calls[10].arg[0] = -100; /* AT_FDCWD */
	for (i = 7; i <= 10; i++)
		results[i] = -EBADF;
	expect_run(calls, 40, results);
	close(null);
}

/* ---- which errors ---- */

/* A run of 40 calls NR on FD must give ERROR each. */
static void expect_refusals(short nr, int fd, void *buffer, size_t size, long offset, long error)
{
	struct batch_slot calls[40];
	long results[40];
	size_t i;

	for (i = 0; i < 40; i++) {
		calls[i] = SLOT(nr, fd, buffer, size, offset);
		results[i] = error;
	}
	expect_run(calls, 40, results);
	expect_equal(ferry_rawcall(nr, fd, (long)buffer, (long)size, offset, 0, 0), error);
}

TEST(reads_and_writes_fail_as_they_do_alone)
{
	int reader = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int writer = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int path = open("/dev/null", O_PATH | O_CLOEXEC);
	int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int full = open("/dev/full", O_RDWR | O_CLOEXEC);
	int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char byte = 0;

	expect_refusals(SYS_write, reader, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_pwrite64, reader, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_read, writer, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_pread64, writer, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_read, path, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_write, path, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_read, 19999, &byte, 1, 0, -EBADF);
	expect_refusals(SYS_read, directory, &byte, 1, 0, -EISDIR);
	expect_refusals(SYS_pread64, directory, &byte, 1, 0, -EISDIR);
	expect_refusals(SYS_write, full, &byte, 1, 0, -ENOSPC);
	expect_refusals(SYS_read, zero, NULL, 1, 0, -EFAULT);
	expect_refusals(SYS_read, zero, (void *)LONG_MIN, 1, 0, -EFAULT);
	close(reader);
	close(writer);
	close(path);
	close(directory);
	close(full);
	close(zero);
}

TEST(pipes_sockets_and_counters_have_no_offsets)
{
	int ends[2];
	int counter = eventfd(3, EFD_NONBLOCK | EFD_CLOEXEC);
	long value;

	expect(!pipe2(ends, O_NONBLOCK | O_CLOEXEC));
	expect_equal(write(ends[1], "data", 4), 4);
	expect_refusals(SYS_pread64, ends[0], &value, 1, 0, -ESPIPE);
	expect_refusals(SYS_pwrite64, ends[1], &value, 1, 0, -ESPIPE);
	expect_refusals(SYS_pread64, ends[0], &value, 1, -1, -EINVAL);
	expect_refusals(SYS_lseek, ends[0], NULL, SEEK_CUR, 0, -ESPIPE);
	/* eventfds count, but before 6.11 the kernel treats them as files with a position. */
	value = ferry_rawcall(SYS_pread64, counter, (long)&value, 4, 0, 0, 0);
	expect_refusals(SYS_pread64, counter, &value, 4, 0, value);
	close(ends[0]);
	close(ends[1]);
	close(counter);
}

TEST(a_bad_buffer_fails_only_its_own_slot)
{
	int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
	unsigned char *map =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct batch_slot calls[100];
	long results[100];
	unsigned char byte;
	int i;

	expect(map != MAP_FAILED);
	expect(!mprotect(map + PAGE, PAGE, PROT_NONE));
	for (i = 0; i < 100; i++) {
		calls[i] = SLOT(SYS_read, zero, &byte, 1);
		results[i] = 1;
	}
	calls[33] = SLOT(SYS_read, zero, NULL, 1);
	calls[50] = SLOT(SYS_read, zero, map + PAGE, 10);
	calls[51] = SLOT(SYS_read, zero, map + PAGE - 10, 20);
	calls[99] = SLOT(SYS_read, zero, (void *)-4096L, 1);
	results[33] = -EFAULT;
	results[50] = -EFAULT;
	/* The device decides how much of a partly mapped buffer it fills. */
	results[51] = ferry_rawcall(SYS_read, zero, (long)(map + PAGE - 10), 20, 0, 0, 0);
	results[99] = -EFAULT;
	expect_run(calls, 100, results);
	munmap(map, 2 * PAGE);
	close(zero);
}

/* ---- descriptors opened and closed in the middle of a run ---- */

TEST(a_descriptor_closed_within_a_run_is_gone_behind_it)
{
	int file = memory_file();
	int kept = fcntl(file, F_DUPFD_CLOEXEC, 100);
	struct batch_slot calls[80];
	long results[80];
	int i;

	for (i = 0; i < 80; i++) {
		calls[i] = SLOT(SYS_write, file, "x", 1);
		results[i] = i < 40 ? 1 : -EBADF;
	}
	calls[40] = SLOT(SYS_close, file);
	results[40] = 0;
	expect_run(calls, 80, results);
	expect_equal(lseek(kept, 0, SEEK_END), 40);
	close(kept);
}

TEST(a_descriptor_replaced_within_a_run_leads_elsewhere_behind_it)
{
	int first = memory_file();
	int second = memory_file();
	int fd = dup(first);
	struct batch_slot calls[81];
	long results[81];
	int i;

	for (i = 0; i < 81; i++) {
		calls[i] = SLOT(SYS_write, fd, "x", 1);
		results[i] = 1;
	}
	calls[30] = SLOT(SYS_dup3, second, fd, 0);
	results[30] = fd;
	expect_run(calls, 81, results);
	expect_equal(lseek(first, 0, SEEK_END), 30);
	expect_equal(lseek(second, 0, SEEK_END), 50);
	close(first);
	close(second);
	close(fd);
}

TEST(status_flags_changed_within_a_run_hold_behind_it)
{
	int file = memory_file();
	struct batch_slot calls[64];
	long results[64];
	char got[8];
	int i;

	expect_equal(write(file, "0123456789", 10), 10);
	for (i = 0; i < 64; i++) {
		calls[i] = SLOT(SYS_pwrite64, file, "x", 1, 0);
		results[i] = 1;
	}
	/* With O_APPEND, pwrite appends (pwrite(2), BUGS). */
	calls[32] = SLOT(SYS_fcntl, file, F_SETFL, O_APPEND);
	results[32] = 0;
	expect_run(calls, 64, results);
	expect_equal(lseek(file, 0, SEEK_END), 10 + 31);
	expect_equal(pread(file, got, 3, 0), 3);
	expect_bytes(got, "x12", 3);
	close(file);
}

/* ---- offsets ---- */

TEST(seeks_within_a_run_move_what_follows)
{
	size_t kind;

	for (kind = 0; kind < FILE_KINDS; kind++) {
		int file = file_kinds[kind]();
		unsigned char got[64];
		struct batch_slot calls[64];
		long results[64];
		int i;

		expect_equal(write(file, pattern(100), 100), 100);
		for (i = 0; i < 64; i++) {
			calls[i] = SLOT(SYS_read, file, &got[i], 1);
			results[i] = 1;
		}
		calls[0] = SLOT(SYS_lseek, file, 5, SEEK_SET);
		results[0] = 5;
		calls[20] = SLOT(SYS_lseek, file, 50, SEEK_SET);
		results[20] = 50;
		calls[40] = SLOT(SYS_lseek, file, -40, SEEK_CUR);
		results[40] = 50 + 19 - 40;
		expect_run(calls, 64, results);
		for (i = 1; i < 20; i++)
			expect_equal(got[i], pattern(100)[5 + i - 1]);
		for (i = 21; i < 40; i++)
			expect_equal(got[i], pattern(100)[50 + i - 21]);
		for (i = 41; i < 64; i++)
			expect_equal(got[i], pattern(100)[29 + i - 41]);
		expect_equal(lseek(file, 0, SEEK_CUR), 29 + 23);
		close(file);
	}
}

TEST(descriptors_of_one_description_share_its_offset)
{
	int file = disk_file();
	int twin = dup(file);
	struct batch_slot calls[90];
	long results[90];
	unsigned char got[90];
	int i;

	for (i = 0; i < 90; i++) {
		calls[i] = SLOT(SYS_write, i % 3 ? file : twin, pattern(90) + i, 1);
		results[i] = 1;
	}
	expect_run(calls, 90, results);
	expect_equal(pread(file, got, 90, 0), 90);
	expect_bytes(got, pattern(90), 90);
	expect_equal(lseek(twin, 0, SEEK_CUR), 90);
	close(file);
	close(twin);
}

TEST(writes_with_o_append_go_to_the_end)
{
	size_t kind;

	for (kind = 0; kind < FILE_KINDS; kind++) {
		int file = file_kinds[kind]();
		struct batch_slot calls[70];
		long results[70];
		unsigned char got[145];
		int i;

		expect_equal(write(file, "12345", 5), 5);
		expect(!fcntl(file, F_SETFL, O_APPEND));
		for (i = 0; i < 70; i++) {
			calls[i] = SLOT(i % 2 ? SYS_write : SYS_pwrite64, file,
					pattern(256) + 2 * i, 2, 0);
			results[i] = 2;
		}
		lseek(file, 1, SEEK_SET);
		expect_run(calls, 70, results);
		expect_equal(pread(file, got, 145, 0), 145);
		expect_bytes(got + 5, pattern(140), 140);
		close(file);
	}
}

TEST(a_read_finds_what_an_earlier_slot_wrote)
{
	size_t kind;

	for (kind = 0; kind < FILE_KINDS; kind++) {
		int file = file_kinds[kind]();
		struct batch_slot calls[200];
		long results[200];
		unsigned char got[100];
		int i;

		for (i = 0; i < 100; i++) {
			calls[2 * i] = SLOT(SYS_pwrite64, file, pattern(256) + i, 1, i % 7);
			calls[2 * i + 1] = SLOT(SYS_pread64, file, &got[i], 1, i % 7);
			results[2 * i] = 1;
			results[2 * i + 1] = 1;
		}
		expect_run(calls, 200, results);
		expect_bytes(got, pattern(100), 100);
		close(file);
	}
}

/* A file whose pages are not in memory: reads that have to wait keep their order. */
TEST(files_that_are_not_cached_are_read_in_order)
{
	int file = disk_file();
	struct batch_slot calls[65];
	long results[65];
	static unsigned char got[64 * 512];
	int i;

	expect_equal(write(file, pattern(sizeof(got)), sizeof(got)), sizeof(got));
	expect(!fsync(file));
	for (i = 0; i < 64; i++) {
		calls[i] = SLOT(SYS_pread64, file, got + (63 - i) * 512, 512, (63 - i) * 512);
		results[i] = 512;
	}
	/* The last changes what the first read; the first must have been first. */
	calls[64] = SLOT(SYS_pwrite64, file, "changed!", 8, 63 * 512);
	results[64] = 8;
	expect(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
	expect_run(calls, 65, results);
	expect_bytes(got, pattern(sizeof(got)), sizeof(got));
	close(file);
}

/* ---- vectors ---- */

TEST(vectors_are_read_and_written_whole)
{
	int file = disk_file();
	unsigned char got[3][8];
	struct iovec out[] = { { (void *)pattern(16), 5 }, { (void *)(pattern(16) + 5), 11 } };
	struct iovec in[] = { { got[0], 8 }, { got[1], 0 }, { got[2], 8 } };
	struct batch_slot calls[] = {
		SLOT(SYS_writev, file, out, 2),	      SLOT(SYS_pwritev, file, out, 2, 16, 0),
		SLOT(SYS_preadv, file, in, 3, 16, 0), SLOT(SYS_preadv2, file, in, 3, 0, 0, 0),
		SLOT(SYS_writev, file, out, -1),      SLOT(SYS_readv, file, NULL, 1),
		SLOT(SYS_readv, file, in, 3),	      SLOT(SYS_preadv2, file, in, 3, 0, 0, 0x10000),
	};

	expect_batch(calls, 7, 16, 16, 16, 16, -EINVAL, -EFAULT, 16, -EOPNOTSUPP);
	expect_bytes(got[0], pattern(16), 8);
	expect_bytes(got[2], pattern(16) + 8, 8);
	close(file);
}

/* ---- limits ---- */

static volatile sig_atomic_t signals_seen;

static void count_signal(int sig)
{
	(void)sig;
	signals_seen++;
}

static void write_beyond_the_limit(void *arg)
{
	const struct rlimit limit = { 100, 100 };
	struct sigaction action = { .sa_handler = count_signal };
	int file = *(int *)arg;
	struct batch_slot calls[60];
	long results[60];
	int i;

	expect(!setrlimit(RLIMIT_FSIZE, &limit));
	sigaction(SIGXFSZ, &action, NULL);
	for (i = 0; i < 60; i++) {
		calls[i] = SLOT(SYS_write, file, pattern(3), 3);
		results[i] = i < 33 ? 3 : i == 33 ? 1 : -EFBIG;
	}
	expect_run(calls, 60, results);
	expect_equal(signals_seen, 26);
	expect_equal(lseek(file, 0, SEEK_END), 100);
}

TEST(writes_beyond_rlimit_fsize_fail_and_signal_each_time)
{
	size_t kind;

	for (kind = 0; kind < FILE_KINDS; kind++) {
		int file = file_kinds[kind]();

		expect_child(write_beyond_the_limit, &file);
		close(file);
	}
}

static void write_beyond_the_limit_unprepared(void *arg)
{
	const struct rlimit limit = { 10, 10 };
	int file = *(int *)arg;
	struct batch_slot calls[40];
	long rets[40];
	int i;

	expect(!setrlimit(RLIMIT_FSIZE, &limit));
	for (i = 0; i < 40; i++)
		calls[i] = SLOT(SYS_write, file, pattern(1), 1);
	run_batch(rets, calls, 40);
}

TEST(sigxfsz_kills_by_default)
{
	int file = memory_file();

	expect_killed(write_beyond_the_limit_unprepared, &file, SIGXFSZ);
	expect_equal(lseek(file, 0, SEEK_END), 10);
	close(file);
}

/* ---- calls other than reads and writes ---- */

TEST(calls_other_than_reads_and_writes_run_in_between)
{
	int file = disk_file();
	struct stat status;
	struct statx extended;
	struct batch_slot calls[] = {
		SLOT(SYS_write, file, pattern(64), 64),
		SLOT(SYS_fsync, file),
		SLOT(SYS_ftruncate, file, 10),
		SLOT(SYS_fstat, file, &status),
		SLOT(SYS_write, file, pattern(64), 6),
		SLOT(SYS_fallocate, file, 0, 0, 200),
		SLOT(SYS_statx, file, "", AT_EMPTY_PATH, STATX_SIZE, &extended),
		SLOT(SYS_fdatasync, file),
		SLOT(SYS_fadvise64, file, 0, 0, 99),
		SLOT(SYS_ftruncate, file, -1),
	};
	long allocated = ferry_rawcall(SYS_fallocate, file, 0, 0, 200, 0, 0);

	expect(!ftruncate(file, 0));
	expect_batch(calls, 9, 64, 0, 0, 0, 6, allocated, 0, 0, -EINVAL, -EINVAL);
	expect_equal(status.st_size, 10);
	expect_equal(extended.stx_size, allocated ? 70 : 200);
	close(file);
}

TEST(direct_io_gives_the_results_of_separate_calls)
{
	const char *directory = getenv("TMPDIR");
	int file = open(directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC,
			0600);
	unsigned char *pages =
		mmap(NULL, 20 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct batch_slot calls[30];
	long results[30];
	int i;

	if (file < 0)
		suite_skip("no O_DIRECT or no O_TMPFILE here");
	memcpy(pages, pattern(10 * PAGE), 10 * PAGE);
	for (i = 0; i < 30; i++) {
		unsigned long at = (unsigned long)(i % 10) * PAGE;

		if (i < 10)
			calls[i] = SLOT(SYS_pwrite64, file, pages + at, PAGE, at);
		else
			calls[i] = SLOT(SYS_pread64, file, pages + 10 * PAGE + at, PAGE, at);
		results[i] = PAGE;
	}
	expect_run(calls, 30, results);
	expect_bytes(pages + 10 * PAGE, pages, 10 * PAGE);
	munmap(pages, 20 * PAGE);
	close(file);
}
