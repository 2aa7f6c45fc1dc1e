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
#define AT_FDCWD (-100)

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* ---- what is read of the kernel's structures, wherever it lies in the running kernel ---- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, orig_ax;
	unsigned long ax, bx, cx, bp, sp, ip, r11, r12, r13, r14, r15;
};
struct thread_info {
	unsigned int status;
};
#else
struct pt_regs {
	uint64_t regs[31];
	uint64_t sp, pc;
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
	unsigned long i_ino;
};
struct qstr {
	const unsigned char *name;
};
struct dentry {
	struct qstr d_name;
	struct inode *d_inode;
};
struct path {
	struct dentry *dentry;
};
struct file {
	struct path f_path;
	struct inode *f_inode;
};
struct fs_struct {
	struct path pwd;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct kernfs_node {
	uint64_t id;
};
struct cgroup;
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};
struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};
struct css_set {
	struct cgroup *dfl_cgrp;
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
	unsigned int __state;
	unsigned int flags;
	int pid, tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct fs_struct *fs;
	struct files_struct *files;
	struct css_set *cgroups;
	struct sigpending pending;
	struct sched_entity se;
	uint64_t utime, stime;
	unsigned long min_flt, nvcsw, nivcsw;
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

static __always_inline void copy_registers(struct bpf_stack *stack, const struct pt_regs *regs)
{
	stack->registers[0] = regs->ax;
	stack->registers[1] = regs->dx;
	stack->registers[2] = regs->cx;
	stack->registers[3] = regs->bx;
	stack->registers[4] = regs->si;
	stack->registers[5] = regs->di;
	stack->registers[6] = regs->bp;
	stack->registers[7] = regs->sp;
	stack->registers[8] = regs->r8;
	stack->registers[9] = regs->r9;
	stack->registers[10] = regs->r10;
	stack->registers[11] = regs->r11;
	stack->registers[12] = regs->r12;
	stack->registers[13] = regs->r13;
	stack->registers[14] = regs->r14;
	stack->registers[15] = regs->r15;
	stack->registers[16] = regs->ip;
	stack->pc = regs->ip;
	stack->sp = regs->sp;
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

static __always_inline void copy_registers(struct bpf_stack *stack, const struct pt_regs *regs)
{
	int i;

	for (i = 0; i < 31; i++)
		stack->registers[i] = regs->regs[i];
	stack->registers[31] = regs->sp;
	stack->pc = regs->pc;
	stack->sp = regs->sp;
}

#endif

/* ---- state ---- */

struct followed {
	uint64_t window;       /* its id */
	uint32_t seen;	       /* calls in it */
	bool in_sample;	       /* it is */
	bool is_new;	       /* the next call to end began before the thread was followed */
	bool is_held;	       /* it has not executed the program */
	bool was_started;      /* by a thread that is followed */
	bool left_by_wish;     /* the CPU, when it did so last */
	uint32_t switches;     /* by its wish, in the call */
	uint64_t began;	       /* the call, ns; 0: not known */
	uint64_t ended;	       /* the call before, ns; 0: not known */
	uint64_t between;      /* ns on a CPU from there to the call */
	uint64_t left;	       /* the CPU, ns; 0: it is on one */
	uint64_t away, waited; /* ns, in the call; see struct bpf_call */
	uint64_t page;	       /* of its last fault */
	uint32_t row;	       /* of faults on one page after the other */
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
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct bpf_stack);
} stacks SEC(".maps");

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

/* Unlike an address, it is never another file's later. */
static __always_inline uint64_t identity_of(const struct super_block *file_system,
					    unsigned long inode)
{
	return (inode + 1) * 0x9e3779b97f4a7c15 ^ (uint64_t)file_system;
}

static __always_inline struct file *file_of(const struct task_struct *task, uint32_t descriptor)
{
	const struct fdtable *table = task->files->fdt;
	struct file *file = NULL;

	if (descriptor >= table->max_fds ||
	    bpf_probe_read_kernel(&file, sizeof(file), table->fd + descriptor))
		return NULL;
	return file;
}

static __always_inline void look_at_file(struct bpf_file *found, const struct file *file)
{
	const struct inode *inode = BPF_CORE_READ(file, f_inode);
	const struct super_block *file_system = BPF_CORE_READ(inode, i_sb);

	found->is_open = true;
	found->mode = BPF_CORE_READ(inode, i_mode);
	found->identity = identity_of(file_system, BPF_CORE_READ(inode, i_ino));
	if (S_ISCHR(found->mode))
		found->device = BPF_CORE_READ(inode, i_rdev);
	else if (!S_ISSOCK(found->mode))
		found->magic = (uint32_t)BPF_CORE_READ(file_system, s_magic);
}

static __always_inline uint64_t working_directory(const struct task_struct *task)
{
	const struct inode *inode = task->fs->pwd.dentry->d_inode;

	/* Read as a number: the verifier permits no arithmetic with pointers that it knows. */
	return identity_of(BPF_CORE_READ(inode, i_sb), inode->i_ino);
}

/* The kernel has just read the path, so it is in memory, unless execve() has changed all of that.
 */
static __always_inline long read_path(struct bpf_call *call, uint32_t argument)
{
	const long length = bpf_probe_read_user_str(call->text, PATH_ROOM - 1,
						    (const void *)call->args[argument & 7]);

	call->text_is = length > 0 ? IS_PATH : NO_TEXT;
	return length;
}

/* Of a file that the thread has waited for. */
static __always_inline long read_name(struct bpf_call *call, const struct file *file)
{
	const struct dentry *entry = BPF_CORE_READ(file, f_path.dentry);
	const long length = bpf_probe_read_kernel_str(call->text, PATH_ROOM - 1,
						      BPF_CORE_READ(entry, d_name.name));

	call->text_is = length > 0 ? IS_FILE_NAME : NO_TEXT;
	return length;
}

/* How long it slept is known without its beginning: threads sleep in calls. */
static __always_inline void note_time(struct bpf_call *call, const struct followed *thread,
				      uint64_t now)
{
	call->began = thread->began;
	call->wall_ns = now - thread->began;
	call->away_ns = thread->away;
	call->waited_ns = thread->waited;
	call->switches = thread->switches;
	call->between_ns = thread->between;
}

static __always_inline void send_call(struct followed *thread, const struct task_struct *task,
				      const struct pt_regs *regs, uint32_t nr, long result,
				      uint64_t now)
{
	struct bpf_call *call = new_call(thread, (int32_t)nr);
	const struct bpf_kinds kinds = state.kinds[nr];
	const struct file *file = NULL;
	long length = 0;

	if (!call)
		return;
	copy_arguments(call->args, regs);
	call->result = result;
	call->process = (uint32_t)task->tgid;
	call->thread = (uint32_t)task->pid;
	call->file = (struct bpf_file){ 0 };
	call->directory = 0;
	call->text_is = NO_TEXT;
	note_time(call, thread, now);
	if (kinds.path != NO_ARGUMENT)
		length = read_path(call, kinds.path);
	if (kinds.descriptor != NO_ARGUMENT)
		file = file_of(task, (uint32_t)call->args[kinds.descriptor & 7]);
	if (file)
		look_at_file(&call->file, file);
	if (kinds.path != NO_ARGUMENT && call->text[0] != '/')
		call->directory = file ? call->file.identity : working_directory(task);
	else if (kinds.path == NO_ARGUMENT && file && thread->switches)
		length = read_name(call, file);
	if (length < 0)
		length = 0;
	/* The mask is for the verifier. */
	send(thread, call, offsetof(struct bpf_call, text) + (length & (PATH_ROOM - 1)));
}

/* ---- stacks ---- */

/* The number that the loader knows the task's process by, or 0. */
static __always_inline uint32_t number_of_process(const struct task_struct *task)
{
	const struct pid *pid = task->group_leader->thread_pid;
	const unsigned int level = state.pid_level;
	struct upid upid = { 0 };

	if (!pid || pid->level < level)
		return 0;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[0] + level);
	return (uint64_t)upid.ns == state.pid_namespace ? (uint32_t)upid.nr : 0;
}

