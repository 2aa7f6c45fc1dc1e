// SPDX-License-Identifier: MIT
/* Runs of similar calls: each sees what those before it did.  A page holds 64 slots. */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "contract/suite.h"

#define LONGEST 300

static const int lengths[] = { 1, 2, 33, 64, 65, 300 };

/* Calls FN for every length. */
static void for_each_length(void (*fn)(int n))
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		fn(lengths[i]);
}

static struct batch_slot calls[LONGEST];
static long results[LONGEST];
static unsigned char got[LONGEST * 16];

static void write_to_null(int n)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int i;

	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_write, null, pattern(LONGEST), i);
		results[i] = i;
	}
	expect_run(calls, n, results);
	close(null);
}

TEST(a_run_of_writes_to_dev_null_gives_every_count)
{
	for_each_length(write_to_null);
}

static void read_from_zero(int n)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int i;

	memset(got, 1, sizeof(got));
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_read, zero, got + 16 * i, i % 16);
		results[i] = i % 16;
	}
	expect_run(calls, n, results);
	for (i = 0; i < LONGEST * 16; i++)
		expect_equal(got[i], i / 16 < n && i % 16 < i / 16 % 16 ? 0 : 1);
	close(zero);
}

TEST(a_run_of_reads_of_dev_zero_fills_every_buffer)
{
	for_each_length(read_from_zero);
}

static void write_then_read(int n, int file)
{
	int i;

	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_write, file, pattern(8 * LONGEST) + 8 * i, 8);
		results[i] = 8;
	}
	expect_run(calls, n, results);
	expect_equal(lseek(file, 0, SEEK_CUR), 8 * n);
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_pread64, file, got + 8 * i, 8, 8 * i);
		results[i] = 8;
	}
	memset(got, 0, sizeof(got));
	expect_run(calls, n, results);
	expect_bytes(got, pattern(8 * LONGEST), 8 * (size_t)n);
}

static void write_then_read_each(int n)
{
	size_t kind;

	for (kind = 0; kind < FILE_KINDS; kind++) {
		int file = file_kinds[kind]();

		write_then_read(n, file);
		close(file);
	}
}

TEST(a_run_of_writes_and_preads_moves_every_byte_of_a_file)
{
	for_each_length(write_then_read_each);
}

/* Reads of 7 bytes each; the file ends after two thirds of them, in the middle of a read. */
static void read_across_the_end(int n)
{
	int file = disk_file();
	long size = 14L * n / 3 + 1;
	long at = 0;
	int i;

	expect_equal(write(file, pattern(16 * LONGEST), (size_t)size), size);
	lseek(file, 0, SEEK_SET);
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_read, file, got + 7 * i, 7);
		results[i] = size - at < 7 ? size - at : 7;
		at += results[i];
	}
	memset(got, 0, sizeof(got));
	expect_run(calls, n, results);
	expect_bytes(got, pattern(16 * LONGEST), (size_t)at);
	expect_equal(got[at], 0);
	expect_equal(lseek(file, 0, SEEK_CUR), at);
	close(file);
}

TEST(reads_across_the_end_of_a_file_are_short_then_0)
{
	for_each_length(read_across_the_end);
}

static void pread_across_the_end(int n)
{
	int file = memory_file();
	int i;

	expect_equal(write(file, pattern(64), 50), 50);
	for (i = 0; i < n; i++) {
		long at = i * 3 % 60;

		calls[i] = SLOT(SYS_pread64, file, got + 16 * i, 16, at);
		results[i] = at >= 50 ? 0 : at > 34 ? 50 - at : 16;
	}
	expect_run(calls, n, results);
	for (i = 0; i < n; i++)
		expect_bytes(got + 16 * i, pattern(64) + i * 3 % 60, (size_t)results[i]);
	expect_equal(lseek(file, 0, SEEK_CUR), 50);
	close(file);
}

TEST(preads_across_and_behind_the_end_of_a_file_are_short_or_0)
{
	for_each_length(pread_across_the_end);
}

static void overwrite(int n)
{
	int file = memory_file();
	int i;

	memset(got, 0, sizeof(got));
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_pwrite64, file, pattern(LONGEST + 16) + i, 10, i % 5);
		results[i] = 10;
	}
	expect_run(calls, n, results);
	memset(got, 0, 32);
	for (i = 0; i < n; i++)
		memcpy(got + i % 5, pattern(LONGEST + 16) + i, 10);
	expect_equal(pread(file, got + 32, 32, 0), 10 + (n < 5 ? n - 1 : 4));
	expect_bytes(got + 32, got, 10 + (n < 5 ? (size_t)n - 1 : 4));
	close(file);
}

TEST(the_last_of_overlapping_pwrites_stands)
{
	for_each_length(overwrite);
}

static void read_into_one_buffer(int n)
{
	int file = disk_file();
	unsigned char buffer[24] = { 0 };
	unsigned char want[24] = { 0 };
	int i;

	expect_equal(write(file, pattern(16 * LONGEST), 16 * LONGEST), 16 * LONGEST);
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_pread64, file, buffer + i % 9, 12, 16 * i);
		results[i] = 12;
		memcpy(want + i % 9, pattern(16 * LONGEST) + 16 * i, 12);
	}
	expect_run(calls, n, results);
	expect_bytes(buffer, want, sizeof(want));
	close(file);
}

