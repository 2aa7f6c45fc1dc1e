// SPDX-License-Identifier: MIT
/* Tests a proxy whose thread begins only after the time limit: the pool here is a fake. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit.h"
#include "lib/files/calls.h"
#include "lib/files/pool.h"

static const struct ferry_files_options limited = { .timeout_ms = 1 };

static void (*late_work)(void *argument);
static void *late_argument;

bool ferry__pool_run(void (*work)(void *argument), void (*done)(void *argument), void *argument)
{
	assert_null(done);
	late_work = work;
	late_argument = argument;
	return true;
}

/* By then the descriptor could be that of another file, whose contents the call would consume. */
TEST(test_a_late_call_is_not_made)
{
	struct crew crew = { .options = &limited };
	struct member member = { .crew = &crew };
	char byte = 'x';
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	assert_int_equal(ferry__call_read(&member, ends[0], &byte, 1), -ETIMEDOUT);
	late_work(late_argument);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_a_late_close_is_made)
{
	struct crew crew = { .options = &limited };
	struct member member = { .crew = &crew };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	ferry__call_close(&member, fd);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	late_work(late_argument);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

TEST_MAIN
