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

static void a_signal_ends_ppoll_in_its_thread(void **state)
{
	const struct sigaction action = { .sa_handler = note_thread };
	struct timespec limit = { 10, 0 };
	unsigned long none = 0;
	const long args[] = { 0, 0, (long)&limit, (long)&none, sizeof(none) };
	struct ferry_flexsc *flexsc = start();
	pthread_t self = pthread_self(), killer;
	sigset_t user, before;
	long result;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &user, &before);
	pthread_create(&killer, NULL, signal_after_a_while, &self);
	result = ferry_flexsc_call(flexsc, SYS_ppoll, args, 5);
	usleep(0); /* ThreadSanitizer runs handlers only at the end of a function that it knows */
	pthread_join(killer, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(result, -EINTR);
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

/* ---- close_range() ---- */

#define CLOSE_RANGE 436

/* It may give its caller descriptors of its own, but only with a flag. */
static void closing_a_range_confines_nobody(void **state)
{
	const long range[] = { INT_MAX, INT_MAX, 0 }; /* in which nothing is open */
	struct ferry_flexsc *flexsc = start();
	char byte = 0;
	long reading;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	ferry_flexsc_call(flexsc, CLOSE_RANGE, range, 3);
	alarm(20); /* if this thread made the read itself */
	reading = ferry_flexsc_post(flexsc, SYS_read, (const long[]){ fds[0], (long)&byte, 1 }, 3);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(ferry_flexsc_wait(flexsc, reading), 1);
	alarm(0);
	close(fds[0]);
	close(fds[1]);
	ferry_flexsc_stop(flexsc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_in_the_table),
		cmocka_unit_test(calls_that_depend_on_the_caller_have_a_reason),
		cmocka_unit_test(a_signal_ends_ppoll_in_its_thread),
		cmocka_unit_test(a_terminal_stops_a_background_job),
		cmocka_unit_test(closing_a_range_confines_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