TEST(the_last_of_preads_into_overlapping_buffers_stands)
{
	for_each_length(read_into_one_buffer);
}

/* One buffer moves bytes from file to file. */
static void copy_by_one_byte(int n)
{
	int from = memory_file();
	int to = disk_file();
	unsigned char byte;
	int i;

	expect_equal(write(from, pattern(LONGEST), LONGEST), LONGEST);
	lseek(from, 0, SEEK_SET);
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(i % 2 ? SYS_write : SYS_read, i % 2 ? to : from, &byte, 1);
		results[i] = 1;
	}
	expect_run(calls, n, results);
	expect_equal(pread(to, got, LONGEST, 0), n / 2);
	expect_bytes(got, pattern(LONGEST), (size_t)n / 2);
	close(from);
	close(to);
}

TEST(one_buffer_carries_bytes_between_files)
{
	for_each_length(copy_by_one_byte);
}

static void through_a_pipe(int n)
{
	int ends[2];
	int i;

	expect(!pipe2(ends, O_CLOEXEC));
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_write, ends[1], pattern(4 * LONGEST) + 4 * i, 4);
		results[i] = 4;
	}
	expect_run(calls, n, results);
	for (i = 0; i < n; i++)
		calls[i] = SLOT(SYS_read, ends[0], got + 4 * i, 4);
	memset(got, 0, sizeof(got));
	expect_run(calls, n, results);
	expect_bytes(got, pattern(4 * LONGEST), 4 * (size_t)n);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_pipe_keeps_the_order_of_a_run_of_writes)
{
	for_each_length(through_a_pipe);
}

/* Fills a pipe of PAGES, then empties it; LIMIT is the number of calls, a page each. */
static void fill_and_drain(int n)
{
	static unsigned char page[PAGE];
	int ends[2];
	int room;
	int i;

	expect(!pipe2(ends, O_CLOEXEC | O_NONBLOCK));
	room = fcntl(ends[1], F_SETPIPE_SZ, 8 * (int)PAGE) / (int)PAGE;
	expect(room >= 8);
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_write, ends[1], page, PAGE);
		results[i] = i < room ? (long)PAGE : -EAGAIN;
	}
	expect_run(calls, n, results);
	for (i = 0; i < n; i++) {
		calls[i] = SLOT(SYS_read, ends[0], page, PAGE);
		results[i] = i < (n < room ? n : room) ? (long)PAGE : -EAGAIN;
	}
	expect_run(calls, n, results);
	close(ends[1]);
	for (i = 0; i < n; i++)
		results[i] = 0;
	expect_run(calls, n, results);
	close(ends[0]);
}

TEST(a_nonblocking_pipe_that_fills_up_gives_eagain)
{
	for_each_length(fill_and_drain);
}

static void count_events(int n)
{
	int counter = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	static const uint64_t one = 1;
	static uint64_t values[LONGEST];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		bool reads = i % 4 == 3 || i % 32 == 10 || i % 32 == 9;

		calls[i] = SLOT(reads ? SYS_read : SYS_write, counter,
				reads ? (void *)&values[i] : (void *)&one, 8);
		results[i] = reads && !sum ? -EAGAIN : 8;
		sum = reads ? 0 : sum + 1;
		values[i] = 99;
	}
	expect_run(calls, n, results);
	expect(n < 4 || values[3] == 3);
	expect_equal(values[0], 99);
	close(counter);
}

TEST(an_eventfd_adds_up_writes_and_a_read_resets_it)
{
	for_each_length(count_events);
}

/* ---- jumps within runs ---- */

/* N writes of 0 to 2 bytes, which jump on 0 and on positive results. */
static void jump_about(int n)
{
	static const short skips[] = { 0, 0, 1, 0, 3, 0, 0, 2 };
	int file = memory_file();
	int written = 0;
	int i;

	for (i = 0; i < n; i++) {
		calls[i] = jumping(SLOT(SYS_write, file, pattern(4), i % 3), 100, skips[i % 5],
				   skips[i % 8]);
		results[i] = UNTOUCHED;
	}
	for (i = 0; i < n; i += 1 + (results[i] ? skips[i % 8] : skips[i % 5])) {
		results[i] = i % 3;
		written += i % 3;
	}
	for (i = n - 1; results[i] == UNTOUCHED; i--)
		;
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, (unsigned long)n, i, results,
			(unsigned long)n);
	expect_equal(lseek(file, 0, SEEK_END), written);
	close(file);
}

TEST(slots_skipped_within_a_run_do_nothing)
{
	for_each_length(jump_about);
}

