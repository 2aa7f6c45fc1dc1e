// SPDX-License-Identifier: MIT
/*
 * Every system call of Linux 7.3, and who may make it.  A call that is not listed is made by the
 * calling thread: a newer one may depend on it.  Numbers from 424 on are those of all
 * architectures, and stand here because headers may be older than the kernel.
 */
#include "direct.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <ferry_flexsc.h>

static const struct row {
	short nr;
	unsigned char who; /* may make it */
	const char *name, *reason;
} table[] = {
/* clang-format off */
#define QUICK(call) { __NR_##call, NEVER_WAITS, #call, NULL },
#define QUICK_NR(nr, call) { nr, NEVER_WAITS, #call, NULL },
#define POST(call) { __NR_##call, ANY_RUNNER, #call, NULL },
#define POST_NR(nr, call) { nr, ANY_RUNNER, #call, NULL },
#define CHECK(call, why) { __NR_##call, ALIKE_RUNNER, #call, why },
#define CHECK_NR(nr, call, why) { nr, ALIKE_RUNNER, #call, why },
#define HERE(call, why) { __NR_##call, CALLER_ONLY, #call, why },
#define HERE_NR(nr, call, why) { nr, CALLER_ONLY, #call, why },

	/* ---- calls on what the process has already, or that ask no permission ---- */

	/* data of open files */
	POST(read) POST(write) POST(pread64) POST(pwrite64) POST(readv) POST(writev) POST(preadv)
	POST(pwritev) POST(preadv2) POST(pwritev2) POST(sendfile) POST(splice) POST(tee)
	POST(vmsplice) POST(copy_file_range) QUICK(lseek) POST(readahead) POST(fadvise64)
	/* open files; fcntl() leases and locks belong to the process */
	QUICK(close) QUICK(fstat) POST(fstatfs) POST(fsync) POST(fdatasync) POST(syncfs) POST(sync)
	POST(sync_file_range) POST(ftruncate) POST(fallocate) POST(flock) POST(fcntl) QUICK(dup)
	QUICK(dup3) POST(getdents64) QUICK(getcwd)
	/* connected or listening sockets */
	POST(accept) POST(accept4) POST(sendto) POST(recvfrom) POST(sendmsg) POST(recvmsg)
	POST(sendmmsg) POST(recvmmsg) QUICK(shutdown) QUICK(getsockname) QUICK(getpeername)
	/* descriptors of the process */
	QUICK(pipe2) QUICK(eventfd2) QUICK(epoll_create1) QUICK(epoll_ctl) QUICK(timerfd_settime)
	QUICK(timerfd_gettime) QUICK(inotify_init1) POST(inotify_rm_watch) QUICK(memfd_create)
	QUICK_NR(434, pidfd_open)
	/* queues and shared memory that are open */
	POST(mq_timedsend) POST(mq_timedreceive) POST(mq_notify) POST(mq_getsetattr)
	POST(io_setup) POST(io_destroy) POST(io_submit) POST(io_cancel) POST(io_getevents)
	POST(shmdt)
	/* memory of the process */
	POST(munmap) POST(brk) POST(msync) POST(munlock) POST(munlockall) POST_NR(462, mseal)
	/* time of the process */
	POST(nanosleep) POST(clock_nanosleep) QUICK(getitimer) QUICK(setitimer)
	QUICK(timer_settime) QUICK(timer_gettime) QUICK(timer_getoverrun) POST(timer_delete)
	QUICK(gettimeofday) QUICK(times)
	/* the process and the system */
	QUICK(getpid) QUICK(getppid) POST(setsid) QUICK(umask) QUICK(getrlimit) QUICK(sysinfo)
	POST(getrandom) QUICK(rt_sigaction) QUICK(sched_get_priority_max)
	QUICK(sched_get_priority_min) QUICK_NR(461, lsm_list_modules)
	/* calls of the patch series */
	QUICK_NR(500, null) POST_NR(502, kstats) POST_NR(503, multi_page_alloc)
#ifdef __x86_64__
	/* older forms */
	QUICK(pipe) QUICK(dup2) QUICK(eventfd) QUICK(epoll_create) POST(epoll_wait)
	QUICK(inotify_init) POST(poll) POST(select) POST(getdents) QUICK(alarm) QUICK(getpgrp)
	QUICK(time) POST(sysfs)
#endif

	/* ---- calls whose permission the kernel checks against the thread that makes them ---- */

#define PATHS "depends on what the calling thread may do with a path"
	CHECK(openat, PATHS)
	CHECK_NR(437, openat2, PATHS)
	CHECK(newfstatat, PATHS)
	CHECK(statx, PATHS)
	CHECK(faccessat, PATHS)
	CHECK_NR(439, faccessat2, PATHS)
	CHECK(readlinkat, PATHS)
	CHECK(mkdirat, PATHS)
	CHECK(mknodat, PATHS)
	CHECK(unlinkat, PATHS)
	CHECK(renameat, PATHS)
	CHECK(renameat2, PATHS)
	CHECK(linkat, PATHS)
	CHECK(symlinkat, PATHS)
	CHECK(fchmodat, PATHS)
	CHECK_NR(452, fchmodat2, PATHS)
	CHECK(fchownat, PATHS)
	CHECK(utimensat, PATHS)
	CHECK(truncate, PATHS)
	CHECK(chdir, PATHS)
	CHECK(fchdir, PATHS)
	CHECK(chroot, PATHS)
	CHECK(statfs, PATHS)
	CHECK(inotify_add_watch, PATHS)
	CHECK(name_to_handle_at, PATHS)
	CHECK(open_by_handle_at, PATHS)
	CHECK(setxattr, PATHS)
	CHECK(lsetxattr, PATHS)
	CHECK(getxattr, PATHS)
	CHECK(lgetxattr, PATHS)
	CHECK(listxattr, PATHS)
	CHECK(llistxattr, PATHS)
	CHECK(removexattr, PATHS)
	CHECK(lremovexattr, PATHS)
	CHECK_NR(463, setxattrat, PATHS)
	CHECK_NR(464, getxattrat, PATHS)
	CHECK_NR(465, listxattrat, PATHS)
	CHECK_NR(466, removexattrat, PATHS)
	CHECK_NR(468, file_getattr, PATHS)
	CHECK_NR(469, file_setattr, PATHS)
	CHECK_NR(472, fchroot, PATHS)
#ifdef __x86_64__
	CHECK(open, PATHS)
	CHECK(creat, PATHS)
	CHECK(stat, PATHS)
	CHECK(lstat, PATHS)
	CHECK(access, PATHS)
	CHECK(readlink, PATHS)
	CHECK(mkdir, PATHS)
	CHECK(rmdir, PATHS)
	CHECK(mknod, PATHS)
	CHECK(unlink, PATHS)
	CHECK(rename, PATHS)
	CHECK(link, PATHS)
	CHECK(symlink, PATHS)
	CHECK(chmod, PATHS)
	CHECK(chown, PATHS)
	CHECK(lchown, PATHS)
	CHECK(utime, PATHS)
	CHECK(utimes, PATHS)
	CHECK(futimesat, PATHS)
	CHECK(ustat, PATHS)
#endif
#define FILES "depends on what the calling thread may do with a file"
	CHECK(fchmod, FILES)
	CHECK(fchown, FILES)
	CHECK(fsetxattr, FILES)
	CHECK(fgetxattr, FILES)
	CHECK(flistxattr, FILES)
	CHECK(fremovexattr, FILES)
	CHECK_NR(451, cachestat, FILES)
	CHECK(fanotify_init, FILES)
	CHECK(fanotify_mark, FILES)
	CHECK(userfaultfd, FILES)
	CHECK(timerfd_create, FILES)
	CHECK_NR(438, pidfd_getfd, FILES)
	CHECK(bpf, FILES)
#define SOCKETS "depends on what the calling thread may do with sockets"
	CHECK(socket, SOCKETS)
	CHECK(socketpair, SOCKETS)
	CHECK(bind, SOCKETS)
	CHECK(listen, SOCKETS)
	CHECK(connect, SOCKETS)
	CHECK(setsockopt, SOCKETS)
	CHECK(getsockopt, SOCKETS)
#define IPC "depends on the calling thread's rights to the object"
	CHECK(shmget, IPC)
	CHECK(shmat, IPC)
	CHECK(shmctl, IPC)
	CHECK(semget, IPC)
	CHECK(semop, IPC)
	CHECK(semctl, IPC)
	CHECK(semtimedop, IPC)
	CHECK(msgget, IPC)
	CHECK(msgsnd, IPC)
	CHECK(msgrcv, IPC)
	CHECK(msgctl, IPC)
	CHECK(mq_open, IPC)
	CHECK(mq_unlink, IPC)
#define MEMORY "depends on what the calling thread may do with memory"
	CHECK(mremap, MEMORY)
	CHECK(madvise, MEMORY)
	CHECK(mincore, MEMORY)
	CHECK(mlock, MEMORY)
	CHECK(mlock2, MEMORY)
	CHECK(mlockall, MEMORY)
	CHECK(mbind, MEMORY)
	CHECK(move_pages, MEMORY)
	CHECK(migrate_pages, MEMORY)
	CHECK(process_vm_readv, MEMORY)
	CHECK(process_vm_writev, MEMORY)
	CHECK_NR(440, process_madvise, MEMORY)
	CHECK_NR(447, memfd_secret, MEMORY)
	CHECK_NR(448, process_mrelease, MEMORY)
	CHECK_NR(450, set_mempolicy_home_node, MEMORY)
#define PROCESSES "depends on what the calling thread may do with processes"
	CHECK(kcmp, PROCESSES)
	CHECK(prlimit64, PROCESSES)
	CHECK(setrlimit, PROCESSES)
	CHECK(setpgid, PROCESSES)
	CHECK(getpgid, PROCESSES)
	CHECK(getsid, PROCESSES)
#define MOUNTS "depends on the calling thread's rights and namespaces"
	CHECK(mount, MOUNTS)
	CHECK(umount2, MOUNTS)
	CHECK(pivot_root, MOUNTS)
	CHECK_NR(428, open_tree, MOUNTS)
	CHECK_NR(429, move_mount, MOUNTS)
	CHECK_NR(430, fsopen, MOUNTS)
	CHECK_NR(431, fsconfig, MOUNTS)
	CHECK_NR(432, fsmount, MOUNTS)
	CHECK_NR(433, fspick, MOUNTS)
	CHECK_NR(442, mount_setattr, MOUNTS)
	CHECK_NR(457, statmount, MOUNTS)
	CHECK_NR(458, listmount, MOUNTS)
	CHECK_NR(467, open_tree_attr, MOUNTS)
	CHECK_NR(470, listns, MOUNTS)
	CHECK(uname, MOUNTS)
	CHECK(sethostname, MOUNTS)
	CHECK(setdomainname, MOUNTS)
	CHECK(quotactl, MOUNTS)
	CHECK_NR(443, quotactl_fd, MOUNTS)
#define SYSTEM "depends on what the calling thread may do with the system"
	CHECK(syslog, SYSTEM)
	CHECK(acct, SYSTEM)
	CHECK(swapon, SYSTEM)
	CHECK(swapoff, SYSTEM)
	CHECK(kexec_load, SYSTEM)
	CHECK(init_module, SYSTEM)
	CHECK(finit_module, SYSTEM)
	CHECK(delete_module, SYSTEM)
	CHECK(settimeofday, SYSTEM)
	CHECK(adjtimex, SYSTEM)
	CHECK(clock_settime, SYSTEM)
	CHECK(clock_adjtime, SYSTEM)
	CHECK(vhangup, SYSTEM)
	CHECK(kexec_file_load, SYSTEM)
	CHECK_NR(444, landlock_create_ruleset, "prepares a domain for the calling thread")
	CHECK_NR(445, landlock_add_rule, "prepares a domain for the calling thread")

	/* ---- calls that only the calling thread can make ---- */

#define IDENTITY "identifies the calling thread"
	HERE(gettid, IDENTITY)
	HERE(set_tid_address, IDENTITY)
#define LOCKS "locks are owned by the calling thread, and waiting for one is its own affair"
	HERE(set_robust_list, LOCKS)
	HERE(get_robust_list, LOCKS)
	HERE(futex, LOCKS)
	HERE_NR(449, futex_waitv, LOCKS)
	HERE_NR(454, futex_wake, LOCKS)
	HERE_NR(455, futex_wait, LOCKS)
	HERE_NR(456, futex_requeue, LOCKS)
	HERE(rseq, "concerns the calling thread's critical sections")
	HERE_NR(471, rseq_slice_yield, "concerns the calling thread's critical sections")
	HERE(membarrier, "is a barrier for the calling thread, too")
#define SIGNALS "signals are blocked, pending and handled thread by thread"
	HERE(rt_sigprocmask, SIGNALS)
	HERE(rt_sigpending, SIGNALS)
	HERE(rt_sigsuspend, SIGNALS)
	HERE(rt_sigtimedwait, SIGNALS)
	HERE(sigaltstack, SIGNALS)
	HERE(signalfd4, SIGNALS)
#ifdef __x86_64__
	HERE(pause, SIGNALS)
	HERE(signalfd, SIGNALS)
#endif
#define SIGNAL_MASK "sets the calling thread's signal mask, and its signals end the wait"
	HERE(ppoll, SIGNAL_MASK)
	HERE(pselect6, SIGNAL_MASK)
	HERE(epoll_pwait, SIGNAL_MASK)
	HERE_NR(441, epoll_pwait2, SIGNAL_MASK)
	HERE(io_pgetevents, SIGNAL_MASK)
#define TO_SELF "a signal to the caller is handled before the call returns"
	HERE(kill, TO_SELF)
	HERE(tkill, TO_SELF)
	HERE(tgkill, TO_SELF)
	HERE(rt_sigqueueinfo, TO_SELF)
	HERE(rt_tgsigqueueinfo, TO_SELF)
	HERE_NR(424, pidfd_send_signal, TO_SELF)
#define CHILDREN "may mean the calling thread's children only"
	HERE(wait4, CHILDREN)
	HERE(waitid, CHILDREN)
#define SCHEDULING "0 means the calling thread"
	HERE(sched_setaffinity, SCHEDULING)
	HERE(sched_getaffinity, SCHEDULING)
	HERE(sched_setscheduler, SCHEDULING)
	HERE(sched_getscheduler, SCHEDULING)
	HERE(sched_setparam, SCHEDULING)
	HERE(sched_getparam, SCHEDULING)
	HERE(sched_setattr, SCHEDULING)
	HERE(sched_getattr, SCHEDULING)
	HERE(sched_rr_get_interval, SCHEDULING)
	HERE(setpriority, SCHEDULING)
	HERE(getpriority, SCHEDULING)
	HERE(ioprio_set, SCHEDULING)
	HERE(ioprio_get, SCHEDULING)
	HERE(perf_event_open, SCHEDULING)
	HERE(sched_yield, "gives the calling thread's CPU to others")
	HERE(getcpu, "reports where the calling thread runs")
	HERE(getrusage, "may mean the calling thread")
	HERE(clock_gettime, "may mean the calling thread's CPU time")
	HERE(clock_getres, "may mean the calling thread's CPU time")
	HERE(timer_create, "may mean the calling thread's CPU time")
	HERE(set_mempolicy, "concerns where the calling thread's memory goes")
	HERE(get_mempolicy, "concerns where the calling thread's memory goes")
#define CREDENTIALS "credentials belong to the calling thread"
	HERE(setuid, CREDENTIALS)
	HERE(setgid, CREDENTIALS)
	HERE(setreuid, CREDENTIALS)
	HERE(setregid, CREDENTIALS)
	HERE(setresuid, CREDENTIALS)
	HERE(setresgid, CREDENTIALS)
	HERE(setfsuid, CREDENTIALS)
	HERE(setfsgid, CREDENTIALS)
	HERE(setgroups, CREDENTIALS)
	HERE(getuid, CREDENTIALS)
	HERE(getgid, CREDENTIALS)
	HERE(geteuid, CREDENTIALS)
	HERE(getegid, CREDENTIALS)
	HERE(getresuid, CREDENTIALS)
	HERE(getresgid, CREDENTIALS)
	HERE(getgroups, CREDENTIALS)
	HERE(capset, CREDENTIALS)
	HERE(capget, CREDENTIALS)
	HERE_NR(459, lsm_get_self_attr, CREDENTIALS)
	HERE_NR(460, lsm_set_self_attr, CREDENTIALS)
#define KEYS "key rings belong to the calling thread"
	HERE(add_key, KEYS)
	HERE(request_key, KEYS)
	HERE(keyctl, KEYS)
	HERE(unshare, "moves the calling thread to other namespaces")
	HERE(setns, "moves the calling thread to other namespaces")
	HERE_NR(436, close_range, "may give the calling thread descriptors of its own")
	HERE(prctl, "changes or reports what the calling thread may do")
	HERE(seccomp, "filters the calling thread's calls")
	HERE_NR(446, landlock_restrict_self, "confines the calling thread")
	HERE(personality, "changes how the calling thread's calls work")
	HERE(ptrace, "a tracer is a thread")
#define PROTECTION "may change the calling thread's rights to memory"
	HERE(mmap, PROTECTION)
	HERE(mprotect, PROTECTION)
	HERE(remap_file_pages, PROTECTION)
	HERE(pkey_mprotect, PROTECTION)
	HERE(pkey_alloc, PROTECTION)
	HERE(pkey_free, PROTECTION)
	HERE_NR(453, map_shadow_stack, "makes a stack for the calling thread")
	HERE(ioctl, "a driver may act on the calling thread, as a terminal does on its job")
#define SUBMITTER "a ring may be bound to the thread that submits"
	HERE_NR(425, io_uring_setup, SUBMITTER)
	HERE_NR(426, io_uring_enter, SUBMITTER)
	HERE_NR(427, io_uring_register, SUBMITTER)
#ifdef __x86_64__
#define REGISTERS "concerns the calling thread's registers"
	HERE(arch_prctl, REGISTERS)
	HERE(iopl, REGISTERS)
	HERE(ioperm, REGISTERS)
	HERE(modify_ldt, REGISTERS)
#endif
#define GONE "Linux 7.3 does not have it"
#ifdef __x86_64__
	HERE_NR(134, uselib, GONE)
	HERE_NR(156, _sysctl, GONE)
	HERE_NR(174, create_module, GONE)
	HERE_NR(177, get_kernel_syms, GONE)
	HERE_NR(178, query_module, GONE)
	HERE_NR(180, nfsservctl, GONE)
	HERE_NR(181, getpmsg, GONE)
	HERE_NR(182, putpmsg, GONE)
	HERE_NR(184, tuxcall, GONE)
	HERE_NR(185, security, GONE)
	HERE_NR(205, set_thread_area, GONE)
	HERE_NR(211, get_thread_area, GONE)
	HERE_NR(212, lookup_dcookie, GONE)
	HERE_NR(214, epoll_ctl_old, GONE)
	HERE_NR(215, epoll_wait_old, GONE)
	HERE_NR(236, vserver, GONE)
#else
	HERE_NR(42, nfsservctl, GONE)
	HERE_NR(18, lookup_dcookie, GONE)
#endif
	/* clang-format on */
};

