// SPDX-License-Identifier: GPL-2.0 OR MIT
/* seccomp filters for tests; see filter.h. */
#include <sys/prctl.h>

#include "suite.h"

#include "filter.h"

static void append(struct filter *filter, unsigned int code, unsigned int value,
		   unsigned char skip_unless)
{
	expect(filter->program.len < ARRAY_SIZE(filter->code));
	filter->code[filter->program.len++] =
		(struct sock_filter)BPF_JUMP(code, value, 0, skip_unless);
}

static void load(struct filter *filter, size_t offset)
{
	append(filter, BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset, 0);
}

static void unless_skip(struct filter *filter, unsigned int value, unsigned char skip)
{
	append(filter, BPF_JMP | BPF_JEQ | BPF_K, value, skip);
}

static void answer(struct filter *filter, unsigned int action)
{
	append(filter, BPF_RET | BPF_K, action, 0);
}

static void begin(struct filter *filter)
{
	filter->program.len = 0;
	filter->program.filter = filter->code;
	load(filter, offsetof(struct seccomp_data, nr));
}

void filter_make(struct filter *filter, const int numbers[], int count, unsigned int action,
		 unsigned int rest)
{
	int i;

	begin(filter);
	for (i = 0; i < count; i++) {
		unless_skip(filter, (unsigned int)numbers[i], 1);
		answer(filter, action);
	}
	answer(filter, rest);
}

void filter_one(struct filter *filter, int nr, unsigned int action)
{
	filter_make(filter, &nr, 1, action, SECCOMP_RET_ALLOW);
}

/* The low half of an argument is its first word: these machines are little-endian. */
void filter_argument(struct filter *filter, int nr, int arg, unsigned int value,
		     unsigned int action)
{
	begin(filter);
	unless_skip(filter, (unsigned int)nr, 3);
	load(filter, offsetof(struct seccomp_data, args[arg]));
	unless_skip(filter, value, 1);
	answer(filter, action);
	answer(filter, SECCOMP_RET_ALLOW);
}

void filter_install(struct filter *filter)
{
	filter_install_with(filter, 0);
}

void filter_install_with(struct filter *filter, long flags)
{
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	expect(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter->program));
}
