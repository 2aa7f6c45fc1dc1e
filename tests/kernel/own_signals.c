// SPDX-License-Identifier: MIT
/* Signals, masks and filters: which handler runs between which slots, with which mask. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/time.h>

#include "beside.h"
#include "tests/lib/conformance/contract/filter.h"

#define SIGNAL_BYTES 8 /* of a mask, for the kernel */

static sigset_t set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, a);
	sigaddset(&set, b);
	return set;
}

/* ---- masks that hold during one call ---- */

static void tell_mask(int sig)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	tell("handler of %d: %d %d\n", sig, sigismember(&mask, SIGUSR1),
	     sigismember(&mask, SIGUSR2));
}

/* Sends SIGUSR1 to the parent as often as it falls asleep. */
static void wake_repeatedly(void *arg)
{
	pid_t parent = getppid();

	(void)arg;
	for (;;) {
		usleep(100000);
		if (state_of(parent) == 'S')
			kill(parent, SIGUSR1);
	}
}

BESIDE_THE_LOOP(a_mask_for_one_call_ends_with_that_call)
{
	const sigset_t both = set_of(SIGUSR1, SIGUSR2), second = set_of(SIGUSR2, SIGUSR2);
	const sigset_t none = { 0 };
	const struct {
		const sigset_t *set;
		size_t size;
	} pair = { &second, SIGNAL_BYTES };
	struct script *s = new_script();
	sigset_t *pending = shared_memory(PAGE);
	struct epoll_event event;
	struct pollfd polled = { .events = POLLIN };
	fd_set readable;
	int ends[2];
	pid_t waker;

	expect(!pipe(ends));
	polled.fd = ends[0];
	FD_ZERO(&readable);
	FD_SET(ends[0], &readable);
	sigprocmask(SIG_BLOCK, &both, NULL);
	handle(SIGUSR1, tell_mask, SA_RESTART);
	handle(SIGUSR2, tell_mask, 0);
	kill(getpid(), SIGUSR2);
	add_slot(s, SLOT(SYS_rt_sigsuspend, &second, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_ppoll, &polled, 1, NULL, &second, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_epoll_pwait, epoll_create1(0), &event, 1, -1, &second, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_pselect6, ends[0] + 1, &readable, NULL, NULL, NULL, &pair));
	add_slot(s, SLOT(SYS_rt_sigpending, pending, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_rt_sigprocmask, SIG_SETMASK, &none, pending + 1, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_getuid));
	waker = child_start(wake_repeatedly, NULL);
	run_script(s);
	kill(waker, SIGKILL);
	tell("USR2 pending: %d, mask: %#lx\n", sigismember(pending, SIGUSR2),
	     *(unsigned long *)(pending + 1));
}

/* ---- queued signals ---- */

static void tell_value(int sig, siginfo_t *info, void *context)
{
	(void)context;
	tell("signal %d, value %d\n", sig - SIGRTMIN, info->si_value.sival_int);
}

BESIDE_THE_LOOP(queued_signals_keep_their_order_when_a_slot_unblocks_them)
{
	const struct sigaction action = { .sa_sigaction = tell_value, .sa_flags = SA_SIGINFO };
	struct script *s = new_script();
	siginfo_t taken, sent = { .si_code = SI_QUEUE };
	static const struct timespec now;
	sigset_t all, third;
	int i;

	sigemptyset(&all);
	sigemptyset(&third);
	sigaddset(&third, SIGRTMIN + 2);
	sent.si_value.sival_int = 77;
	for (i = 0; i < 4; i++) {
		sigaddset(&all, SIGRTMIN + i);
		expect(!sigaction(SIGRTMIN + i, &action, NULL));
	}
	add_slot(s, SLOT(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, SIGNAL_BYTES));
	for (i = 0; i < 8; i++)
		add_slot(s, SLOT(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN + i * 3 % 4, &sent));
	add_slot(s, SLOT(SYS_rt_sigtimedwait, &third, &taken, &now, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_rt_sigprocmask, SIG_UNBLOCK, &all, NULL, SIGNAL_BYTES));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGRTMIN + 3));
	add_slot(s, SLOT(SYS_getuid));
	run_script(s);
}

/* ---- handlers that run batches ---- */

static void tell_stack(int sig)
{
	static const stack_t off = { .ss_flags = SS_DISABLE };
	struct script *s = new_script();
	stack_t *now = shared_memory(PAGE);

	(void)sig;
	/* It cannot be changed while a handler is on it. */
	add_slot(s, SLOT(SYS_sigaltstack, NULL, now));
	add_slot(s, SLOT(SYS_sigaltstack, &off, NULL));
	run_script(s);
	tell("flags %d\n", now->ss_flags);
}

