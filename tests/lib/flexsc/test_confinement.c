// SPDX-License-Identifier: MIT
/*
 * Tests that a posted call does no more than its caller may do.  Each test runs in a child,
 * because restrictions stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <ferry_flexsc.h>

#include "tests/lib/unit/child.h"

static char secret[] = "/tmp/ferry-secret-XXXXXX";

static struct ferry_flexsc *start(void)
{
	struct ferry_flexsc *flexsc;

	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	return flexsc;
}

/* ---- what a thread does to itself, by libc, as programs do ---- */

/* From now on CALL of this thread fails with EPERM.  FLEXSC installs the filter, unless it is NULL.
 */
static void filter_by(struct ferry_flexsc *flexsc, long call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	const long args[] = { SECCOMP_SET_MODE_FILTER, 0, (long)&program };

	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (flexsc)
		CHILD_ASSERT(!ferry_flexsc_call(flexsc, SYS_seccomp, args, 3));
	else
		CHILD_ASSERT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void filter(long call)
{
	filter_by(NULL, call);
}

static void forbid_open(void)
{
	filter(SYS_openat);
}

static void enter_domain(void)
{
	const struct landlock_ruleset_attr none = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE,
	};
	long rules = syscall(SYS_landlock_create_ruleset, &none, sizeof(none), 0);

	if (rules < 0)
		_exit(0); /* the kernel has no Landlock */
	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHILD_ASSERT(!syscall(SYS_landlock_restrict_self, rules, 0));
}

static void become_nobody(void)
{
	setfsuid(65534);
}

/* ---- opening a file that only its owner may read ---- */

static void (*restriction)(void);

static long open_secret(struct ferry_flexsc *flexsc)
{
	const long args[] = { AT_FDCWD, (long)secret, O_RDONLY | O_CLOEXEC, 0 };

	return ferry_flexsc_call(flexsc, SYS_openat, args, 4);
}

static bool is_refused(long result)
{
	return result == -EPERM || result == -EACCES;
}

static void open_after_restriction(void)
{
	struct ferry_flexsc *flexsc = start();

	restriction();
	CHILD_ASSERT(is_refused(open_secret(flexsc)));
}

static void open_before_and_after_restriction(void)
{
	struct ferry_flexsc *flexsc = start();

	CHILD_ASSERT(open_secret(flexsc) >= 0);
	restriction();
	CHILD_ASSERT(is_refused(open_secret(flexsc)));
}

static void check_restriction(void (*what)(void))
{
	restriction = what;
	ASSERT_IN_CHILD(open_after_restriction);
	ASSERT_IN_CHILD(open_before_and_after_restriction);
}

static void a_filter_binds_posted_calls(void **state)
{
	(void)state;
	check_restriction(forbid_open);
}

static void a_domain_binds_posted_calls(void **state)
{
	(void)state;
	check_restriction(enter_domain);
}

static void another_user_binds_posted_calls(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* only root may become nobody */
	check_restriction(become_nobody);
}

/* ---- calls on open descriptors ---- */

static int null;

static long write_null(struct ferry_flexsc *flexsc)
{
	return ferry_flexsc_call(flexsc, SYS_write, (const long[]){ null, (long)"x", 1 }, 3);
}

static void *write_filtered(void *flexsc)
{
	filter(SYS_write);
	CHILD_ASSERT(write_null(flexsc) == -EPERM);
	return NULL;
}

/* The main thread is not filtered, and its calls are still posted. */
static void write_in_filtered_thread(void)
{
	struct ferry_flexsc *flexsc = start();
	pthread_t thread;

	CHILD_ASSERT(write_null(flexsc) == 1);
	CHILD_ASSERT(!pthread_create(&thread, NULL, write_filtered, flexsc));
	CHILD_ASSERT(!pthread_join(thread, NULL));
	CHILD_ASSERT(write_null(flexsc) == 1);
}

static void a_thread_is_compared_before_its_first_post(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(write_in_filtered_thread);
}

/* The bytes that this thread has written by calls of its own. */
static long written(void)
{
	char text[400] = "";
	int fd = open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC);
	const char *count;

	CHILD_ASSERT(fd < 0 || read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	count = strstr(text, "wchar: ");
	if (!count)
		_exit(0); /* the kernel does not count */
	return strtol(count + strlen("wchar: "), NULL, 10);
}

