// SPDX-License-Identifier: MIT
/* Tests which calls are posted, and that those which depend on their caller are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "tests/lib/unit/child.h"

static struct ferry_flexsc *start(void)
{
	struct ferry_flexsc *flexsc;

	assert_int_equal(ferry_flexsc_start(&flexsc, NULL), 0);
	return flexsc;
}

/* ---- the table ---- */

/* Linux 7.3 has the numbers from 0 to LAST_OLD and from FIRST_NEW to LAST_NEW. */
#ifdef __x86_64__
#define LAST_OLD 336
#else
#define LAST_OLD 294
#endif
#define FIRST_NEW 424
#define LAST_NEW 472

static bool is_unassigned(long nr)
{
#ifdef __x86_64__
	return nr > LAST_OLD && nr < FIRST_NEW;
#else
	return (nr >= 244 && nr < 260) || (nr > LAST_OLD && nr < FIRST_NEW);
#endif
}

static bool is_unknown(long nr)
{
	const char *reason = ferry_direct_reason(nr);

	return reason && strstr(reason, "does not know");
}

static void every_call_is_in_the_table(void **state)
{
	long nr;

	(void)state;
	for (nr = 0; nr <= LAST_NEW; nr++)
		if (is_unknown(nr) != is_unassigned(nr))
			fail_msg("call %ld: %s", nr, ferry_direct_reason(nr));
	assert_true(is_unknown(LAST_NEW + 1));
	assert_null(ferry_direct_name(LAST_NEW + 1));
}

static void calls_that_depend_on_the_caller_have_a_reason(void **state)
{
	static const long numbers[] = {
		SYS_gettid,
		SYS_ppoll,
		SYS_pselect6,
		SYS_epoll_pwait,
		SYS_futex,
		SYS_ioctl,
		SYS_io_pgetevents,
		SYS_signalfd4,
		SYS_mmap,
		424 /* pidfd_send_signal */,
		436 /* close_range */,
		441 /* epoll_pwait2 */,
		455 /* futex_wait */,
		459 /* lsm_get_self_attr */,
		460 /* lsm_set_self_attr */,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_non_null(ferry_direct_reason(numbers[i]));
		assert_non_null(ferry_direct_name(numbers[i]));
	}
	assert_string_equal(ferry_direct_name(SYS_gettid), "gettid");
	assert_null(ferry_direct_reason(SYS_write));
	assert_null(ferry_direct_name(SYS_write));
	assert_null(ferry_direct_reason(SYS_exit)); /* no batch makes it either */
	assert_null(ferry_direct_reason(-1));
	assert_null(ferry_direct_name(-1));
}

/* ---- signals ---- */

static volatile pid_t handled_by;

static void note_thread(int signal)
{
	(void)signal;
	handled_by = gettid();
}

static void *signal_after_a_while(void *thread)
{
	struct timespec while_ns = { 0, 50000000 };

	nanosleep(&while_ns, NULL);
	pthread_kill(*(pthread_t *)thread, SIGUSR1);
	return NULL;
}

static void *poll_for_signals(void *argument)
{
	struct timespec limit = { 10, 0 };
	unsigned long none = 0;
	long result =
		ferry_thread_call(SYS_ppoll, 0, 0, (long)&limit, (long)&none, sizeof(none), 0);

	(void)argument;
	usleep(0); /* ThreadSanitizer runs handlers only at the end of a function that it knows */
	return (void *)result;
}

static void a_signal_ends_ppoll_in_its_thread(void **state)
{
	const struct sigaction action = { .sa_handler = note_thread };
	struct ferry_flexsc *flexsc = start();
	pthread_t self = pthread_self(), killer;
	struct ferry_thread *thread;
	sigset_t user, before;
	void *result;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &user, &before);
	pthread_create(&killer, NULL, signal_after_a_while, &self);
	ferry_thread_spawn(&thread, flexsc, poll_for_signals, NULL);
	ferry_thread_join(thread, &result);
	pthread_join(killer, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal((long)result, -EINTR);
	assert_int_equal(handled_by, gettid());
	ferry_flexsc_stop(flexsc);
}

