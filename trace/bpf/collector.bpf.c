// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Counts all calls of the followed threads, and sends those of the sample.
 *
 * Counts are kept here, for each CPU, and are never lost.  Calls that do not fit in the ring are,
 * with the rest of their window.  Threads are known by the address of their task_struct, which
 * execve() does not change; programs at these tracepoints are not preempted, and a thread's entry
 * is changed by the thread itself alone.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>
#include <linux/stat.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sample.h"
#include "shared.h"

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define KILLED (1UL << (9 - 1))
#define EEXIST 17
#define ENOSYS 38
#define MAX_ERRNO 4095

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* ---- what is read of the kernel's structures, wherever it lies in the running kernel ---- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, orig_ax;
};
struct thread_info {
	unsigned int status;
};
#else
struct pt_regs {
	uint64_t regs[31];
	uint64_t orig_x0;
	int32_t syscallno;
};
struct thread_info {
	unsigned long flags;
};
#endif

struct super_block {
	unsigned long s_magic;
};
struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
	struct super_block *i_sb;
};
struct file {
	struct inode *f_inode;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct pid_namespace;
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};
typedef struct {
	unsigned long sig[1];
} sigset_t;
struct sigpending {
	sigset_t signal;
};
struct sched_entity {
	uint64_t sum_exec_runtime;
};
struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct files_struct *files;
	struct sigpending pending;
	struct sched_entity se;
	uint64_t utime, stime;
	unsigned long min_flt;
};
struct bpf_iter_meta;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* ---- what architectures differ in ---- */

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT 0x0002
#define RT_SIGRETURN 15
#define FORK_ENDS_IN_CHILD true /* at sys_exit */

static __always_inline bool is_foreign(const struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

static __always_inline long number_in(const struct pt_regs *regs)
{
	return (long)regs->orig_ax;
}

static __always_inline void copy_arguments(uint64_t args[6], const struct pt_regs *regs)
{
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

#else

#define TIF_32BIT (1UL << 22)
#define RT_SIGRETURN 139
#define FORK_ENDS_IN_CHILD false

static __always_inline bool is_foreign(const struct task_struct *task)
{
	return task->thread_info.flags & TIF_32BIT;
}

static __always_inline long number_in(const struct pt_regs *regs)
{
	return regs->syscallno;
}

static __always_inline void copy_arguments(uint64_t args[6], const struct pt_regs *regs)
{
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
	args[4] = regs->regs[4];
	args[5] = regs->regs[5];
}

#endif

/* ---- state ---- */

struct followed {
	uint64_t window; /* its id */
	uint32_t seen;	 /* calls in it */
	bool in_sample;	 /* it is */
	bool is_new;	 /* the next call to end began before the thread was followed */
	bool is_held;	 /* it has not executed the program */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, uint64_t);
	__type(value, struct followed);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NUMBERS);
	__type(key, uint32_t);
	__type(value, struct bpf_count);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct bpf_call);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_SIZE);
} ring SEC(".maps");

struct bpf_state state;

static __always_inline struct followed *find(const struct task_struct *task)
{
	const uint64_t key = (uint64_t)task;

	return bpf_map_lookup_elem(&threads, &key);
}

/* ---- the sample ---- */

static __always_inline void open_window(struct followed *thread)
{
	thread->window = __sync_fetch_and_add(&state.next_window, 1);
	thread->in_sample = is_in_sample(thread->window, state.halvings & 63);
}

/* The loader reads the ring at intervals, so that nobody is woken up here. */
static __always_inline void send(struct followed *thread, struct bpf_call *call, uint32_t size)
{
	if (!bpf_ringbuf_output(&ring, call, size, BPF_RB_NO_WAKEUP)) {
		__sync_fetch_and_add(&state.sent, 1);
		return;
	}
	__sync_fetch_and_add(&state.lost, WINDOW_CALLS - thread->seen);
	thread->in_sample = false;
}

static __always_inline struct bpf_call *new_call(const struct followed *thread, int32_t nr)
{
	const uint32_t zero = 0;
	struct bpf_call *call = bpf_map_lookup_elem(&scratch, &zero);

	if (!call)
		return NULL;
	call->window = thread->window;
	call->nr = nr;
	return call;
}