BESIDE_THE_LOOP(a_slot_may_give_handlers_another_stack)
{
	const stack_t other = { .ss_sp = shared_memory(16 * PAGE), .ss_size = 16 * PAGE };
	static const stack_t off = { .ss_flags = SS_DISABLE };
	struct script *s = new_script();

	handle(SIGUSR1, tell_stack, SA_ONSTACK);
	add_slot(s, SLOT(SYS_sigaltstack, &other, NULL));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGUSR1));
	add_slot(s, SLOT(SYS_sigaltstack, &off, NULL));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGUSR1));
	run_script(s);
}

#define DEPTH 20

static void raise_next(int sig)
{
	struct script *s;

	tell("%d begins\n", sig - SIGRTMIN);
	if (sig == SIGRTMIN + DEPTH)
		return;
	s = new_script();
	add_slot(s, SLOT(SYS_getuid));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), sig + 1));
	add_slot(s, SLOT(SYS_getgid));
	run_script(s);
}

BESIDE_THE_LOOP(batches_nest_in_handlers_as_deep_as_these)
{
	struct script *s = new_script();
	int i;

	for (i = 0; i <= DEPTH; i++)
		handle(SIGRTMIN + i, raise_next, SA_RESTART);
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGRTMIN));
	add_slot(s, SLOT(SYS_getuid));
	run_script(s);
}

/* ---- stops ---- */

static int read_end, write_end;
static char byte[3];

static void begin_read(struct script *s)
{
	int ends[2];

	expect(!pipe(ends));
	read_end = ends[0];
	write_end = ends[1];
	add_slot(s, SLOT(SYS_read, read_end, byte, 1));
	add_slot(s, SLOT(SYS_getuid));
}

static void note(int sig)
{
	tell("handler of %d\n", sig);
}

static void stop_and_continue(void *stop)
{
	pid_t parent = getppid();

	wait_until_asleep(parent);
	kill(parent, *(int *)stop);
	wait_until_state(parent, 'T');
	kill(parent, SIGCONT);
	usleep(200000);
	expect_equal(write(write_end, "x", 1), 1);
}

static void be_continued(int flags)
{
	struct script *s = new_script();
	int stop = SIGSTOP;

	handle(SIGCONT, note, flags);
	begin_read(s);
	child_start(stop_and_continue, &stop);
	run_script(s);
}

BESIDE_THE_LOOP(a_handler_of_sigcont_ends_the_call)
{
	be_continued(0);
}

BESIDE_THE_LOOP(a_handler_of_sigcont_with_sa_restart_does_not_end_the_call)
{
	be_continued(SA_RESTART);
}

static void stop_itself(int sig)
{
	tell("stops\n");
	signal(sig, SIG_DFL);
	raise(sig);
	tell("goes on\n");
}

BESIDE_THE_LOOP(a_handler_may_stop_the_program_as_shells_expect)
{
	struct script *s = new_script();
	sigset_t none = { 0 };
	int stop = SIGTSTP;

	/* A program stops only if somebody in its session could continue it. */
	expect(!setpgid(0, 0));
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The mask of the handler must not hold back the second one. */
	handle(SIGTSTP, stop_itself, SA_RESTART | SA_NODEFER);
	begin_read(s);
	child_start(stop_and_continue, &stop);
	run_script(s);
}

/* ---- limits on time ---- */

static struct script *busy;

/* Random bytes take CPU time; the last slot ends the batch once the signal has come. */
static void stay_busy(void)
{
	static char bytes[1 << 16];
	unsigned int i;

	busy = new_script();
	for (i = 0; i < SCRIPT_SLOTS; i++)
		add_slot(busy, SLOT(SYS_getrandom, bytes, sizeof(bytes), 0));
	while (!busy->vague[0])
		run_batch(busy->rets, busy->calls, busy->count);
}

static void note_limit(int sig)
{
	if (!busy->vague[0])
		tell("handler of %d\n", sig);
	busy->vague[0] = true;
	setrlimit(RLIMIT_CPU, &(struct rlimit){ 1000, 1000 });
	setrlimit(RLIMIT_RTTIME, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

BESIDE_THE_LOOP(a_limit_on_cpu_time_is_noticed_between_slots)
{
	handle(SIGXCPU, note_limit, 0);
	expect(!setrlimit(RLIMIT_CPU, &(struct rlimit){ 1, 1000 }));
	stay_busy();
}

BESIDE_THE_LOOP(a_limit_on_real_time_is_noticed_between_slots)
{
	handle(SIGXCPU, note_limit, 0);
	expect(!setrlimit(RLIMIT_RTTIME, &(struct rlimit){ 200000, RLIM_INFINITY }));
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }))
		suite_skip("needs real-time scheduling");
	stay_busy();
}