/* ---- terminals ---- */

/* In a background job of its own, where the terminal is standard input. */
static void use_terminal(long nr)
{
	char byte = 'x';
	struct ferry_flexsc *flexsc;

	setpgid(0, 0);
	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	ferry_flexsc_call(flexsc, nr, (const long[]){ STDIN_FILENO, (long)&byte, 1 }, 3);
}

/* The signal that stops a job that makes call NR. */
static int stopped_by(long nr)
{
	pid_t job = fork();
	int status = 0;

	if (!job) {
		use_terminal(nr);
		_exit(0);
	}
	waitpid(job, &status, WUNTRACED);
	kill(job, SIGKILL);
	if (!WIFSTOPPED(status))
		return 0;
	waitpid(job, NULL, 0);
	return WSTOPSIG(status);
}

static void lead_session(void)
{
	struct termios terminal;

	CHILD_ASSERT(!tcgetattr(STDIN_FILENO, &terminal));
	terminal.c_lflag |= TOSTOP;
	CHILD_ASSERT(!tcsetattr(STDIN_FILENO, TCSANOW, &terminal));
	_exit(stopped_by(SYS_read) == SIGTTIN && stopped_by(SYS_write) == SIGTTOU ? 0 : 1);
}

static void a_terminal_stops_a_background_job(void **state)
{
	int terminal, status;
	pid_t leader = forkpty(&terminal, NULL, NULL, NULL);

	(void)state;
	assert_true(leader >= 0);
	if (!leader)
		lead_session();
	assert_int_equal(waitpid(leader, &status, 0), leader);
	assert_int_equal(status, 0);
	close(terminal);
}

/* ---- children ---- */

static int gate[2];

static void *wait_for_child(void *argument)
{
	int status = -1;
	long pid = ferry_thread_call(SYS_wait4, *(pid_t *)argument, (long)&status, 0, 0, 0, 0);

	return pid == *(pid_t *)argument ? (void *)(long)status : (void *)-1L;
}

/* A range in which nothing is open. */
static void *close_and_wait_for_child(void *argument)
{
	ferry_thread_call(436 /* close_range */, INT_MAX, INT_MAX, 0, 0, 0, 0);
	return wait_for_child(argument);
}

static void *open_gate(void *argument)
{
	(void)argument;
	ferry_write(gate[1], "x", 1);
	return NULL;
}

/* The child ends once the second thread has run. */
static void others_run_beside(void *(*wait)(void *child))
{
	struct ferry_thread *waiter, *opener;
	struct ferry_flexsc *flexsc;
	char byte;
	void *status;
	pid_t child;

	assert_int_equal(pipe(gate), 0);
	child = fork();
	if (!child)
		_exit(read(gate[0], &byte, 1) == 1 ? 7 : 1);
	flexsc = start();
	ferry_thread_spawn(&waiter, flexsc, wait, &child);
	ferry_thread_spawn(&opener, flexsc, open_gate, NULL);
	ferry_thread_join(waiter, &status);
	ferry_thread_join(opener, NULL);
	assert_int_equal(WEXITSTATUS((long)status), 7);
	ferry_flexsc_stop(flexsc);
	close(gate[0]);
	close(gate[1]);
}

static void other_threads_run_while_one_waits_for_a_child(void **state)
{
	(void)state;
	others_run_beside(wait_for_child);
}

/* It only may give its caller descriptors of its own. */
static void closing_a_range_confines_nobody(void **state)
{
	(void)state;
	others_run_beside(close_and_wait_for_child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_in_the_table),
		cmocka_unit_test(calls_that_depend_on_the_caller_have_a_reason),
		cmocka_unit_test(a_signal_ends_ppoll_in_its_thread),
		cmocka_unit_test(a_terminal_stops_a_background_job),
		cmocka_unit_test(other_threads_run_while_one_waits_for_a_child),
		cmocka_unit_test(closing_a_range_confines_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
