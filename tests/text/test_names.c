// SPDX-License-Identifier: MIT
/* The names of calls, constants and errors, against the headers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "support.h"
#include "calls/calls.h"
#include "lib/text/names.h"

static struct span span(const char *text)
{
	return (struct span){ text, strlen(text) };
}

#define SAMPLE(name)                \
	{                           \
#name, (long)(name) \
	}

TEST(constants_have_their_values)
{
	static const struct constant samples[] = {
		SAMPLE(O_CLOEXEC),	 SAMPLE(AT_FDCWD),	SAMPLE(AT_EMPTY_PATH),
		SAMPLE(S_IFMT),		 SAMPLE(STATX_ALL),	SAMPLE(PROT_READ),
		SAMPLE(MAP_FAILED),	 SAMPLE(SOCK_STREAM),	SAMPLE(TCP_NODELAY),
		SAMPLE(POLLIN),		 SAMPLE(EPOLL_CTL_ADD), SAMPLE(SIGUSR1),
		SAMPLE(SIG_IGN),	 SAMPLE(CLONE_NEWNS),	SAMPLE(FUTEX_WAIT),
		SAMPLE(RLIMIT_NOFILE),	 SAMPLE(MS_BIND),	SAMPLE(IORING_ENTER_GETEVENTS),
		SAMPLE(RLIM64_INFINITY), SAMPLE(CLONE_IO),	SAMPLE(ENOENT),
	};
	size_t i;
	long value;

	for (i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		if (!constant_value(span(samples[i].name), &value))
			fail_msg("%s is missing", samples[i].name);
		assert_int_equal(value, samples[i].value);
	}
	assert_false(constant_value(span("O_RDONL"), &value));
	assert_false(constant_value(span("O_RDONLYY"), &value));
	assert_false(constant_value(span("A"), &value));
	assert_false(constant_value(span("zzz"), &value));
}

TEST(constants_are_sorted_and_there_are_many)
{
	size_t i;

	assert_true(constant_count > 1000);
	for (i = 1; i < constant_count; i++)
		assert_true(strcmp(constants[i - 1].name, constants[i].name) < 0);
}

TEST(errors_have_the_names_of_errno_h)
{
	assert_string_equal(errno_name(-1), "EPERM");
	assert_string_equal(errno_name(-2), "ENOENT");
	assert_string_equal(errno_name(-EAGAIN), "EAGAIN");
	assert_string_equal(errno_name(-EOPNOTSUPP), "EOPNOTSUPP");
	assert_string_equal(errno_name(-EDEADLK), "EDEADLK");
	assert_string_equal(errno_name(-ENOSYS), "ENOSYS");
	assert_string_equal(errno_name(-EHWPOISON), "EHWPOISON");
	assert_null(errno_name(0));
	assert_null(errno_name(2));
	assert_null(errno_name(-512));
	assert_null(errno_name(-4096));
	assert_null(errno_name(LONG_MIN));
}

TEST(calls_have_the_names_of_the_system)
{
	char name[CALL_NAME_SIZE];

	assert_string_equal(call_name(SYS_openat, name), "openat");
	assert_string_equal(call_name(SYS_statx, name), "statx");
	assert_string_equal(call_name(-2, name), "copy");
	assert_string_equal(call_name(-1, name), "goto");
	assert_string_equal(call_name(-3, name), "-3");
	assert_string_equal(call_name(999, name), "999");
	assert_string_equal(call_name(32767, name), "32767");
	assert_int_equal(call_number(span("openat")), SYS_openat);
	assert_int_equal(call_number(span("open")), SYS_open);
	assert_int_equal(call_number(span("opena")), -1);
	assert_int_equal(call_number(span("")), -1);
	assert_int_equal(call_number(span("_llseek")), -1); /* other machines have it */
}

TEST(every_named_call_can_be_written_by_its_name)
{
	int found = 0;
	int nr;

	for (nr = 0; nr < SUBCALL_NR_LIMIT; nr++) {
		if (!known_call(nr))
			continue;
		assert_int_equal(call_number(span(known_call(nr)->name)), nr);
		found++;
	}
	assert_true(found > 300);
}

TEST_MAIN