/* ---- filters ---- */

#define ANSWERS 6

/* Answers getuid() and so on with one action each. */
static const struct {
	int nr;
	unsigned int action;
} answers[ANSWERS] = {
	{ SYS_getuid, SECCOMP_RET_LOG },	  { SYS_getgid, SECCOMP_RET_ERRNO | 65535 },
	{ SYS_geteuid, SECCOMP_RET_TRACE | 5 },	  /* there is no tracer */
	{ SYS_getegid, SECCOMP_RET_ERRNO | 512 }, /* as if it were to be restarted */
	{ SYS_getpgid, SECCOMP_RET_ERRNO },	  { SYS_getppid, SECCOMP_RET_ERRNO | 516 },
};

BESIDE_THE_LOOP(an_odd_answer_of_a_filter_is_the_result)
{
	static struct filter filters[ANSWERS];
	struct script *s = new_script();
	unsigned int i;

	handle(SIGUSR1, note, 0);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	for (i = 0; i < ANSWERS; i++) {
		filter_one(&filters[i], answers[i].nr, answers[i].action);
		add_slot(s,
			 SLOT(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filters[i].program));
	}
	for (i = 0; i < ANSWERS; i++)
		add_slot(s, SLOT(answers[i].nr));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGUSR1));
	add_slot(s, SLOT(SYS_getegid));
	run_script(s);
}

static unsigned int alarms;

static void count_alarm(int sig)
{
	(void)sig;
	alarms++;
}

BESIDE_THE_LOOP(an_answer_that_looks_like_a_restart_is_no_other_result_under_signals)
{
	static struct filter filter;
	static struct batch_slot calls[1000];
	static long rets[1000];
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };
	unsigned int i, odd = 0;
	long last;

	filter_one(&filter, SYS_getegid, SECCOMP_RET_ERRNO | 512);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = SLOT(SYS_getegid);
	handle(SIGALRM, count_alarm, 0);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	filter_install(&filter);
	setitimer(ITIMER_REAL, &often, NULL);
	last = run_batch(rets, calls, ARRAY_SIZE(calls));
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	for (i = 0; i < ARRAY_SIZE(rets); i++)
		odd += rets[i] != -512 && rets[i] != -EINTR;
	tell("last %ld, odd %u\n", last, odd);
}

/* ---- supervisors ---- */

static struct seccomp_notif question;

static void ask(int listener)
{
	memset(&question, 0, sizeof(question));
	expect(!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question));
}

static void answer(int listener, long value, int error, unsigned int flags)
{
	struct seccomp_notif_resp response = {
		.id = question.id, .val = value, .error = error, .flags = flags
	};

	expect(!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response));
}

/* Gives the first call a descriptor, fails the second after a signal, and lets the third go on. */
static void *supervise_openat2(void *arg)
{
	struct seccomp_notif_addfd added = {
		.srcfd = 1, .newfd = 77, .flags = SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND
	};
	int listener = *(int *)arg;

	ask(listener);
	added.id = question.id;
	tell("a descriptor: %d\n", ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added));
	ask(listener);
	kill(getpid(), SIGUSR1);
	/* The signal withdraws this question, and the restart asks it again. */
	ask(listener);
	answer(listener, 0, -EXDEV, 0);
	ask(listener);
	tell("asked about call %d\n", question.data.nr);
	answer(listener, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
	return NULL;
}

BESIDE_THE_LOOP(a_supervisor_gives_fails_and_continues_slots_under_signals)
{
	static const struct {
		unsigned long flags, mode, resolve;
	} how;
	const sigset_t usr1 = set_of(SIGUSR1, SIGUSR1);
	static struct filter filter;
	struct script *s = new_script();
	pthread_t supervisor;
	int listener;

	handle(SIGUSR1, count_alarm, SA_RESTART);
	filter_one(&filter, SYS_openat2, SECCOMP_RET_USER_NOTIF);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter.program);
	expect(listener >= 0);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	supervisor = thread_start(supervise_openat2, &listener);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	add_slot(s, SLOT(SYS_openat2, AT_FDCWD, "/a", &how, sizeof(how)));
	add_slot(s, SLOT(SYS_fcntl, 77, F_GETFD));
	add_slot(s, SLOT(SYS_openat2, AT_FDCWD, "/b", &how, sizeof(how)));
	add_vague(s, SLOT(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof(how)));
	add_slot(s, SLOT(SYS_getuid));
	run_script(s);
	expect(!pthread_join(supervisor, NULL));
}
