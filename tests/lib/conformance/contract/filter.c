// SPDX-License-Identifier: GPL-2.0 OR MIT
/* seccomp filters for tests; see filter.h. */
#include <sys/prctl.h>

#include "filter.h"
#include "suite.h"

static void append(struct filter *filter, struct sock_filter instruction)
{
	expect(filter->program.len < ARRAY_SIZE(filter->code));
	filter->code[filter->program.len++] = instruction;
}

static void begin(struct filter *filter)
{
	filter->program.len = 0;
	filter->program.filter = filter->code;
	append(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr)));
}

static void finish(struct filter *filter, unsigned int action)
{
	append(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

void filter_make(struct filter *filter, const int numbers[], int count, unsigned int action,
		 unsigned int rest)
{
	int i;

	begin(filter);
	for (i = 0; i < count; i++) {
		append(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    (unsigned int)numbers[i], 0, 1));
		finish(filter, action);
	}
	finish(filter, rest);
}

void filter_one(struct filter *filter, int nr, unsigned int action)
{
	filter_make(filter, &nr, 1, action, SECCOMP_RET_ALLOW);
}

void filter_argument(struct filter *filter, int nr, int arg, unsigned int value,
		     unsigned int action)
{
	const size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

	begin(filter);
	append(filter,
	       (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)nr, 0, 3));
	append(filter, (struct sock_filter)BPF_STMT(
			       BPF_LD | BPF_W | BPF_ABS,
			       (unsigned int)(offsetof(struct seccomp_data, args[arg]) + low)));
	append(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
	finish(filter, action);
	finish(filter, SECCOMP_RET_ALLOW);
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
