// SPDX-License-Identifier: MIT
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- ends, and other programs ---- */

static void *leave_process(void *argument)
{
	nap();
	exit((int)(long)argument);
}

void exit_of_a_thread(void)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		start(leave_process, (void *)3);
		pause();
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void *say_later(void *argument)
{
	usleep(20000);
	puts(argument);
	fflush(stdout);
	return NULL;
}

void main_ends_first(void)
{
	start(say_later, "later");
	pthread_exit(NULL);
}

static void *run_program(void *argument)
{
	char *const argv[] = { "true", NULL };
	int status = -1;
	pid_t child;
	FILE *stream;
	char line[16] = "";

	(void)argument;
	nap();
	child = fork();
	if (!child)
		_exit(execvp("true", argv) ? 9 : 0);
	waitpid(child, &status, 0);
	printf("%d ", status);
	child = vfork(); /* NOLINT: what is tested */
	if (!child) {
		close(pair[0]); /* NOLINT(clang-analyzer-unix.Vfork): programs do so */
		execlp("true", "true", (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("%d ", status);
	stream = popen("echo popen", "r");
	if (!fgets(line, sizeof(line), stream))
		exit(2);
	pclose(stream);
	printf("%d %s", system("exit 4") >> 8, line);
	return NULL;
}

void programs_from_threads(void)
{
	in_thread(run_program, NULL);
}

static void *replace(void *argument)
{
	sigset_t set;

	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	nap();
	execl("/bin/sh", "sh", "-c", "grep SigBlk /proc/self/status", (char *)NULL);
	return argument;
}

void exec_of_a_thread_has_its_mask(void)
{
	fflush(stdout);
	in_thread(replace, NULL);
}

static void *abort_later(void *argument)
{
	nap();
	abort();
	return argument;
}

void abort_of_a_thread(void)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		start(abort_later, NULL);
		pause();
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static pthread_key_t key;

static void end_of_key(void *value)
{
	add_hits((int)(long)value);
}

static __thread long local;

static void *use_local(void *argument)
{
	int i;

	pthread_setspecific(key, argument);
	local = (long)argument;
	for (i = 0; i < 10; i++) {
		errno = (int)(long)argument;
		sched_yield();
		usleep(1);
		if (errno != (int)(long)argument || local != (long)argument ||
		    pthread_getspecific(key) != argument)
			return (void *)1;
	}
	pthread_exit(NULL);
}

void local_data(void)
{
	pthread_t threads[10];
	long i, wrong = 0;

	pthread_key_create(&key, end_of_key);
	for (i = 0; i < 10; i++)
		threads[i] = start(use_local, (void *)(i + 1));
	for (i = 0; i < 10; i++)
		wrong += join(threads[i]);
	printf("%ld %d\n", wrong, hits);
}

static long counter;

static void *touch(void *argument)
{
	usleep(1);
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	return argument;
}

void short_threads(void)
{
	pthread_t threads[100];
	int i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < 100; i++)
			threads[i] = start(touch, NULL);
		for (i = 0; i < 100; i++)
			join(threads[i]);
	}
	printf("%ld\n", counter);
}

void detached_threads(void)
{
	int i;

	for (i = 0; i < 500; i++)
		pthread_detach(start(touch, NULL));
	while (__atomic_load_n(&counter, __ATOMIC_SEQ_CST) < 500)
		nap();
	puts("500");
}

static void *number(void *argument)
{
	const pid_t first = gettid();

	(void)argument;
	nap();
	return (void *)(long)(gettid() == first && syscall(SYS_gettid) == first);
}

void thread_numbers_stay(void)
{
	printf("%ld\n", in_thread(number, NULL));
}

static void *use_contexts(void *argument)
{
	static ucontext_t context;
	static volatile int times;

	(void)argument;
	nap();
	times = 0;
	getcontext(&context);
	if (times++ < 3)
		setcontext(&context);
	nap();
	return (void *)(long)times;
}

void contexts(void)
{
	printf("%ld\n", in_thread(use_contexts, NULL));
}
