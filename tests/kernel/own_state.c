// SPDX-License-Identifier: MIT
/* Slots that change their own task: what the next slot may do, sees and is. */
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/memfd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "beside.h"

#define NEW_TIME 0x80 /* CLONE_NEWTIME */
#define SET_MDWE 65   /* PR_SET_MDWE */
#define REFUSE_EXEC_GAIN 1

/* No file of the root's, and no directory that other tests use, is written. */
static void enter_private_root(void)
{
	if (unshare(CLONE_NEWNS))
		suite_skip("needs a mount namespace of its own");
}

BESIDE_THE_LOOP(landlock_binds_the_next_slot)
{
	const unsigned long all_of_abi_1 = 0x1fff;
	struct script *s = new_script();
	unsigned int ruleset;

	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
		suite_skip("this kernel has no Landlock");
	ruleset = add_slot(s, SLOT(SYS_landlock_create_ruleset, &all_of_abi_1, 8, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
	add_taking(s, 0, ruleset, SLOT(SYS_landlock_restrict_self, 0, 0));
	add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
	add_slot(s, SLOT(SYS_mkdirat, AT_FDCWD, "/tmp/forbidden-by-landlock", 0700));
	run_script(s);
}

BESIDE_THE_LOOP(new_namespaces_hold_from_the_next_slot_on)
{
	struct script *s = new_script();
	struct utsname *name = shared_memory(PAGE);
	unsigned int map;

	add_slot(s, SLOT(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET));
	add_slot(s, SLOT(SYS_sethostname, "batch", 5));
	add_slot(s, SLOT(SYS_uname, name));
	add_slot(s, SLOT(SYS_getuid));
	map = add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/proc/self/uid_map", O_WRONLY));
	add_taking(s, 0, map, SLOT(SYS_write, 0, "0 0 1", 5));
	add_slot(s, SLOT(SYS_getuid));
	add_slot(s, SLOT(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
	add_slot(s, SLOT(SYS_mkdirat, AT_FDCWD, "/tmp/inside", 0700));
	add_slot(s, SLOT(SYS_chroot, "/tmp"));
	add_slot(s, SLOT(SYS_faccessat, AT_FDCWD, "/inside", F_OK));
	add_slot(s, SLOT(SYS_faccessat, AT_FDCWD, "/etc", F_OK));
	run_script(s);
	tell("%s\n", name->nodename);
}

BESIDE_THE_LOOP(a_new_clock_holds_from_the_next_slot_on)
{
	struct timespec *now = shared_memory(PAGE);
	const struct timespec past = { .tv_sec = 1000000 };
	struct script *s = new_script();
	unsigned int file;

	add_slot(s, SLOT(SYS_unshare, NEW_TIME));
	file = add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/proc/self/timens_offsets", O_WRONLY));
	add_taking(s, 0, file, SLOT(SYS_write, 0, "monotonic 1000000 0\n", 20));
	file = add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/proc/self/ns/time_for_children", O_RDONLY));
	add_taking(s, 0, file, SLOT(SYS_setns, 0, NEW_TIME));
	add_slot(s, SLOT(SYS_clock_gettime, CLOCK_MONOTONIC, now));
	add_slot(s, SLOT(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL));
	run_script(s);
	tell("moved: %d\n", now->tv_sec >= past.tv_sec);
}

BESIDE_THE_LOOP(rights_are_lost_slot_by_slot)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct *caps = shared_memory(PAGE);
	static struct __user_cap_data_struct none[2];
	struct script *s = new_script();

	add_slot(s, SLOT(SYS_setgroups, 0, NULL));
	add_slot(s, SLOT(SYS_setresgid, 1000, 1000, 1000));
	add_slot(s, SLOT(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0));
	add_slot(s, SLOT(SYS_setresuid, 1000, 1000, 1000));
	add_slot(s, SLOT(SYS_capget, &header, caps));
	add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/etc/shadow", O_RDONLY));
	add_slot(s, SLOT(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0));
	add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR));
	add_slot(s, SLOT(SYS_capset, &header, none));
	add_slot(s, SLOT(SYS_setresuid, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_CAPBSET_DROP, CAP_KILL, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_SECUREBITS, 0x2f, 0, 0, 0));
	add_slot(s, SLOT(SYS_fchmodat, AT_FDCWD, "/etc/passwd", 0644));
	run_script(s);
	tell("%#x %#x\n", caps[0].effective, caps[0].permitted);
}

BESIDE_THE_LOOP(settings_of_prctl_hold_from_the_next_slot_on)
{
	char *name = shared_memory(PAGE);
	int *signal_of_parent = shared_memory(PAGE);
	struct script *s = new_script();
	unsigned int comm;

	add_slot(s, SLOT(SYS_prctl, PR_SET_NAME, "renamed", 0, 0, 0));
	comm = add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY));
	add_taking(s, 0, comm, SLOT(SYS_read, 0, name, 20));
	add_slot(s, SLOT(SYS_prctl, PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_GET_PDEATHSIG, signal_of_parent, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_TIMERSLACK, 123, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_SET_SPECULATION_CTRL, 0, PR_SPEC_DISABLE, 0, 0));
	add_slot(s, SLOT(SYS_prctl, PR_GET_SPECULATION_CTRL, 0, 0, 0, 0));
	/* From here on no mapping becomes executable. */
	add_slot(s, SLOT(SYS_prctl, SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0));
	add_slot(s, SLOT(SYS_mprotect, s, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	run_script(s);
	tell("%s %d\n", name, *signal_of_parent);
}

#ifdef __x86_64__
BESIDE_THE_LOOP(registers_of_the_machine_may_change_in_a_slot)
{
	struct utsname *old = shared_memory(PAGE);
	unsigned long *word = shared_memory(PAGE);
	struct script *s = new_script();

	add_slot(s, SLOT(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, 0x12345000));
	add_slot(s, SLOT(SYS_arch_prctl, 0x1004 /* ARCH_GET_GS */, word));
	add_slot(s, SLOT(SYS_arch_prctl, 0x1011 /* ARCH_GET_CPUID */, 0));
	add_slot(s, SLOT(SYS_arch_prctl, 0x1012 /* ARCH_SET_CPUID */, 1));
	add_slot(s, SLOT(SYS_iopl, 3));
	add_slot(s, SLOT(SYS_ioperm, 0x80, 1, 1));
	add_slot(s, SLOT(SYS_personality, 0x0020000 /* UNAME26 */));
	add_slot(s, SLOT(SYS_uname, old));
	add_slot(s, SLOT(SYS_personality, 0));
	run_script(s);
	tell("%#lx %.2s\n", *word, old->release);
}
#endif

BESIDE_THE_LOOP(the_state_of_the_thread_may_change_in_a_slot)
{
	static int robust_list[8];
	static struct {
		unsigned int words[8];
	} __attribute__((aligned(32))) sequence;
	int *cpu = shared_memory(PAGE);
	void **head = shared_memory(PAGE);
	static const long cpu_0 = 1;
	struct script *s = new_script();

	add_slot(s, SLOT(SYS_set_robust_list, robust_list, 24));
	add_slot(s, SLOT(SYS_get_robust_list, 0, head, head + 1));
	/* The C library may have registered one already. */
	add_slot(s, SLOT(SYS_rseq, &sequence, 32, 0, 0x53053053));
	add_slot(s, SLOT(SYS_sched_yield));
	add_slot(s, SLOT(SYS_rseq, &sequence, 32, 1, 0x53053053));
	add_slot(s, SLOT(SYS_sched_setaffinity, 0, 8, &cpu_0));
	add_slot(s, SLOT(SYS_getcpu, cpu, NULL));
	run_script(s);
	tell("cpu %d, list %d\n", *cpu, *head == robust_list);
}

BESIDE_THE_LOOP(the_scheduling_class_may_change_in_a_slot)
{
	struct attributes {
		unsigned int size, policy;
		unsigned long flags;
		int nice;
		unsigned int priority;
		unsigned long runtime, deadline, period;
	};
	static const struct attributes fifo = { .size = 48, .policy = 1, .priority = 5 };
	static const struct attributes deadline = { .size = 48,
						    .policy = 6,
						    .runtime = 5000000,
						    .deadline = 10000000,
						    .period = 10000000 };
	static const struct attributes other = { .size = 48 };
	struct attributes *now = shared_memory(PAGE);
	static char bytes[8192];
	struct script *s = new_script();

	add_slot(s, SLOT(SYS_sched_setattr, 0, &fifo, 0));
	add_slot(s, SLOT(SYS_sched_getattr, 0, now, 48, 0));
	add_slot(s, SLOT(SYS_sched_yield));
	add_slot(s, SLOT(SYS_sched_setattr, 0, &deadline, 0));
	add_slot(s, SLOT(SYS_sched_yield));
	add_slot(s, SLOT(SYS_getrandom, bytes, sizeof(bytes), 0));
	add_slot(s, SLOT(SYS_sched_getscheduler, 0));
	add_slot(s, SLOT(SYS_sched_setattr, 0, &other, 0));
	add_slot(s, SLOT(SYS_setpriority, PRIO_PROCESS, 0, 10));
	add_slot(s, SLOT(SYS_getpriority, PRIO_PROCESS, 0));
	add_slot(s, SLOT(SYS_ioprio_set, 1, 0, 3 << 13));
	add_slot(s, SLOT(SYS_ioprio_get, 1, 0));
	run_script(s);
	tell("policy %u, priority %u\n", now->policy, now->priority);
}

BESIDE_THE_LOOP(limits_hold_from_the_next_slot_on)
{
	static const struct rlimit file_size = { 4096, 4096 };
	static const struct rlimit nothing = { 0, 0 };
	static char bytes[3000];
	struct script *s = new_script();
	unsigned int file;

	signal(SIGXFSZ, SIG_IGN);
	add_slot(s, SLOT(SYS_prlimit64, 0, RLIMIT_FSIZE, &file_size, NULL));
	file = add_slot(s, SLOT(SYS_memfd_create, "limited", 0));
	add_taking(s, 0, file, SLOT(SYS_write, 0, bytes, sizeof(bytes)));
	add_taking(s, 0, file, SLOT(SYS_write, 0, bytes, sizeof(bytes)));
	add_taking(s, 0, file, SLOT(SYS_write, 0, bytes, sizeof(bytes)));
	add_slot(s, SLOT(SYS_prlimit64, 0, RLIMIT_AS, &nothing, NULL));
	add_slot(s, SLOT(SYS_mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	add_slot(s, SLOT(SYS_prlimit64, 0, RLIMIT_NOFILE, &nothing, NULL));
	add_slot(s, SLOT(SYS_dup, 0));
	run_script(s);
}

BESIDE_THE_LOOP(descriptors_of_every_kind_come_and_go_in_slots)
{
	pid_t self = getpid();
	struct script *s = new_script();
	unsigned int null, process, sealed;

	add_slot(s, SLOT(SYS_close_range, 3, ~0U, 2 /* CLOSE_RANGE_UNSHARE */));
	null = add_slot(s, SLOT(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
	process = add_slot(s, SLOT(SYS_pidfd_open, self, 0));
	add_taking(s, 0, process, SLOT(SYS_pidfd_getfd, 0, 0, 0));
	add_taking(s, 0, process, SLOT(SYS_pidfd_send_signal, 0, 0, NULL, 0));
	sealed = add_slot(s, SLOT(SYS_memfd_create, "sealed", MFD_ALLOW_SEALING));
	add_taking(s, 0, sealed, SLOT(SYS_fcntl, 0, F_ADD_SEALS, F_SEAL_WRITE));
	add_taking(s, 0, sealed, SLOT(SYS_write, 0, "x", 1));
	add_taking(s, 0, null, SLOT(SYS_dup3, 0, 200, O_CLOEXEC));
	add_slot(s, SLOT(SYS_fcntl, 200, F_GETFD));
	run_script(s);
}

BESIDE_THE_LOOP(a_slot_may_write_a_later_one_as_another_process_would)
{
	static const struct batch_slot later = { .nr = SYS_getuid };
	struct script *s = new_script();
	struct iovec from = { (void *)&later, sizeof(later) };
	struct iovec to = { &s->calls[2], sizeof(later) };

	add_slot(s, SLOT(SYS_process_vm_writev, getpid(), &from, 1, &to, 1, 0));
	add_slot(s, SLOT(SYS_getuid));
	add_slot(s, SLOT(-1));
	add_slot(s, SLOT(SYS_getuid));
	run_script(s);
}

/* Mounts and control groups are made by children of their own, in a namespace of their own. */
static void write_to(struct script *s, const char *path, const char *text)
{
	unsigned int file = add_slot(s, SLOT(SYS_openat, AT_FDCWD, path, O_WRONLY));

	add_taking(s, 0, file, SLOT(SYS_write, 0, text, strlen(text)));
}

/* Mounts control groups in a namespace of the child's own, and makes one in them, empty. */
static void make_group(void)
{
	enter_private_root();
	if (syscall(SYS_mount, "none", "/", NULL, 0x44000 /* MS_REC | MS_PRIVATE */, NULL) ||
	    syscall(SYS_mount, "none", "/mnt", "cgroup2", 0, NULL))
		suite_skip("needs control groups");
	rmdir("/mnt/hostile");
	expect(!mkdir("/mnt/hostile", 0700));
}

static void kill_its_group(void *arg)
{
	struct script *s = arg;

	write_to(s, "/mnt/hostile/cgroup.procs", "0");
	write_to(s, "/mnt/hostile/cgroup.kill", "1");
	add_slot(s, SLOT(SYS_kill, getppid(), SIGUSR1));
	run_batch(s->rets, s->calls, s->count);
}

BESIDE_THE_LOOP(no_slot_follows_the_one_that_kills_its_control_group)
{
	struct script *s = new_script();

	make_group();
	signal(SIGUSR1, SIG_DFL);
	tell("status %#x\n", in_child(kill_its_group, s));
	tell("%ld %ld\n", s->rets[1], s->rets[4]);
	expect(!rmdir("/mnt/hostile"));
}

static void freeze_its_group(void *arg)
{
	struct script *s = arg;

	write_to(s, "/mnt/hostile/cgroup.procs", "0");
	write_to(s, "/mnt/hostile/cgroup.freeze", "1");
	add_slot(s, SLOT(SYS_getuid));
	run_batch(s->rets, s->calls, s->count);
}

BESIDE_THE_LOOP(no_slot_follows_the_one_that_freezes_its_control_group_until_it_thaws)
{
	struct script *s = new_script();
	int status, i, file;
	pid_t pid;

	make_group();
	pid = child_start(freeze_its_group, s);
	for (i = 0; i < 10000 && *(volatile long *)&s->rets[2] == UNTOUCHED; i++)
		usleep(1000);
	usleep(200000);
	tell("frozen: %d\n", *(volatile long *)&s->rets[4] != 0);
	file = open("/mnt/hostile/cgroup.freeze", O_WRONLY);
	expect_equal(write(file, "0", 1), 1);
	expect_equal(waitpid(pid, &status, 0), pid);
	tell("status %#x, %ld %ld\n", status, s->rets[3], s->rets[4]);
	expect(!rmdir("/mnt/hostile"));
}
