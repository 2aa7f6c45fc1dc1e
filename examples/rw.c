// SPDX-License-Identifier: MIT
/* rw: copies standard input to standard output, with several reads and writes per batch. */
#include <err.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static const char help[] =
	"Usage: rw [-b BYTES] [-p PAIRS] [< INPUT] [> OUTPUT]\n"
	"Copies standard input to standard output, with several read and write pairs per batch.\n"
	"\n"
	"  -b BYTES  maximum bytes per read: 1 to 16777216 (default 65536)\n"
	"  -p PAIRS  pairs per batch: 1 to 64 (default 4)\n"
	"  --help    print this\n"
	"\n"
	"Ends silently, with exit status 1, when the reader of its output is gone.\n"
	"\n"
	"Example: rw -b 4096 -p 16 < /etc/services > copy\n";

#define MAX_BYTES (1L << 24)
#define MAX_PAIRS 64
#define DEFAULT_BYTES 65536
#define DEFAULT_PAIRS 4

/*
 * A pair: READ, WRITE what was read, and CHECK that all of it was written, because the next
 * pair must not read after a short write.  CHECK is a futex call used for its comparison: there
 * are no waiters to requeue, so it returns 0 if the word (the result of READ) holds the expected
 * value (that of WRITE), and fails with EAGAIN otherwise.  If futex calls are forbidden it
 * fails too, and every batch is one pair.
 */
enum { READ, WRITE, CHECK, PAIR_SLOTS };

static struct batch_slot calls[MAX_PAIRS * PAIR_SLOTS];
static long results[MAX_PAIRS * PAIR_SLOTS];

/* The low half of a result: a futex compares 32 bits, and lengths fit. */
static long low_half(const long *result)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (long)result;
#else
	return (long)result + sizeof(*result) / 2;
#endif
}

static void fill_pair(long pair, char *buffer, long bytes)
{
	struct batch_slot *slot = &calls[pair * PAIR_SLOTS];
	const long word = low_half(&results[pair * PAIR_SLOTS + READ]);

	slot[READ] = (struct batch_slot){
		.nr = SYS_read,
		.jump_fail = -1,
		.jump_zero = -1,
		.argc = 3,
		.arg = { STDIN_FILENO, (long)buffer, bytes },
	};
	slot[WRITE] = (struct batch_slot){
		.nr = SYS_write,
		.jump_fail = -1,
		.argc = 3 | BATCH_ARGC_FORWARD,
		.from = { [2] = WRITE - READ },
		.arg = { STDOUT_FILENO, (long)buffer },
	};
	slot[CHECK] = (struct batch_slot){
		.nr = SYS_futex,
		.jump_fail = -1,
		.argc = 6 | BATCH_ARGC_FORWARD,
		.from = { [5] = CHECK - WRITE },
		.arg = { word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, word },
	};
}

static void fill(char *buffers, long bytes, long pairs)
{
	long pair;

	for (pair = 0; pair < pairs; pair++)
		fill_pair(pair, buffers + pair * bytes, bytes);
}

/* Whether a call that failed with ERROR can be repeated; waits until FD is ready for EVENTS. */
static bool again(long error, int fd, short events)
{
	struct pollfd wait = { .fd = fd, .events = events };

	if (error == -EAGAIN)
		poll(&wait, 1, -1);
	return error == -EAGAIN || error == -EINTR;
}

static _Noreturn void fail(const char *what, long error)
{
	if (error == -EPIPE)
		exit(EXIT_FAILURE);
	errx(EXIT_FAILURE, "cannot %s: %s", what, strerror((int)-error));
}

/* Writes the LENGTH bytes that a batch did not. */
static void write_rest(const char *bytes, long length)
{
	ssize_t wrote;

	while (length > 0) {
		wrote = write(STDOUT_FILENO, bytes, (size_t)length);
		if (wrote >= 0) {
			bytes += wrote;
			length -= wrote;
		} else if (!again(-errno, STDOUT_FILENO, POLLOUT)) {
			fail("write to standard output", -errno);
		}
	}
}

/* Finishes the pair in which a batch ended, at slot LAST; false at the end of the input. */
static bool finish_pair(unsigned long last)
{
	const unsigned long first = last - last % PAIR_SLOTS;
	const struct batch_slot *slot = &calls[first];
	const long *result = &results[first];
	long wrote;

	if (result[READ] == 0)
		return false;
	if (result[READ] < 0) {
		if (!again(result[READ], STDIN_FILENO, POLLIN))
			fail("read standard input", result[READ]);
		return true;
	}
	wrote = result[WRITE];
	if (wrote < 0) {
		if (!again(wrote, STDOUT_FILENO, POLLOUT))
			fail("write to standard output", wrote);
		wrote = 0;
	}
	write_rest((const char *)slot[WRITE].arg[1] + wrote, result[READ] - wrote);
	return true;
}

int main(int argc, char *argv[])
{
	long bytes = DEFAULT_BYTES, pairs = DEFAULT_PAIRS;
	unsigned long slots;
	char *buffers;
	int letter;

	while ((letter = next_option(argc, argv, "b:p:", help)) != -1) {
		if (letter == 'b')
			bytes = parse_number("BYTES", optarg, 1, MAX_BYTES);
		else
			pairs = parse_number("PAIRS", optarg, 1, MAX_PAIRS);
	}
	if (optind < argc)
		usage_error("'%s' is too much: rw copies standard input", argv[optind]);
	begin();
	buffers = malloc((size_t)(pairs * bytes));
	if (!buffers)
		errx(EXIT_FAILURE, "out of memory");
	fill(buffers, bytes, pairs);
	/* The last pair needs no CHECK: finish_pair() checks it. */
	slots = (unsigned long)pairs * PAIR_SLOTS - 1;
	while (finish_pair(run_batch(results, calls, slots)))
		continue;
	free(buffers);
	return EXIT_SUCCESS;
}
