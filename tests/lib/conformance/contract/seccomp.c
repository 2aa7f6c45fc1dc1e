// SPDX-License-Identifier: GPL-2.0 OR MIT
/* seccomp: no slot escapes a filter or strict mode, and a refused engine prints nothing. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include <linux/audit.h>

#include "filter.h"
#include "suite.h"
#include "workload.h"

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__riscv)
#define THIS_ARCH AUDIT_ARCH_RISCV64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#define DENY(error) (SECCOMP_RET_ERRNO | (error))
#define NNP_SLOT SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
#define FILTER_SLOT(filter) SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &(filter)->program)

/* N calls NR on FD, each refused with ERROR. */
static void expect_denied(short nr, int fd, int n, long error)
{
	struct batch_slot calls[256];
	long results[256];
	char byte = 'x';
	int i;

	for (i = 0; i < n; i++) {
		calls[i] = SLOT(nr, fd, &byte, 1, 0, 0, 0);
		results[i] = error;
	}
	expect_run(calls, (unsigned long)n, results);
}

static const struct {
	unsigned int action; /* for write() */
	long result;	     /* of a write() of 3 bytes */
} actions[] = {
	{ SECCOMP_RET_ALLOW, 3 },	    { SECCOMP_RET_LOG, 3 },
	{ DENY(ENOTNAM), -ENOTNAM },	    { DENY(0), 0 },
	{ SECCOMP_RET_TRACE | 7, -ENOSYS }, /* there is no tracer */
};

static void write_under_action(void *arg)
{
	const int i = *(int *)arg;
	const long result = actions[i].result;
	int file = memory_file();
	struct filter filter;
	struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_write, file, "abc", 3),
				      SLOT(SYS_getpid) };

	filter_one(&filter, SYS_write, actions[i].action);
	filter_install(&filter);
	expect_batch(calls, 2, getpid(), result, getpid());
	expect_equal(lseek(file, 0, SEEK_END), result > 0 ? result : 0);
}

TEST(the_action_of_a_filter_decides_about_a_slot)
{
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(actions); i++)
		expect_child(write_under_action, &i);
}

static void filter_within_batch(void *arg)
{
	int file = memory_file();
	struct filter filter;
	struct batch_slot calls[] = { SLOT(SYS_write, file, "a", 1), NNP_SLOT, FILTER_SLOT(&filter),
				      SLOT(SYS_write, file, "b", 1), SLOT(SYS_getpid) };

	(void)arg;
	filter_one(&filter, SYS_write, DENY(EACCES));
	expect_batch(calls, 4, 1, 0, 0, -EACCES, getpid());
	expect_equal(lseek(file, 0, SEEK_END), 1);
	expect_denied(SYS_write, file, 1, -EACCES);
	expect_denied(SYS_write, file, 256, -EACCES);
	expect_equal(lseek(file, 0, SEEK_END), 1);
}

TEST(a_filter_installed_by_a_slot_binds_the_next)
{
	expect_everywhere(filter_within_batch);
}

static void filter_before_run(void *arg)
{
	int file = memory_file();
	struct filter filter;
	struct batch_slot calls[300];
	long results[300];
	int i;

	(void)arg;
	filter_one(&filter, SYS_write, DENY(ENOTNAM));
	for (i = 0; i < 300; i++) {
		calls[i] = SLOT(SYS_write, file, "x", 1);
		results[i] = i < 44 ? 1 : -ENOTNAM;
	}
	calls[42] = NNP_SLOT;
	calls[43] = FILTER_SLOT(&filter);
	results[42] = 0;
	results[43] = 0;
	expect_run(calls, 300, results);
	expect_equal(lseek(file, 0, SEEK_END), 42);
}

TEST(a_filter_binds_the_run_of_writes_behind_it)
{
	expect_everywhere(filter_before_run);
}

static void filter_each_call(void *arg)
{
	static const short numbers[] = { SYS_read,   SYS_write,	   SYS_pread64, SYS_pwrite64,
					 SYS_sendto, SYS_recvfrom, SYS_readv,	SYS_writev,
					 SYS_fsync,  SYS_close,	   SYS_lseek };
	struct filter filter;
	int file = memory_file();
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		filter_one(&filter, numbers[i], DENY(1000 + (unsigned int)i));
		filter_install(&filter);
		expect_denied(numbers[i], file, 200, -1000 - (long)i);
	}
}

