// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- privileges and placement ---- */

static void *confine(void *argument)
{
	(void)argument;
	nap();
	printf("%d ", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	nap();
	printf("%d %ld\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), status_of_runner("NoNewPrivs:"));
	return NULL;
}

static void *see_confinement(void *argument)
{
	int i;

	for (i = 0; i < 20; i++) {
		if (status_of_runner("NoNewPrivs:") || status_of_runner("Seccomp:") > 1)
			add_hits(1);
		nap();
	}
	return argument;
}

void no_new_privileges_stay_with_the_thread(void)
{
	pthread_t others[2] = { start(see_confinement, NULL), start(see_confinement, NULL) };

	in_thread(confine, NULL);
	join(others[0]);
	join(others[1]);
	printf("%d\n", hits);
}

static void *forbid(void *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };
	int i, forbidden = 0;

	(void)argument;
	nap();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		exit(2);
	for (i = 0; i < 20; i++) {
		forbidden += inline_call(SYS_getppid, 0, 0, 0) == -EPERM;
		nap();
	}
	printf("%d ", forbidden);
	/* A thread of a confined thread is as confined. */
	return (void *)in_thread((routine *)(void *)status_of_runner, "Seccomp:");
}

/* The calls of carriers are among those that it forbids. */
static void *forbid_all(void *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { 6, filter };

	nap();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(2);
	return argument;
}

static void *answer_confined(void *argument)
{
	char byte;

	while (recv(pair[0], &byte, 1, 0) == 1) {
		add_hits(inline_call(SYS_getppid, 0, 0, 0) == -EPERM);
		nap();
		send(pair[0], &byte, 1, 0);
	}
	return argument;
}

static void *spin_until(void *argument)
{
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	add_hits(inline_call(SYS_getppid, 0, 0, 0) == -EPERM);
	return argument;
}

void a_filter_for_all_threads(void)
{
	pthread_t threads[5];
	char byte;
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = start(answer_confined, NULL);
	threads[4] = start(spin_until, NULL);
	for (i = 0; i < 20; i++) {
		send(pair[1], "x", 1, 0);
		recv(pair[1], &byte, 1, 0);
	}
	in_thread(forbid_all, NULL);
	flag = 1;
	for (i = 0; i < 100; i++) {
		send(pair[1], "x", 1, 0);
		recv(pair[1], &byte, 1, 0);
	}
	shutdown(pair[1], SHUT_RDWR);
	for (i = 0; i < 5; i++)
		join(threads[i]);
	printf("%d %ld\n", hits, in_thread(answer_confined, NULL));
}

void a_filter_stays_with_the_thread_and_its_threads(void)
{
	pthread_t other = start(see_confinement, NULL);

	printf("%ld ", in_thread(forbid, NULL));
	join(other);
	printf("%d\n", hits);
}

static void *leave(void *argument)
{
	(void)argument;
	nap();
	if (unshare(CLONE_FS) || chdir("/proc"))
		exit(2);
	nap();
	return NULL;
}

static void *look_around(void *argument)
{
	char path[PATH_MAX];

	nap();
	if (!getcwd(path, sizeof(path)))
		exit(2);
	add_hits(!strcmp(path, "/proc"));
	return argument;
}

void unshare_stays_with_the_thread(void)
{
	int i;

	if (chdir("/"))
		exit(2);
	in_thread(leave, NULL);
	for (i = 0; i < 8; i++)
		in_thread(look_around, NULL);
	printf("%d\n", hits);
}

static void *pin(void *argument)
{
	cpu_set_t set, seen;
	int i, elsewhere = 0;
	unsigned int cpu;

	(void)argument;
	sched_getaffinity(0, sizeof(set), &set);
	for (i = 0; !CPU_ISSET(i, &set);)
		i++;
	CPU_ZERO(&set);
	CPU_SET(i, &set);
	check(pthread_setaffinity_np(pthread_self(), sizeof(set), &set), "affinity");
	check(pthread_setname_np(pthread_self(), "pinned"), "name");
	for (cpu = 0; elsewhere < 20; elsewhere++) {
		inline_call(SYS_getcpu, (long)&cpu, 0, 0);
		if (cpu != (unsigned int)i)
			add_hits(1);
		nap();
	}
	sched_getaffinity(0, sizeof(seen), &seen);
	printf("%d %d ", hits, CPU_EQUAL(&set, &seen));
	return NULL;
}

static void *name_of(void *argument)
{
	char name[16] = "";

	(void)argument;
	prctl(PR_GET_NAME, name);
	puts(name);
	return NULL;
}

void affinity_stays_with_the_thread(void)
{
	in_thread(pin, NULL);
	in_thread(name_of, NULL);
}

/* Of root: every kernel thread changes, also while threads compute. */
static void *change_user(void *argument)
{
	(void)argument;
	nap();
	return (void *)(long)seteuid(65534);
}

static void *look_at_user(void *argument)
{
	while (!flag)
		sched_yield();
	add_hits(inline_call(SYS_geteuid, 0, 0, 0) == 65534);
	return argument;
}

void set_user_is_for_all(void)
{
	pthread_t threads[6];
	int i;

	if (geteuid()) {
		puts("0 6 needs root");
		return;
	}
	for (i = 0; i < 6; i++)
		threads[i] = start(i & 1 ? look_at_user : spin, NULL);
	nap();
	printf("%ld ", in_thread(change_user, NULL));
	flag = 1;
	for (i = 0; i < 6; i++)
		join(threads[i]);
	printf("%d needs root\n", hits + 3);
}
