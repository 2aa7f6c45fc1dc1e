// SPDX-License-Identifier: MIT
#include "ptrace.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/audit.h>

#include "attach.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/clock.h"
#include "measure/harness/process.h"
#include "shapes.h"
#include "threads.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "which AUDIT_ARCH_* is this?"
#endif

#define SYSCALL_STOP (SIGTRAP | 0x80) /* with PTRACE_O_TRACESYSGOOD */

struct session {
	const struct target *target;
	const struct observer *observer;
	struct collected *collected;
	struct threads threads;
	pid_t root;	 /* that this process started, or 0 */
	bool began;	 /* the program has been executed */
	double since;	 /* on the clock of now_ns(): what is counted began */
	bool letting_go; /* every thread is detached when it stops */
	float stops_ns;	 /* what the stops of a call take at least on this machine; 0: not known */
};

/* ---- calls ---- */

static int number_of(uint32_t architecture, uint64_t nr)
{
	return architecture == NATIVE && nr < CALL_LIMIT ? (int)nr : CALL_OTHER;
}

static void drop_call(struct thread *thread)
{
	call_free_texts(&thread->call);
	thread->call = (struct traced_call){ 0 };
	thread->in_call = false;
}

/* ID where /proc does not say it. */
static pid_t process_of(pid_t id)
{
	const char *process = line_after(keep_text("/proc/%d/status", id), "Tgid:");

	return *process ? (pid_t)strtol(process, NULL, 10) : id;
}

static void begin_call(struct session *session, struct thread *thread,
		       const struct __ptrace_syscall_info *info)
{
	size_t i;

	drop_call(thread);
	thread->call.nr = number_of(info->arch, info->entry.nr);
	for (i = 0; i < 6; i++)
		thread->call.args[i] = info->entry.args[i];
	thread->in_call = true;
	if (!thread->process)
		thread->process = process_of(thread->id);
	thread->call.process = thread->process;
	thread->call.thread = thread->id;
	session->observer->begin(session->observer->context, thread->id, &thread->call,
				 thread->own);
	thread->began_ns = now_ns();
}

/*
 * Stops take some microseconds, more on a busy machine, and a millisecond in an emulated one: what
 * takes less than this, or than several times the least stops, is no sleep.
 */
#define SHORTEST_SLEEP 200e3F /* ns */
#define SEVERAL 10

static bool may_sleep(const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);

	return !shape || shape->waits != NEVER_WAITS;
}

static void note_time(struct session *session, struct thread *thread)
{
	struct traced_call *call = &thread->call;

	call->cpu_ns = NAN;
	if (!thread->began_ns)
		return;
	call->wall_ns = (float)(now_ns() - thread->began_ns);
	thread->began_ns = 0;
	if (may_sleep(call)) {
		if (call->wall_ns > fmaxf(SHORTEST_SLEEP, SEVERAL * session->stops_ns))
			call->waited_ns = call->wall_ns;
	} else if (!session->stops_ns || call->wall_ns < session->stops_ns) {
		session->stops_ns = call->wall_ns;
	}
}

/* A thread that was attached to within a call shows its end alone, which does not count. */
static void end_call(struct session *session, struct thread *thread, long result)
{
	if (!thread->in_call)
		return;
	thread->in_call = false;
	thread->call.result = result;
	note_time(session, thread);
	if (thread->call.nr == SYS_ptrace && result == -EPERM)
		session->collected->refused_ptrace++;
	session->observer->call(session->observer->context, &thread->call, &thread->own);
	thread->call = (struct traced_call){ 0 };
}

static void stopped_in_call(struct session *session, struct thread *thread)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, sizeof(info), &info) <= 0)
		return; /* it was killed */
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		begin_call(session, thread, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		end_call(session, thread, info.exit.rval);
}

/* ---- threads ---- */

static void forget(struct session *session, struct thread *thread)
{
	if (thread->own)
		session->observer->end(session->observer->context, thread->own);
	drop_call(thread);
	threads_remove(&session->threads, thread);
}

static struct thread *meet(struct session *session, pid_t id)
{
	size_t known = session->threads.count;
	struct thread *thread = threads_add(&session->threads, id);

	session->collected->threads += session->threads.count > known;
	return thread;
}

/*
 * The thread that called execve() has now the id of its process, and all others are gone.  The
 * first one of the program is counted from here: its start was not traced.
 */
