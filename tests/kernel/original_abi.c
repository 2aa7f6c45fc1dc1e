// SPDX-License-Identifier: MIT
/*
 * A program built for the original batch(): its own declaration of a slot, number 183,
 * and five arguments, the last two of which are whatever the registers held.  It uses no
 * header of this tree.  Exits with 0 if the kernel conforms to the ABI, 1 if not, and 77 if
 * the kernel does not have the call.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct syscall {
	short nr;
	short jumpFail;
	short jump0;
	short jumpPos;
	char argc;
	long arg[6];
} syscall_t;

_Static_assert(sizeof(syscall_t) == 64, "a slot is a cache line");

#define NR_BATCH 183
#define NR_WDCPY (-2)
#define NOT_RUN 0x5e5e5e5e5e5e5e5eL
#define GARBAGE 5

static const long garbage[GARBAGE] = { 0, -1, 1, 0x1c0, (long)0xdeadbeefcafef00d };

static const char path[] = "/proc/self/status";
static char data[4096];
static int failures;

static long batch(long *rets, syscall_t *calls, unsigned long ncall, long flags, long size)
{
	register long r10 __asm__("r10") = flags;
	register long r8 __asm__("r8") = size;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result), "+r"(r10)
			 : "0"((long)NR_BATCH), "D"(rets), "S"(calls), "d"(ncall), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

static void check(const char *what, long got, long want)
{
	if (got == want)
		return;
	printf("%s is %ld, not %ld\n", what, got, want);
	failures++;
}

/* Open, read and close in one call: word copies pass the descriptor and the length. */
static void read_a_file(long flags, long size)
{
	long rets[7] = { NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN };
	syscall_t calls[7] = {
		{ SYS_open, 5, 0, 0, 2, { (long)path, O_RDONLY } },
		{ NR_WDCPY, 4, 0, 0, 2, { 0, 0 } },
		{ SYS_read, 0, 0, 0, 3, { -1, (long)data, sizeof(data) } },
		{ NR_WDCPY, 0, 0, 0, 2, { 0, 0 } },
		{ SYS_close, -1, 0, 0, 1, { -1 } },
		{ SYS_getpid, 0, 0, -1, 0, { 0 } },
		{ SYS_getppid, 0, 0, 0, 0, { 0 } },
	};

	memset(data, 0, sizeof(data));
	calls[1].arg[0] = (long)&calls[2].arg[0];
	calls[1].arg[1] = (long)&rets[0];
	calls[3].arg[0] = (long)&calls[4].arg[0];
	calls[3].arg[1] = (long)&rets[0];
	check("the last slot", batch(rets, calls, 7, flags, size), 5);
	check("open", rets[0] > 2, 1);
	check("the first word copy", rets[1], 0);
	check("read", rets[2], (long)strlen(data));
	check("the second word copy", rets[3], 0);
	check("close", rets[4], 0);
	check("getpid", rets[5], getpid());
	check("a slot behind the end", rets[6], NOT_RUN);
	check("what was read", strncmp(data, "Name:", 5), 0);
}

static void jump(long flags, long size)
{
	long rets[5] = { NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN, NOT_RUN };
	syscall_t calls[5] = {
		{ SYS_open, 1, 0, 0, 2, { (long)"/no/such/file", O_RDONLY } },
		{ SYS_getpid, 0, 0, 0, 0, { 0 } },
		{ -1, 1, 0, 0, 0, { 0 } },
		{ SYS_getpid, 0, 0, 0, 0, { 0 } },
		{ SYS_getppid, 0, 0, 0, 0, { 0 } },
	};

	check("the last slot", batch(rets, calls, 5, flags, size), 4);
	check("a file that is not there", rets[0], -ENOENT);
	check("a slot jumped over", rets[1], NOT_RUN);
	check("a number that is no call", rets[2], -ENOSYS);
	check("another slot jumped over", rets[3], NOT_RUN);
	check("the last result", rets[4], getppid());
}

static void refuse(long flags, long size)
{
	static const short blocked[] = { SYS_fork, SYS_vfork,	   SYS_clone,	     SYS_execve,
					 SYS_exit, SYS_exit_group, SYS_rt_sigreturn, NR_BATCH };
	const long count = sizeof(blocked) / sizeof(blocked[0]);
	syscall_t call = { 0, 0, 0, 0, 6, { 0 } };
	long ret;
	long i;

	for (i = 0; i < count; i++) {
		call.nr = blocked[i];
		ret = NOT_RUN;
		check("the last slot", batch(&ret, &call, 1, flags, size), 0);
		check("a call that would end the caller", ret, -ENOSYS);
	}
	check("an empty batch", batch(NULL, NULL, 0, flags, size), 0);
	check("a batch that is nowhere", batch(&ret, NULL, 1, flags, size), -EFAULT);
}

static volatile sig_atomic_t handled;

static void handle(int sig)
{
	(void)sig;
	handled++;
}

static void go_on_after_signals(long flags, long size)
{
	long rets[4] = { 0 };
	syscall_t calls[4] = {
		{ SYS_kill, 0, 0, 0, 2, { getpid(), SIGUSR1 } },
		{ SYS_getpid, 0, 0, 0, 0, { 0 } },
		{ SYS_kill, 0, 0, 0, 2, { getpid(), SIGUSR1 } },
		{ SYS_getppid, 0, 0, 0, 0, { 0 } },
	};

	handled = 0;
	signal(SIGUSR1, handle);
	check("the last slot", batch(rets, calls, 4, flags, size), 3);
	check("signals handled", handled, 2);
	check("a result between signals", rets[1], getpid());
	check("the result behind them", rets[3], getppid());
}

int main(void)
{
	int i;
	int j;

	if (batch(NULL, NULL, 0, 0, 0) == -ENOSYS) {
		printf("this kernel has no batch() under number %d\n", NR_BATCH);
		return 77;
	}
	for (i = 0; i < GARBAGE; i++) {
		for (j = 0; j < GARBAGE; j++) {
			read_a_file(garbage[i], garbage[j]);
			jump(garbage[i], garbage[j]);
			refuse(garbage[i], garbage[j]);
			go_on_after_signals(garbage[i], garbage[j]);
		}
	}
	return failures ? 1 : 0;
}