TEST(a_filter_binds_runs_of_every_call)
{
	expect_everywhere(filter_each_call);
}

static void filter_by_argument(void *arg)
{
	int file = memory_file();
	struct filter filter;
	struct batch_slot calls[200];
	long results[200];
	int i;

	(void)arg;
	filter_argument(&filter, SYS_write, 2, 7, DENY(EXDEV));
	filter_install(&filter);
	for (i = 0; i < 200; i++) {
		calls[i] = SLOT(SYS_write, file, pattern(16), i % 10);
		results[i] = i % 10 == 7 ? -EXDEV : i % 10;
	}
	expect_run(calls, 200, results);
}

TEST(a_filter_sees_the_arguments_of_each_slot)
{
	expect_everywhere(filter_by_argument);
}

/* Engines treat some of these numbers specially, or have tables that end there. */
static void filter_numbers_without_a_call(void *arg)
{
	const short numbers[] = { 400, 509, 510, 511, 512, 1022, 32767 };
	struct filter filter;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		const struct batch_slot call = SLOT(numbers[i]);
		long ret;

		filter_one(&filter, numbers[i], DENY(EXDEV));
		filter_install(&filter);
		expect_equal(run_batch(&ret, &call, 1), 0);
		expect_equal(ret, -EXDEV);
	}
}

TEST(a_filter_sees_numbers_that_no_call_has)
{
	expect_everywhere(filter_numbers_without_a_call);
}

/* ---- filters installed from elsewhere ---- */

static pthread_barrier_t step;
static int thread_file;

static void *write_before_and_after(void *arg)
{
	(void)arg;
	run_writes();
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	expect_denied(SYS_write, thread_file, 256, -EACCES);
	return NULL;
}

TEST(a_filter_put_on_a_thread_by_another_binds_it)
{
	struct filter filter;
	pthread_t thread;

	thread_file = memory_file();
	pthread_barrier_init(&step, NULL, 2);
	expect(!pthread_create(&thread, NULL, write_before_and_after, NULL));
	pthread_barrier_wait(&step);
	filter_one(&filter, SYS_write, DENY(EACCES));
	filter_install_with(&filter, SECCOMP_FILTER_FLAG_TSYNC);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	expect_equal(lseek(thread_file, 0, SEEK_END), 0);
}

#define MANY 2000

static int come; /* 1: the batch runs, 2: the filter is installed */

static void *deny_to_all(void *arg)
{
	struct filter filter;

	(void)arg;
	filter_one(&filter, SYS_getppid, DENY(EXDEV));
	while (!__atomic_load_n(&come, __ATOMIC_RELAXED))
		sched_yield();
	filter_install_with(&filter, SECCOMP_FILTER_FLAG_TSYNC);
	__atomic_store_n(&come, 2, __ATOMIC_SEQ_CST);
	return NULL;
}

/* After one call was refused none is made, and none begun after the filter was installed. */
static void run_while_a_filter_comes(void *arg)
{
	static struct batch_slot calls[MANY];
	static long rets[MANY];
	const long parent = getppid();
	bool denied = false, last = false;
	pthread_t thread;
	int i;

	(void)arg;
	for (i = 0; i < MANY; i++)
		calls[i] = SLOT(SYS_getppid);
	expect(!pthread_create(&thread, NULL, deny_to_all, NULL));
	for (come = 1; !last;) {
		last = __atomic_load_n(&come, __ATOMIC_SEQ_CST) == 2;
		denied |= last;
		expect_equal(run_batch(rets, calls, MANY), MANY - 1);
		for (i = 0; i < MANY; i++) {
			denied |= rets[i] == -EXDEV;
			expect_equal(rets[i], denied ? -EXDEV : parent);
		}
	}
	pthread_join(thread, NULL);
}

TEST(a_filter_put_on_a_thread_by_another_binds_its_batch_from_some_slot_on)
{
	int i;

	for (i = 0; i < 7 * repeats(); i++)
		expect_child(run_while_a_filter_comes, NULL);
}

/* How a call that waits is interrupted, and what comes of it. */
struct interruption {
	short nr;
	bool stop;    /* by a stop, else by a signal */
	int sa_flags; /* of its handler */
	long result;
};

