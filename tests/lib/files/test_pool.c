// SPDX-License-Identifier: MIT
/* Tests the threads of the pool. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/unit.h"
#include "tests/lib/unit/child.h"
#include "tests/lib/unit/thread_count.h"
#include "lib/files/pool.h"
#include "capability.h"

#define USUAL_STACK ((size_t)6 << 20)

/* A callback of the application may be Python, whose limit for recursions expects such a stack. */
static void use_much_stack(void *argument)
{
	char large[USUAL_STACK];

	memset(large, 1, sizeof(large));
	__asm__ volatile("" ::"r"(large) : "memory");
	sem_post(argument);
}

TEST(test_a_stack_is_as_large_as_usual)
{
	sem_t used;

	assert_int_equal(sem_init(&used, 0, 0), 0);
	assert_true(ferry__pool_run(use_much_stack, NULL, &used));
	assert_int_equal(sem_wait(&used), 0);
	sem_destroy(&used);
}

/* ---- a kept thread ---- */

struct look {
	cpu_set_t affinity;
	sem_t done;
};

static void look_at_affinity(void *argument)
{
	struct look *look = argument;

	sched_getaffinity(0, sizeof(look->affinity), &look->affinity);
}

/* With the pool locked until the thread is idle: the next job is for it. */
static void end_look(void *argument)
{
	struct look *look = argument;

	sem_post(&look->done);
}

static void assert_runs_on(const cpu_set_t *expected)
{
	struct look look;

	assert_int_equal(sem_init(&look.done, 0, 0), 0);
	assert_true(ferry__pool_run(look_at_affinity, end_look, &look));
	assert_int_equal(sem_wait(&look.done), 0);
	assert_true(CPU_EQUAL(&look.affinity, expected));
	sem_destroy(&look.done);
}

static int first_cpu(const cpu_set_t *set)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, set))
		cpu++;
	return cpu;
}

TEST(test_a_kept_thread_has_the_present_affinity)
{
	const bool was_capable = have_threads_kept();
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2)
		skip();
	CPU_ZERO(&one);
	CPU_SET(first_cpu(&all), &one);
	assert_runs_on(&all);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_runs_on(&one);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_runs_on(&all);
	if (was_capable)
		set_capability(CAP_SYS_ADMIN, true);
}

/* ---- what a thread could keep from an earlier user ---- */

static long get_groups(void)
{
	gid_t groups[100] = { 0 };

	syscall(SYS_getgroups, 100, groups);
	return (long)groups[0];
}

/* The C library would do it in all threads. */
static int set_groups(void)
{
	const gid_t groups[] = { 4711, 4712 };

	return (int)syscall(SYS_setgroups, 2, groups);
}

static long get_capabilities(void)
{
	struct __user_cap_data_struct present[2] = { 0 };

	syscall(SYS_capget, &version, present);
	return present[0].effective;
}

static int drop_capability(void)
{
	return set_capability(CAP_DAC_OVERRIDE, false) ? 0 : -1;
}

static long get_nice(void)
{
	return syscall(SYS_getpriority, PRIO_PROCESS, 0);
}

/* The tests may run under nice. */
static int set_nice(void)
{
	int present = getpriority(PRIO_PROCESS, 0);

	return present < 19 ? setpriority(PRIO_PROCESS, 0, present + 1) : -1;
}

static long get_policy(void)
{
	return sched_getscheduler(0);
}

static int set_policy(void)
{
	const struct sched_param none = { 0 };

	return sched_setscheduler(0, SCHED_BATCH, &none);
}

static long get_io_priority(void)
{
	return syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
}

static int set_io_priority(void)
{
	return (int)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
			    IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static const struct property {
	long (*get)(void);
	int (*change)(void);
} properties[] = {
	{ get_groups, set_groups }, { get_capabilities, drop_capability }, { get_nice, set_nice },
	{ get_policy, set_policy }, { get_io_priority, set_io_priority },
};

static const struct property *property;
static long found;
static sem_t looked;

static void look_at_property(void *unused)
{
	(void)unused;
	found = property->get();
}

static void end_look_at_property(void *unused)
{
	(void)unused;
	sem_post(&looked);
}

static long in_the_pool(void)
{
	CHILD_ASSERT(ferry__pool_run(look_at_property, end_look_at_property, NULL));
	CHILD_ASSERT(!sem_wait(&looked));
	return found;
}

static void change_one(void)
{
	long before;

	have_threads_kept();
	before = property->get();
	CHILD_ASSERT(!sem_init(&looked, 0, 0));
	CHILD_ASSERT(in_the_pool() == before);
	if (property->change())
		return; /* not allowed here */
	CHILD_ASSERT(property->get() != before);
	CHILD_ASSERT(in_the_pool() == property->get());
}

TEST(test_a_kept_thread_has_only_what_its_user_has)
{
	for (property = properties; property < properties + 5; property++)
		ASSERT_IN_CHILD(change_one);
}

/* ---- a confinement that no call reports ---- */

static long open_root(void)
{
	int root = open("/", O_RDONLY | O_DIRECTORY);

	if (root < 0)
		return -errno;
	close(root);
	return 0;
}

static const struct property root_directory = { open_root, NULL };

/* Without no_new_privs. */
static bool forbid_reading_directories(void)
{
	const struct landlock_ruleset_attr attributes = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_DIR,
	};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);

	return rules >= 0 && !syscall(SYS_landlock_restrict_self, rules, 0);
}

static void use_landlock(void)
{
	property = &root_directory;
	CHILD_ASSERT(!sem_init(&looked, 0, 0));
	CHILD_ASSERT(in_the_pool() == 0);
	if (!forbid_reading_directories())
		return; /* not allowed here */
	CHILD_ASSERT(open_root() == -EACCES);
	CHILD_ASSERT(in_the_pool() == -EACCES);
}

TEST(test_a_thread_has_the_landlock_domain_of_its_user)
{
	ASSERT_IN_CHILD(use_landlock);
}

/* ---- without work ---- */

static void wait_without_work(void)
{
	const int before = threads_of_process();
	unsigned int tenths = 0;

	have_threads_kept();
	property = &root_directory;
	CHILD_ASSERT(!sem_init(&looked, 0, 0));
	CHILD_ASSERT(in_the_pool() == 0);
	while (threads_of_process() > before && tenths++ < 600)
		usleep(100000);
	CHILD_ASSERT(threads_of_process() == before);
	CHILD_ASSERT(in_the_pool() == 0);
}

TEST(test_a_thread_without_work_ends)
{
	ASSERT_IN_CHILD(wait_without_work);
}

/* ---- signals ---- */

static char *page;

static void open_page(int signal)
{
	(void)signal;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void touch_page(void *done)
{
	*(volatile char *)page = 1;
	sem_post(done);
}

static void touch_in_the_pool(void)
{
	const struct sigaction action = { .sa_handler = open_page };
	sem_t done;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHILD_ASSERT(page != MAP_FAILED);
	CHILD_ASSERT(!sigaction(SIGSEGV, &action, NULL));
	CHILD_ASSERT(!sem_init(&done, 0, 0));
	CHILD_ASSERT(ferry__pool_run(touch_page, NULL, &done));
	CHILD_ASSERT(!sem_wait(&done));
}

/* As in a callback of a program that maps memory when it is touched. */
TEST(test_a_signal_that_a_thread_causes_has_its_handler)
{
	ASSERT_IN_CHILD(touch_in_the_pool);
}

TEST_MAIN