#define ROWS (sizeof(table) / sizeof(table[0]))

unsigned char ferry__who[FERRY_BLOCKED_LIMIT];

/* Before the constructor that fills in ferry__way. */
__attribute__((constructor(1000))) static void fill_in(void)
{
	size_t i;

	for (i = 0; i < FERRY_BLOCKED_LIMIT; i++)
		ferry__who[i] = CALLER_ONLY;
	for (i = 0; i < ROWS; i++)
		ferry__who[table[i].nr] = table[i].who;
}

static const struct row *find(long nr)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (table[i].nr == nr)
			return &table[i];
	return NULL;
}

static bool exists(long nr)
{
	return nr >= 0 && nr < FERRY_BLOCKED_LIMIT && !ferry_is_blocked((unsigned int)nr);
}

const char *ferry_direct_reason(long nr)
{
	const struct row *row = find(nr);

	if (!exists(nr))
		return NULL;
	return row ? row->reason : "this version of ferry does not know it";
}

const char *ferry_direct_name(long nr)
{
	const struct row *row = find(nr);

	return row && row->reason ? row->name : NULL;
}

/* Of all calls that may depend on the caller, these seldom do and often block. */
bool ferry__depends_on_caller(long nr, const __s64 arg[])
{
	if (nr == __NR_wait4)
		return arg[2] & __WNOTHREAD;
	if (nr == __NR_waitid)
		return arg[3] & __WNOTHREAD;
	if (nr == __NR_ppoll)
		return arg[3];
	if (nr == __NR_epoll_pwait)
		return arg[4];
	return nr != __NR_pselect6 || arg[5];
}

bool ferry__changes_rights(long nr)
{
	static const short numbers[] = {
		__NR_setuid,
		__NR_setgid,
		__NR_setreuid,
		__NR_setregid,
		__NR_setresuid,
		__NR_setresgid,
		__NR_setfsuid,
		__NR_setfsgid,
		__NR_setgroups,
		__NR_capset,
		__NR_unshare,
		__NR_setns,
		__NR_seccomp,
		446 /* landlock_restrict_self */,
		460 /* lsm_set_self_attr */,
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] == nr)
			return true;
	return false;
}

bool ferry__batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall, int limit)
{
	unsigned long i;
	short nr;

	for (i = 0; i < ncall; i++) {
		nr = calls[i].nr;
		if (exists(nr) && !may_be_posted(nr, limit))
			return false;
	}
	return true;
}