static struct interruption interruptions[] = {
	{ SYS_read, false, 0, -EINTR },
	{ SYS_read, false, SA_RESTART, 1 },
	{ SYS_read, true, 0, 1 },
	{ SYS_ppoll, false, SA_RESTART, -EINTR },
	{ SYS_ppoll, true, 0, 1 },
#ifdef SYS_poll /* newer machines have none */
	{ SYS_poll, false, SA_RESTART, -EINTR },
	{ SYS_poll, true, 0, 1 },
#endif
};

struct reader {
	const struct interruption *interruption;
	int ends[2]; /* of a pipe that is empty at first */
	pid_t tid;
	sem_t begun;
};

static sem_t signal_handled;

static void end_wait(int sig)
{
	(void)sig;
	sem_post(&signal_handled);
}

static void *wait_and_go_on(void *arg)
{
	struct reader *reader = arg;
	const struct interruption *interruption = reader->interruption;
	struct pollfd end = { .fd = reader->ends[0], .events = POLLIN };
	char byte;
	struct batch_slot calls[] = { SLOT(SYS_getppid), SLOT(interruption->nr, &end, 1, -1),
				      SLOT(SYS_getpid) };

	if (interruption->nr == SYS_read)
		calls[1] = SLOT(SYS_read, end.fd, &byte, 1);
	if (interruption->nr == SYS_ppoll)
		calls[1] = SLOT(SYS_ppoll, &end, 1, NULL, NULL, 8);
	run_writes();
	reader->tid = gettid();
	sem_post(&reader->begun);
	expect_batch(calls, 2, getppid(), interruption->result, getpid());
	return NULL;
}

static void stop_parent(void *arg)
{
	(void)arg;
	kill(getppid(), SIGSTOP);
	wait_until_state(getppid(), 'T');
	kill(getppid(), SIGCONT);
}

/* A batch that has to go on afterwards must not do that by a call that it now may not make. */
static void filter_a_call_that_waits(void *arg)
{
	static const int numbers[] = { SUBCALL_NR_BATCH, SYS_ioctl, SYS_restart_syscall };
	struct reader reader = { .interruption = arg };
	const struct sigaction action = { .sa_handler = end_wait,
					  .sa_flags = reader.interruption->sa_flags };
	struct filter filter;
	pthread_t thread;

	sem_init(&reader.begun, 0, 0);
	sem_init(&signal_handled, 0, 0);
	expect(!pipe2(reader.ends, O_CLOEXEC));
	expect(!sigaction(SIGUSR1, &action, NULL));
	expect(!pthread_create(&thread, NULL, wait_and_go_on, &reader));
	expect(!sem_wait(&reader.begun));
	wait_until_asleep(reader.tid);
	/* The kernel continues a stopped poll() by restart_syscall(), but makes none for a handler.
	 */
	filter_make(&filter, numbers, reader.interruption->stop ? 2 : 3, SECCOMP_RET_KILL_PROCESS,
		    SECCOMP_RET_ALLOW);
	filter_install_with(&filter, SECCOMP_FILTER_FLAG_TSYNC);
	if (reader.interruption->stop) {
		expect_child(stop_parent, NULL);
	} else {
		pthread_kill(thread, SIGUSR1);
		expect(!sem_wait(&signal_handled));
	}
	if (reader.interruption->result > 0) {
		wait_until_asleep(reader.tid);
		expect_equal(write(reader.ends[1], "x", 1), 1);
	}
	pthread_join(thread, NULL);
}

TEST(a_filter_that_comes_during_a_call_does_not_end_the_batch)
{
	size_t k;
	int i;

	for (i = 0; i < repeats(); i++)
		for (k = 0; k < ARRAY_SIZE(interruptions); k++)
			expect_child(filter_a_call_that_waits, &interruptions[k]);
}

/* ---- a filter that asks a supervisor, or a tracer ---- */

static int listen_for(struct filter *filter, int nr)
{
	int listener;

	filter_one(filter, nr, SECCOMP_RET_USER_NOTIF);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter->program);
	expect(listener >= 0);
	return listener;
}

static void *answer_42(void *arg)
{
	struct seccomp_notif request = { 0 };
	struct seccomp_notif_resp response = { .val = 42 };

	expect(!ioctl(*(int *)arg, SECCOMP_IOCTL_NOTIF_RECV, &request));
	expect_equal(request.data.nr, SYS_pwrite64);
	expect_equal(request.data.args[2], 3);
	expect_equal(request.data.arch, THIS_ARCH);
	expect(request.data.instruction_pointer);
	response.id = request.id;
	expect(!ioctl(*(int *)arg, SECCOMP_IOCTL_NOTIF_SEND, &response));
	return NULL;
}

