// SPDX-License-Identifier: GPL-2.0
/* A posted call never does what the same call by the thread that posted it could not. */
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>

#include "flexsc_test.h"

FIXTURE(confined)
{
	struct flexsc_set *set;
	struct runner runner;
};

FIXTURE_SETUP(confined)
{
	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_TRUE(register_fence());
	self->set = new_set(0);
	start(&self->runner, self->set, NULL);
	ASSERT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
}

FIXTURE_TEARDOWN(confined)
{
	if (self->set)
		EXPECT_EQ(0, stop(&self->runner));
}

/* The entry keeps the ID of the thread that has to make the call. */
static bool is_refused(struct flexsc_set *set)
{
	struct flexsc_entry *entry = post(set, 1, ENTRY(__NR_getpid));
	bool refused = wait_for(entry) == FLEXSC_ENTRY_REFUSED;

	refused &= !entry->begun && entry->result == own_call(__NR_gettid, 0, 0, 0, 0);
	STORE(entry->status, FLEXSC_ENTRY_FREE);
	return refused;
}

static long forbid_openat(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_F(confined, a_caller_with_no_new_privs_is_refused)
{
	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	EXPECT_TRUE(is_refused(self->set));
}

TEST_F(confined, a_caller_with_a_filter_is_refused)
{
	if (forbid_openat())
		ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ?: forbid_openat());
	EXPECT_TRUE(is_refused(self->set));
}

TEST_F(confined, a_caller_with_the_filter_of_its_runner_is_served)
{
	struct runner runner;
	struct flexsc_set *set = new_set(0);

	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ASSERT_EQ(0, forbid_openat());
	start(&runner, set, NULL);
	EXPECT_EQ(-EPERM, made(set, ENTRY(__NR_openat, AT_FDCWD, P("/"), O_RDONLY)));
	EXPECT_EQ(THIS_PROCESS, made(set, ENTRY(__NR_getpid)));
	EXPECT_EQ(0, stop(&runner));
}

TEST_F(confined, a_caller_with_another_file_system_user_is_refused)
{
	if (geteuid())
		SKIP(return, "only root can change it");
	setfsuid(65534);
	EXPECT_TRUE(is_refused(self->set));
}

TEST_F(confined, a_caller_with_landlock_rules_is_refused)
{
	const struct landlock_ruleset_attr rules = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE,
	};
	int fd = syscall(__NR_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (fd < 0)
		SKIP(return, "no Landlock");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ASSERT_EQ(0, syscall(__NR_landlock_restrict_self, fd, 0));
	EXPECT_TRUE(is_refused(self->set));
}

TEST_F(confined, a_caller_with_its_own_directory_is_refused)
{
	ASSERT_EQ(0, unshare(CLONE_FS));
	EXPECT_TRUE(is_refused(self->set));
}

TEST_F(confined, a_caller_with_its_own_descriptors_is_refused)
{
	ASSERT_EQ(0, unshare(CLONE_FILES));
	EXPECT_TRUE(is_refused(self->set));
}

static bool put(const char *directory, const char *name, const char *text)
{
	char path[200];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

/* Puts this process into a new cgroup, and this thread into a threaded one below it. */
static bool enter_cgroup(const char *outer, const char *inner)
{
	return !mkdir(outer, 0700) && put(outer, "cgroup.procs", "0") && !mkdir(inner, 0700) &&
	       put(inner, "cgroup.type", "threaded") && put(inner, "cgroup.threads", "0");
}

TEST_F(confined, a_caller_in_another_cgroup_is_refused)
{
	char root[] = "/tmp/flexsc-XXXXXX", outer[100], inner[100];
	bool entered;

	if (!mkdtemp(root) || mount("none", root, "cgroup2", 0, NULL))
		SKIP(return, "no cgroups, or no right to mount");
	snprintf(outer, sizeof(outer), "%s/flexsc", root);
	snprintf(inner, sizeof(inner), "%s/flexsc/thread", root);
	entered = enter_cgroup(outer, inner);
	if (entered)
		EXPECT_TRUE(is_refused(self->set));
	put(root, "cgroup.procs", "0");
	rmdir(inner);
	rmdir(outer);
	umount(root);
	rmdir(root);
	if (!entered)
		SKIP(return, "no threaded cgroup can be made here");
}

#define IO_CLASS_IDLE (3 << 13)

TEST_F(confined, a_caller_with_another_io_class_is_refused)
{
	if (syscall(__NR_ioprio_set, 1 /* a thread */, 0, IO_CLASS_IDLE))
		SKIP(return, "no I/O priorities");
	EXPECT_TRUE(is_refused(self->set));
}

TEST_F(confined, a_caller_with_a_protection_key_is_refused)
{
	int key = syscall(__NR_pkey_alloc, 0, 0);

	if (key < 0)
		SKIP(return, "no protection keys");
	EXPECT_TRUE(is_refused(self->set));
	syscall(__NR_pkey_free, key);
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
}

TEST_F(confined, a_poster_must_be_a_thread_of_the_process)
{
	const pid_t others[] = { 0, -1, 1, getppid(), INT_MAX };
	struct flexsc_entry call = ENTRY(__NR_getpid);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		call.result = others[i];
		EXPECT_EQ(REFUSED, made(self->set, call));
	}
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
}

static void ignore(int sig)
{
	(void)sig;
}

TEST_F(confined, a_call_is_not_made_again_for_a_poster_that_gave_up_rights)
{
	const struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	struct flexsc_entry *entry;
	int ends[2];
	char byte;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	entry = post(self->set, 3, ENTRY(__NR_read, ends[0], P(&byte), 1));
	wait_until_blocked(&self->runner, entry);
	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ASSERT_EQ(0, pthread_kill(self->runner.thread, SIGUSR1));
	EXPECT_EQ(FLEXSC_ENTRY_REFUSED, wait_for(entry));
	EXPECT_EQ(0, entry->begun);
}

static void *post_confined(void *set)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return is_refused(set) ? set : NULL;
}

/* One thread's confinement is not another's, and ends with it. */
TEST_F(confined, a_confined_thread_is_refused_and_others_are_served)
{
	pthread_t thread;
	void *refused;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, post_confined, self->set));
		EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
		pthread_join(thread, &refused);
		EXPECT_EQ(self->set, refused);
		EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	}
}

static void *note_id(void *id)
{
	*(pid_t *)id = own_call(__NR_gettid, 0, 0, 0, 0);
	return NULL;
}

TEST_F(confined, a_thread_that_has_ended_posts_nothing)
{
	struct flexsc_entry call = ENTRY(__NR_getpid);
	pthread_t thread;
	pid_t dead;

	ASSERT_EQ(0, pthread_create(&thread, NULL, note_id, &dead));
	pthread_join(thread, NULL);
	wait_while(state_of(dead));
	call.result = dead;
	EXPECT_EQ(REFUSED, made(self->set, call));
}

TEST_HARNESS_MAIN