static __always_inline void look_at_file(struct bpf_file *found, const struct task_struct *task,
					 uint32_t descriptor)
{
	const struct fdtable *table = task->files->fdt;
	const struct inode *inode;
	struct file *file = NULL;

	if (descriptor >= table->max_fds)
		return;
	if (bpf_probe_read_kernel(&file, sizeof(file), table->fd + descriptor) || !file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	found->is_open = true;
	found->mode = BPF_CORE_READ(inode, i_mode);
	if (S_ISCHR(found->mode))
		found->device = BPF_CORE_READ(inode, i_rdev);
	else if (!S_ISSOCK(found->mode))
		found->magic = (uint32_t)BPF_CORE_READ(inode, i_sb, s_magic);
}

/* The kernel has just read the path, so it is in memory, unless execve() has changed all of that.
 */
static __always_inline void send_call(struct followed *thread, const struct task_struct *task,
				      const struct pt_regs *regs, uint32_t nr, long result)
{
	struct bpf_call *call = new_call(thread, (int32_t)nr);
	const struct bpf_kinds kinds = state.kinds[nr];
	long length = 0;

	if (!call)
		return;
	copy_arguments(call->args, regs);
	call->result = result;
	call->file = (struct bpf_file){ 0 };
	if (kinds.descriptor != NO_ARGUMENT)
		look_at_file(&call->file, task, (uint32_t)call->args[kinds.descriptor & 7]);
	if (kinds.path != NO_ARGUMENT)
		length = bpf_probe_read_user_str(call->path, PATH_ROOM - 1,
						 (const void *)call->args[kinds.path & 7]);
	call->has_path = length > 0;
	if (length < 0)
		length = 0;
	/* The mask is for the verifier. */
	send(thread, call, offsetof(struct bpf_call, path) + (length & (PATH_ROOM - 1)));
}

/* ---- calls ---- */

/* rt_sigreturn() leaves the number -1, and a result that is not of a call without a number. */
static __always_inline uint32_t number_of(const struct task_struct *task,
					  const struct pt_regs *regs, long result)
{
	long nr = number_in(regs);

	if (nr == -1 && result != -ENOSYS)
		nr = RT_SIGRETURN;
	return nr < 0 || nr >= NUMBERS - 1 || is_foreign(task) ? NUMBERS - 1 : (uint32_t)nr;
}

static __always_inline void count(uint32_t nr, bool failed)
{
	struct bpf_count *count = bpf_map_lookup_elem(&counts, &nr);

	if (!count)
		return;
	count->calls++;
	count->failed += failed;
}

/*
 * All that matters of a call is known at its end, so there is no program at sys_enter: a filter's
 * refusal would not be seen there.  As with ptrace(2), the call of a thread that is being killed
 * does not end.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct followed *thread = find(task);
	uint32_t nr;

	if (!thread || thread->is_held || task->pending.signal.sig[0] & KILLED)
		return 0;
	if (thread->is_new) {
		thread->is_new = false;
		return 0;
	}
	nr = number_of(task, regs, result);
	count(nr, result < 0 && result >= -MAX_ERRNO);
	if (!thread->seen)
		open_window(thread);
	if (thread->in_sample)
		send_call(thread, task, regs, nr, result);
	thread->seen = (thread->seen + 1) % WINDOW_CALLS;
	return 0;
}

/* ---- threads ---- */

static __always_inline void add_spent(const struct task_struct *task, int64_t sign)
{
	struct bpf_spent *spent = &state.spent;

	__sync_fetch_and_add(&spent->cpu_ns, sign * (int64_t)task->se.sum_exec_runtime);
	__sync_fetch_and_add(&spent->user_ns, sign * (int64_t)task->utime);
	__sync_fetch_and_add(&spent->system_ns, sign * (int64_t)task->stime);
	__sync_fetch_and_add(&spent->page_faults, sign * (int64_t)task->min_flt);
}

static __always_inline bool follow(const struct task_struct *task, bool in_call, bool held)
{
	const struct followed thread = { .is_new = in_call, .is_held = held };
	const uint64_t key = (uint64_t)task;
	/* Before 6.4, the upper half of what the helper returns is undefined. */
	int error = (int)bpf_map_update_elem(&threads, &key, &thread, BPF_NOEXIST);

	if (!error) {
		__sync_fetch_and_add(&state.alive, 1);
		__sync_fetch_and_add(&state.threads, 1);
	} else if (error != -EEXIST) {
		__sync_fetch_and_add(&state.not_followed, 1);
	}
	return !error;
}

static __always_inline void leave(const struct task_struct *task)
{
	const uint64_t key = (uint64_t)task;

	if (!bpf_map_delete_elem(&threads, &key))
		__sync_fetch_and_add(&state.alive, -1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(thread_begins, struct task_struct *parent, struct task_struct *child)
{
	const struct followed *thread = find(parent);

	if (thread && !thread->is_held)
		follow(child, FORK_ENDS_IN_CHILD, false);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(program_begins, struct task_struct *task)
{
	struct followed *thread = find(task);

	if (!thread || !thread->is_held)
		return 0;
	thread->is_held = thread->is_new = false;
	state.began = true;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_ends, struct task_struct *task)
{
	struct followed *thread = find(task);
	struct bpf_call *call;

	if (!thread)
		return 0;
	call = new_call(thread, -1);
	if (call && thread->in_sample && thread->seen)
		send(thread, call, offsetof(struct bpf_call, path));
	add_spent(task, 1);
	leave(task);
	return 0;
}

/* ---- programs that the loader runs, for each thread of the machine ---- */

/* The number that the loader knows the task's process by, or 0. */
static __always_inline uint32_t number_of_process(const struct task_struct *task)
{
	const struct pid *ours = bpf_get_current_task_btf()->thread_pid;
	const struct pid *pid = task->group_leader->thread_pid;
	const unsigned int level = ours->level;
	struct upid us = { 0 }, upid = { 0 };

	if (!pid || pid->level < level)
		return 0;
	bpf_core_read(&us, sizeof(us), &ours->numbers[0] + level);
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[0] + level);
	return upid.ns == us.ns ? (uint32_t)upid.nr : 0;
}

/* One that is exiting may never reach thread_ends() again, or be there at this moment. */
SEC("iter/task")
int follow_process(struct bpf_iter__task *context)
{
	const struct task_struct *task = context->task;

	if (!task || task->flags & (PF_EXITING | PF_KTHREAD))
		return 0;
	if (number_of_process(task) != state.process)
		return 0;
	if (!follow(task, true, state.held))
		return 0;
	add_spent(task, -1);
	if (task->flags & PF_EXITING)
		leave(task);
	return 0;
}

SEC("iter/task")
int tally(struct bpf_iter__task *context)
{
	const struct task_struct *task = context->task;

	if (task && find(task))
		add_spent(task, 1);
	return 0;
}