static void end_halfway(int n)
{
	int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
	int last = n / 2;
	int i;

	memset(got, 1, sizeof(got));
	for (i = 0; i < n; i++) {
		calls[i] = jumping(SLOT(SYS_read, zero, &got[i], 1), -1, -1, 0);
		results[i] = i < last ? 1 : UNTOUCHED;
	}
	calls[last].arg[2] = 0;
	results[last] = 0;
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, (unsigned long)n, last, results,
			(unsigned long)n);
	for (i = 0; i < n; i++)
		expect_equal(got[i], i >= last);
	calls[last].arg[1] = 8;
	calls[last].arg[2] = 1;
	results[last] = -EFAULT;
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, (unsigned long)n, last, results,
			(unsigned long)n);
	close(zero);
}

TEST(nothing_runs_behind_a_slot_that_ends_the_batch)
{
	for_each_length(end_halfway);
}

/* The end of the data ends the batch: a loop of reads, unrolled. */
static void read_until_empty(int n)
{
	int ends[2];
	int full = n - 1 - n / 4;
	int i;

	expect(!pipe2(ends, O_CLOEXEC));
	for (i = 0; i < full; i++)
		expect_equal(write(ends[1], "x", 1), 1);
	close(ends[1]);
	for (i = 0; i < n; i++) {
		calls[i] = jumping(SLOT(SYS_read, ends[0], &got[i], 1), -1, -1, 0);
		results[i] = i < full ? 1 : i == full ? 0 : UNTOUCHED;
	}
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, (unsigned long)n, full, results,
			(unsigned long)n);
	close(ends[0]);
}

TEST(reads_until_the_end_of_the_data_stop_there)
{
	for_each_length(read_until_empty);
}

/* ---- calls that wait ---- */

#define FED 64

/* Writes a byte after each acknowledgement: blocking reads get one byte at a time. */
static void *feed(void *arg)
{
	const int *fds = arg; /* to feed, to hear from */
	unsigned char byte;
	int i;

	for (i = 0; i < FED; i++) {
		byte = (unsigned char)i;
		if (write(fds[0], &byte, 1) != 1 || read(fds[1], &byte, 1) != 1)
			return arg;
	}
	return NULL;
}

TEST(blocking_reads_wait_for_another_thread)
{
	int data[2] = { -1, -1 };
	int acks[2] = { -1, -1 };
	int fds[2];
	pthread_t feeder;
	void *failed;
	int i;

	expect(!pipe2(data, O_CLOEXEC) && !pipe2(acks, O_CLOEXEC));
	fds[0] = data[1];
	fds[1] = acks[0];
	for (i = 0; i < FED; i++) {
		calls[2 * i] = SLOT(SYS_read, data[0], &got[i], 10);
		calls[2 * i + 1] = SLOT(SYS_write, acks[1], "a", 1);
		results[2 * i] = 1;
		results[2 * i + 1] = 1;
	}
	expect(!pthread_create(&feeder, NULL, feed, fds));
	expect_run(calls, 2 * FED, results);
	pthread_join(feeder, &failed);
	expect(!failed);
	for (i = 0; i < FED; i++)
		expect_equal(got[i], i);
	for (i = 0; i < 2; i++) {
		close(data[i]);
		close(acks[i]);
	}
}

/* Writes one byte each time the pipe is empty, without any timing. */
static void *trickle(void *arg)
{
	int ends = *(int *)arg;
	int i;

	for (i = 0; i < FED; i++)
		if (write(ends, &i, 4) != 4)
			return arg;
	return NULL;
}

TEST(a_run_of_blocking_reads_takes_what_comes_in_order)
{
	int ends[2];
	pthread_t thread;
	int values[FED];
	void *failed;
	int i;

	expect(!pipe2(ends, O_CLOEXEC));
	for (i = 0; i < FED; i++) {
		calls[i] = SLOT(SYS_read, ends[0], &values[i], 4);
		results[i] = 4;
	}
	expect(!pthread_create(&thread, NULL, trickle, &ends[1]));
	expect_run(calls, FED, results);
	pthread_join(thread, &failed);
	expect(!failed);
	for (i = 0; i < FED; i++)
		expect_equal(values[i], i);
	close(ends[0]);
	close(ends[1]);
}

static void *drain(void *arg)
{
	static unsigned char page[PAGE];
	int fd = *(int *)arg;
	ssize_t size;
	long total = 0;

	while ((size = read(fd, page, sizeof(page))) > 0)
		total += size;
	return (void *)total;
}

TEST(blocking_writes_to_a_full_pipe_wait_for_room)
{
	static unsigned char page[PAGE];
	int ends[2];
	pthread_t thread;
	void *total;
	int i;

	expect(!pipe2(ends, O_CLOEXEC));
	expect(fcntl(ends[1], F_SETPIPE_SZ, PAGE) > 0);
	for (i = 0; i < 100; i++) {
		calls[i] = SLOT(SYS_write, ends[1], page, PAGE - 1);
		results[i] = PAGE - 1;
	}
	expect(!pthread_create(&thread, NULL, drain, &ends[0]));
	expect_run(calls, 100, results);
	close(ends[1]);
	pthread_join(thread, &total);
	expect_equal(total, 100 * (PAGE - 1));
	close(ends[0]);
}