#define WRITES 100

static bool are_own_calls(struct ferry_flexsc *flexsc)
{
	long before = written();
	int i;

	for (i = 0; i < WRITES; i++)
		CHILD_ASSERT(write_null(flexsc) == 1);
	return written() - before == WRITES;
}

#define IO_CLASS_IDLE (3 << 13)

static void *write_in_idle_class(void *flexsc)
{
	CHILD_ASSERT(!syscall(SYS_ioprio_set, 1 /* a thread */, 0, IO_CLASS_IDLE));
	CHILD_ASSERT(are_own_calls(flexsc));
	return NULL;
}

static void write_in_another_class(void)
{
	struct ferry_flexsc *flexsc = start();
	pthread_t thread;

	CHILD_ASSERT(!pthread_create(&thread, NULL, write_in_idle_class, flexsc));
	CHILD_ASSERT(!pthread_join(thread, NULL));
}

static void a_thread_keeps_its_io_class(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(write_in_another_class);
}

static void write_after_declaration(void)
{
	struct ferry_flexsc *flexsc = start();

	CHILD_ASSERT(write_null(flexsc) == 1);
	filter(SYS_write);
	ferry_flexsc_confined();
	CHILD_ASSERT(write_null(flexsc) == -EPERM);
}

static void a_thread_may_declare_its_restrictions(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(write_after_declaration);
}

static void write_after_filtering_by_ferry(void)
{
	struct ferry_flexsc *flexsc = start();

	CHILD_ASSERT(write_null(flexsc) == 1);
	filter_by(flexsc, SYS_write);
	CHILD_ASSERT(write_null(flexsc) == -EPERM);
}

static void restrictions_by_ferry_are_noticed(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(write_after_filtering_by_ferry);
}

/* ---- restrictions of all threads ---- */

/* libc changes the user of all threads, so calls are still posted, and open for nobody. */
static void open_as_nobody(void)
{
	struct ferry_flexsc *flexsc = start();

	CHILD_ASSERT(write_null(flexsc) == 1);
	CHILD_ASSERT(!setuid(65534));
	CHILD_ASSERT(write_null(flexsc) == 1);
	CHILD_ASSERT(is_refused(open_secret(flexsc)));
}

static void setuid_binds_all_threads(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* only root may become nobody */
	ASSERT_IN_CHILD(open_as_nobody);
}

/* ---- protection keys ---- */

static void write_from_protected_memory(void)
{
	struct ferry_flexsc *flexsc = start();
	long size = sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	int key = pkey_alloc(0, 0), fds[2];

	if (key < 0)
		_exit(0); /* the processor has none */
	CHILD_ASSERT(!pipe(fds));
	CHILD_ASSERT(!pkey_mprotect(page, (size_t)size, PROT_READ | PROT_WRITE, key));
	CHILD_ASSERT(ferry_flexsc_call(flexsc, SYS_write, (const long[]){ fds[1], (long)page, 1 },
				       3) == 1);
	CHILD_ASSERT(!pkey_set(key, PKEY_DISABLE_ACCESS));
	CHILD_ASSERT(ferry_flexsc_call(flexsc, SYS_write, (const long[]){ fds[1], (long)page, 1 },
				       3) == -EFAULT);
}

static void rights_to_memory_are_the_callers(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(write_from_protected_memory);
}

static int make_secret(void **state)
{
	int fd = mkstemp(secret);

	(void)state;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return fd < 0 || null < 0 || close(fd) ? -1 : 0;
}

static int remove_secret(void **state)
{
	(void)state;
	close(null);
	return unlink(secret);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_binds_posted_calls),
		cmocka_unit_test(a_domain_binds_posted_calls),
		cmocka_unit_test(another_user_binds_posted_calls),
		cmocka_unit_test(a_thread_is_compared_before_its_first_post),
		cmocka_unit_test(a_thread_keeps_its_io_class),
		cmocka_unit_test(a_thread_may_declare_its_restrictions),
		cmocka_unit_test(restrictions_by_ferry_are_noticed),
		cmocka_unit_test(setuid_binds_all_threads),
		cmocka_unit_test(rights_to_memory_are_the_callers),
	};

	return cmocka_run_group_tests(tests, make_secret, remove_secret);
}