TEST(a_supervisor_gives_a_slot_its_result)
{
	int file = memory_file();
	struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_pwrite64, file, "abc", 3, 0),
				      SLOT(SYS_getpid) };
	struct filter filter;
	int listener = listen_for(&filter, SYS_pwrite64);
	pthread_t supervisor;

	expect(!pthread_create(&supervisor, NULL, answer_42, &listener));
	expect_batch(calls, 2, getpid(), 42, getpid());
	pthread_join(supervisor, NULL);
	expect_equal(lseek(file, 0, SEEK_END), 0);
}

static void write_seen_by_tracer(void *arg)
{
	struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_write, *(int *)arg, "abc", 3),
				      SLOT(SYS_getpid) };
	struct filter filter;

	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	filter_one(&filter, SYS_write, SECCOMP_RET_TRACE | 7);
	filter_install(&filter);
	expect_batch(calls, 2, getpid(), 3, getpid());
}

TEST(a_filter_shows_a_slot_to_a_tracer_once)
{
	int file = memory_file();
	pid_t pid = child_start(write_seen_by_tracer, &file);
	unsigned long message;
	int status, seen = 0;

	expect_equal(waitpid(pid, &status, 0), pid);
	expect(!ptrace(PTRACE_SETOPTIONS, pid, NULL,
		       (void *)(PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL)));
	for (;; seen++) {
		expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
		expect_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		expect_equal(status >> 8, SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
		expect(!ptrace(PTRACE_GETEVENTMSG, pid, NULL, &message));
		expect_equal(message, 7);
	}
	expect_equal(status, 0);
	expect_equal(seen, 1);
	expect_equal(lseek(file, 0, SEEK_END), 3);
}

/* ---- a supervisor that decides about restart_syscall() ---- */

static struct {
	int listener;
	struct timespec time;
	sem_t begun;
	pid_t tid;
} supervised;

static void *sleep_supervised(void *arg)
{
	struct batch_slot calls[] = { SLOT(SYS_nanosleep, &supervised.time, NULL),
				      SLOT(SYS_getpid) };
	struct filter filter;

	(void)arg;
	supervised.listener = listen_for(&filter, SYS_restart_syscall);
	supervised.tid = gettid();
	run_writes();
	sem_post(&supervised.begun);
	expect_batch(calls, 1, 0, getpid());
	return NULL;
}

/* Receives what the sleeper asks for, unless it has ended: true until then. */
static bool receive(struct seccomp_notif *request)
{
	struct pollfd listener = { .fd = supervised.listener, .events = POLLIN };

	memset(request, 0, sizeof(*request));
	expect_equal(poll(&listener, 1, -1), 1);
	return listener.revents & POLLIN &&
	       !ioctl(supervised.listener, SECCOMP_IOCTL_NOTIF_RECV, request);
}

static void permit(const struct seccomp_notif *request)
{
	struct seccomp_notif_resp answer = { .id = request->id,
					     .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	ioctl(supervised.listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Another nanosleep() would fail, because the time is no longer one. */
static void interrupt_a_restart(void *arg)
{
	struct seccomp_notif request;
	pthread_t thread;

	(void)arg;
	supervised.time = (struct timespec){ 0, 500000000 };
	sem_init(&supervised.begun, 0, 0);
	expect(!pthread_create(&thread, NULL, sleep_supervised, NULL));
	expect(!sem_wait(&supervised.begun));
	wait_until_asleep(supervised.tid);
	supervised.time.tv_nsec = -1;
	expect_child(stop_parent, NULL);
	if (receive(&request)) {
		expect_child(stop_parent, NULL);
		while (receive(&request))
			permit(&request);
	}
	pthread_join(thread, NULL);
}

TEST(an_interrupted_restart_of_a_call_is_restarted)
{
	int i;

	for (i = 0; i < repeats(); i++)
		expect_child(interrupt_a_restart, NULL);
}

static int inherited_file;

static void write_denied(void *arg)
{
	(void)arg;
	expect_denied(SYS_write, inherited_file, 256, -EACCES);
}

static void filter_then_spawn(void *arg)
{
	struct filter filter;

	(void)arg;
	inherited_file = memory_file();
	filter_one(&filter, SYS_write, DENY(EACCES));
	filter_install(&filter);
	in_new_thread(write_denied);
	expect_child(write_denied, NULL);
}

TEST(a_filter_is_inherited_by_threads_and_children)
{
	expect_everywhere(filter_then_spawn);
}

/* ---- filters that kill ---- */

static unsigned int killing; /* action of a filter */

static void be_killed_by_filter(void *arg)
{
	int file = *(int *)arg;
	struct filter filter;
	struct batch_slot calls[60];
	long rets[60];
	int i;

	filter_argument(&filter, SYS_write, 2, 2, killing);
	filter_install(&filter);
	for (i = 0; i < 60; i++)
		calls[i] = SLOT(SYS_write, file, "xy", i == 40 ? 2 : 1);
	run_batch(rets, calls, 60);
}

TEST(a_slot_that_a_filter_kills_is_the_last)
{
	static const unsigned int kinds[] = {
		SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, 0x00010000 /* unknown */
	};
	size_t i;

	run_writes();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		int file = memory_file();

		killing = kinds[i];
		expect_killed(be_killed_by_filter, &file, SIGSYS);
		expect_equal(lseek(file, 0, SEEK_END), 40);
		close(file);
	}
}

/* 64 writes on a separate page. */
static struct batch_slot *page_of_writes(int file)
{
	struct batch_slot *calls =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	expect(calls != MAP_FAILED);
	for (i = 0; i < 64; i++)
		calls[i] = SLOT(SYS_write, file, "x", 1);
	return calls;
}

/* Runs CALLS, the first two of which install FILTER.  Returns 0, or what was wrong. */
static int run_filtered(struct batch_slot calls[64], struct filter *filter)
{
	long rets[64];
	int i;

	calls[0] = NNP_SLOT;
	calls[1] = FILTER_SLOT(filter);
	if (run_batch(rets, calls, 64) != 63)
		return 2;
	for (i = 2; i < 64; i++)
		if (rets[i] != (calls[i].nr == SYS_write ? 1 : 0))
			return 3;
	return 0;
}

/* One slot installs a filter that allows only the calls of the next slots. */
static void live_on_writes_alone(void *arg)
{
	static const int numbers[] = { SYS_write, SYS_exit_group };
	struct batch_slot *calls = page_of_writes(memory_file());
	struct filter filter;

	(void)arg;
	run_writes();
	filter_make(&filter, numbers, 2, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
	_exit(run_filtered(calls, &filter));
}

TEST(a_batch_within_a_page_makes_no_call_but_its_own)
{
	run_writes();
	if (!SANITIZED)
		expect_child(live_on_writes_alone, NULL);
}

static int handled;

static void count_signal(int sig)
{
	(void)sig;
	handled++;
}

/* The same, with a call that interrupts the batch. */
static void live_on_writes_and_a_signal(void *arg)
{
	static const int numbers[] = { SYS_write, SYS_kill, SYS_rt_sigreturn, SYS_exit_group };
	struct batch_slot *calls = page_of_writes(memory_file());
	struct filter filter;
	int wrong;

	(void)arg;
	run_writes();
	filter_make(&filter, numbers, 4, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
	signal(SIGUSR1, count_signal);
	calls[20] = SLOT(SYS_kill, getpid(), SIGUSR1);
	wrong = run_filtered(calls, &filter);
	_exit(wrong || handled == 1 ? wrong : 4);
}

TEST(an_interrupted_batch_within_a_page_makes_no_call_but_its_own)
{
	run_writes();
	if (!SANITIZED)
		expect_child(live_on_writes_and_a_signal, NULL);
}

/* ---- strict mode: read and write, and nothing else ---- */

static void write_in_strict_mode(void *arg)
{
	struct batch_slot *calls = page_of_writes(*(int *)arg);
	long rets[64];

	run_writes();
	calls[10] = SLOT(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	calls[60] = SLOT(SYS_getpid);
	run_batch(rets, calls, 64);
}

TEST(strict_mode_lets_writes_through_and_kills_the_rest)
{
	int file = memory_file();

	expect_killed(write_in_strict_mode, &file, SIGKILL);
	expect_equal(lseek(file, 0, SEEK_END), 59);
	close(file);
}