static void executed(struct session *session, struct thread *thread)
{
	unsigned long former_id = 0;
	struct thread *former;

	ptrace(PTRACE_GETEVENTMSG, thread->id, 0, &former_id);
	former = threads_find(&session->threads, (pid_t)former_id);
	if (former && former != thread) {
		const struct traced_call call = former->call;

		former->call = (struct traced_call){ 0 };
		forget(session, former);
		drop_call(thread);
		thread->call = call;
		thread->in_call = true;
	}
	if (!session->began && thread->id == session->root) {
		session->began = true;
		thread->call = (struct traced_call){ .nr = SYS_execve };
		thread->in_call = true;
	}
}

/* The new thread is traced, too; it has to be waited for even if all others are let go. */
static void started_another(struct session *session, const struct thread *thread)
{
	unsigned long id = 0;

	if (!ptrace(PTRACE_GETEVENTMSG, thread->id, 0, &id) && id)
		meet(session, (pid_t)id);
}

static void ended(struct session *session, pid_t id, int status)
{
	struct thread *thread = threads_find(&session->threads, id);

	if (thread)
		forget(session, thread);
	if (id != session->root)
		return;
	session->collected->ended = true;
	session->collected->status = exit_status_of(status);
}

/* ---- stops ---- */

static bool is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* An error means that the thread was killed; waitpid() will say so. */
static void resume(struct session *session, struct thread *thread, int number)
{
	if (!session->letting_go) {
		ptrace(PTRACE_SYSCALL, thread->id, 0, number);
		return;
	}
	if (!ptrace(PTRACE_DETACH, thread->id, 0, number))
		forget(session, thread);
}

/* Stopped by a job control signal, or by PTRACE_INTERRUPT or its own start. */
static void stopped_by_event(struct session *session, struct thread *thread, int number)
{
	if (is_stop_signal(number) && !session->letting_go)
		ptrace(PTRACE_LISTEN, thread->id, 0, 0);
	else
		resume(session, thread, 0);
}

static void stopped(struct session *session, pid_t id, int status)
{
	struct thread *thread = meet(session, id);
	const int number = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP) {
		stopped_by_event(session, thread, number);
		return;
	}
	if (number == SYSCALL_STOP)
		stopped_in_call(session, thread);
	else if (event == PTRACE_EVENT_EXEC)
		executed(session, thread);
	else if (event)
		started_another(session, thread);
	/* What is neither is a signal on its way, which is passed on. */
	resume(session, thread, number == SYSCALL_STOP || event ? 0 : number);
}

/* ---- signals for this process ---- */

static void interrupt(struct thread *thread)
{
	ptrace(PTRACE_INTERRUPT, thread->id, 0, 0);
}

static void let_go(struct session *session)
{
	session->letting_go = session->collected->let_go = true;
	threads_visit(&session->threads, interrupt);
}

/* Of the time since the one before. */
static void report(struct session *session)
{
	struct collected *collected = session->collected;

	collected->ns = now_ns() - session->since;
	if (session->observer->report(session->observer->context))
		return;
	session->since = now_ns();
	collected->threads = (long)session->threads.count;
}

static void take_signal(struct session *session, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD)
		return;
	if (info->si_signo == SIGUSR1)
		report(session);
	else if (!pass_on(session->collected, session->root, info))
		let_go(session);
}

/* SIGCHLD comes with every stop, so no stop is missed while this waits. */
static void follow(struct session *session)
{
	siginfo_t info;
	int status;
	pid_t id;

	while (session->threads.count) {
		id = waitpid(-1, &status, __WALL | WNOHANG);
		if (id < 0)
			return;
		if (id && WIFSTOPPED(status))
			stopped(session, id, status);
		else if (id)
			ended(session, id, status);
		else if (sigwaitinfo(blocked_signals(), &info) > 0)
			take_signal(session, &info);
	}
}

static int begin(struct session *session, int *failed)
{
	const struct target *target = session->target;

	if (!target->argv)
		return attach_to(target, &session->threads);
	session->root = start_program(trace_child, &session->threads, failed);
	return session->root < 0 ? session->root : 0;
}

int collect_with_ptrace(const struct target *target, const struct observer *observer,
			struct collected *collected)
{
	struct session session = { .target = target, .observer = observer, .collected = collected };
	int error, failed = -1;

	*collected = (struct collected){ 0 };
	error = begin(&session, &failed);
	start_timers(target);
	collected->threads = (long)session.threads.count;
	session.since = now_ns();
	if (!error)
		follow(&session);
	collected->ns = now_ns() - session.since;
	unblock_signals(collected);
	if (error || failed < 0)
		return error;
	return check_start(target->argv, session.began, failed);
}