/* From its top to the end of the page, and the page after that if there is one. */
static __always_inline uint32_t copy_stack(struct bpf_stack *stack)
{
	const uint32_t first = STACK_PART - (stack->sp & (STACK_PART - 1));

	if (bpf_probe_read_user(stack->bytes, first, (const void *)stack->sp))
		return 0;
	if (bpf_probe_read_user(stack->bytes + first, STACK_PART,
				(const void *)(stack->sp + first)))
		return first;
	return first + STACK_PART;
}

/* Just before its call.  Where the ring has no room for it, the call goes without. */
static __always_inline void send_stack(const struct followed *thread,
				       const struct task_struct *task, const struct pt_regs *regs,
				       uint32_t nr)
{
	const uint32_t stands = stack_stands_for(__sync_fetch_and_add(&state.stacked[nr], 1));
	const uint32_t zero = 0;
	struct bpf_stack *stack;
	uint32_t size;

	if (!stands || is_foreign(task))
		return;
	stack = bpf_map_lookup_elem(&stacks, &zero);
	if (!stack)
		return;
	stack->window = thread->window;
	stack->nr = SENT_STACK;
	stack->process = number_of_process(task);
	stack->stands = stands;
	stack->ns = bpf_ktime_get_ns();
	copy_registers(stack, regs);
	size = copy_stack(stack);
	if (size > STACK_ROOM)
		return;
	stack->size = size;
	if (!bpf_ringbuf_output(&ring, stack, offsetof(struct bpf_stack, bytes) + size,
				BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&state.stacks_sent, 1);
}

/* ---- a cgroup ---- */

#define CGROUPS_DEEP 16 /* below the first */

/* Or in one below it. */
static __always_inline bool is_in_cgroup(const struct task_struct *task)
{
	const struct cgroup *cgroup = task->cgroups->dfl_cgrp;
	int i;

	if (task->tgid == (int)state.self || task->tgid == (int)state.reporter)
		return false;
	for (i = 0; i < CGROUPS_DEEP && cgroup; i++) {
		const struct cgroup_subsys_state *parent = cgroup->self.parent;

		if (cgroup->kn->id == state.cgroup)
			return true;
		cgroup = parent ? parent->cgroup : NULL;
	}
	return false;
}

/* ---- the table of threads ---- */

static __always_inline void add_spent(struct bpf_spent *spent, const struct task_struct *task,
				      int64_t sign)
{
	__sync_fetch_and_add(&spent->cpu_ns, sign * (int64_t)task->se.sum_exec_runtime);
	__sync_fetch_and_add(&spent->user_ns, sign * (int64_t)task->utime);
	__sync_fetch_and_add(&spent->system_ns, sign * (int64_t)task->stime);
	__sync_fetch_and_add(&spent->page_faults, sign * (int64_t)task->min_flt);
	__sync_fetch_and_add(&spent->waits, sign * (int64_t)task->nvcsw);
	__sync_fetch_and_add(&spent->preemptions, sign * (int64_t)task->nivcsw);
}

static __always_inline bool follow(const struct task_struct *task, struct followed thread)
{
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

/* A thread that came into the cgroup otherwise than by a fork is noticed at the end of its first
 * call.
 */
static __always_inline void join(const struct task_struct *task)
{
	if (!state.cgroup || task->flags & (PF_EXITING | PF_KTHREAD) || !is_in_cgroup(task))
		return;
	if (follow(task, (struct followed){ 0 }))
		add_spent(&state.spent, task, -1);
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
 * For the CPU time of calls of the sample alone.  A call that a filter refuses has no beginning,
 * and neither has any once the loader has detached this.
 */
SEC("tp_btf/sys_enter")
int call_begins(void *context)
{
	struct followed *thread = find(bpf_get_current_task_btf());

	(void)context;
	if (!thread || (!thread->in_sample && thread->seen))
		return 0;
	thread->began = bpf_ktime_get_ns();
	thread->between = thread->ended ? thread->began - thread->ended - thread->away : 0;
	thread->away = thread->waited = 0;
	thread->switches = 0;
	return 0;
}

/* As with ptrace(2), the call of a thread that is being killed does not end. */
SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct followed *thread = find(task);
	uint64_t now;
	uint32_t nr;

	if (!thread)
		join(task);
	if (!thread || thread->is_held || task->pending.signal.sig[0] & KILLED)
		return 0;
	if (thread->is_new) {
		thread->is_new = false;
		return 0;
	}
	now = thread->began ? bpf_ktime_get_ns() : 0;
	nr = number_of(task, regs, result);
	count(nr, result < 0 && result >= -MAX_ERRNO);
	if (!thread->seen)
		open_window(thread);
	if (thread->in_sample && state.stacks)
		send_stack(thread, task, regs, nr);
	if (thread->in_sample)
		send_call(thread, task, regs, nr, result, now);
	/* Sending is none of the thread's own time. */
	thread->ended = thread->began ? bpf_ktime_get_ns() : 0;
	thread->began = thread->away = thread->waited = 0;
	thread->switches = 0;
	thread->seen = (thread->seen + 1) % WINDOW_CALLS;
	return 0;
}

/* ---- threads ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(thread_begins, struct task_struct *parent, struct task_struct *child)
{
	const struct followed *thread = find(parent);

	if (parent->tgid == (int)state.self)
		state.reporter = (uint32_t)child->tgid;
	if (thread && !thread->is_held)
		follow(child,
		       (struct followed){ .is_new = FORK_ENDS_IN_CHILD, .was_started = true });
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
		send(thread, call, offsetof(struct bpf_call, text));
	add_spent(&state.spent, task, 1);
	if (thread->was_started && task->pid == task->tgid &&
	    task->se.sum_exec_runtime < SHORT_LIFE) {
		__sync_fetch_and_add(&state.children.count, 1);
		__sync_fetch_and_add(&state.children.cpu_ns, task->se.sum_exec_runtime);
	}
	leave(task);
	return 0;
}

static __always_inline void leave_cpu(struct followed *thread, bool by_wish)
{
	thread->left = bpf_ktime_get_ns();
	thread->left_by_wish = by_wish;
}

static __always_inline void come_to_cpu(struct followed *thread)
{
	const uint64_t away = bpf_ktime_get_ns() - thread->left;

	if (!thread->left)
		return;
	thread->left = 0;
	thread->away += away;
	if (!thread->left_by_wish)
		return;
	thread->waited += away;
	thread->switches++;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempted, struct task_struct *before, struct task_struct *after)
{
	struct followed *thread = find(before);

	if (thread)
		leave_cpu(thread, !preempted && before->__state);
	thread = find(after);
	if (thread)
		come_to_cpu(thread);
	return 0;
}

/* Of a row that has become LEAST pages long, all count. */
static __always_inline void count_row(uint64_t *count, uint32_t row, uint32_t least)
{
	if (row >= least)
		__sync_fetch_and_add(count, row == least ? least : 1);
}

/* Faults in a row could be one. */
SEC("tp_btf/page_fault_user")
int BPF_PROG(page_faults, unsigned long address)
{
	struct followed *thread = find(bpf_get_current_task_btf());
	const uint64_t page = address >> (state.page_shift & 63);

	if (!thread || thread->is_held)
		return 0;
	__sync_fetch_and_add(&state.faults.seen, 1);
	thread->row = page == thread->page + 1 ? thread->row + 1 : 1;
	thread->page = page;
	count_row(&state.faults.in_rows, thread->row, ROW);
	count_row(&state.faults.in_long_rows, thread->row, LONG_ROW);
	return 0;
}

/* ---- programs that the loader runs, for each thread of the machine ---- */

/* Whose numbers of processes STATE.process and those of stacks are. */
static __always_inline void note_namespace(void)
{
	const struct pid *ours = bpf_get_current_task_btf()->thread_pid;
	struct upid us = { 0 };

	bpf_core_read(&us, sizeof(us), &ours->numbers[0] + ours->level);
	state.pid_level = ours->level;
	state.pid_namespace = (uint64_t)us.ns;
	state.self = (uint32_t)bpf_get_current_task_btf()->tgid;
}

/* One that is exiting may never reach thread_ends() again, or be there at this moment. */
SEC("iter/task")
int follow_process(struct bpf_iter__task *context)
{
	const struct task_struct *task = context->task;

	if (!task || task->flags & (PF_EXITING | PF_KTHREAD))
		return 0;
	note_namespace();
	if (state.cgroup ? !is_in_cgroup(task) : number_of_process(task) != state.process)
		return 0;
	if (!follow(task, (struct followed){ .is_new = true, .is_held = state.held }))
		return 0;
	add_spent(&state.spent, task, -1);
	if (task->flags & PF_EXITING)
		leave(task);
	return 0;
}

SEC("iter/task")
int tally(struct bpf_iter__task *context)
{
	const struct task_struct *task = context->task;

	if (task && find(task))
		add_spent(&state.running, task, 1);
	return 0;
}
