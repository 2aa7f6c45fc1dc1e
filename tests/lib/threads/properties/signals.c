// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- signals ---- */

static void *receive(void *argument)
{
	char byte;
	const ssize_t count = recv(pair[0], &byte, 1, 0);

	(void)argument;
	flag = 1;
	return (void *)(count < 0 ? -(long)errno : (long)count);
}

void signal_ends_recv(void)
{
	pthread_t thread;

	handle(SIGUSR1, 0);
	thread = start(receive, NULL);
	while (!flag) {
		pthread_kill(thread, SIGUSR1);
		nap();
	}
	printf("%ld %d\n", join(thread), hits > 0);
}

void signal_restarts_recv(void)
{
	pthread_t thread;

	handle(SIGUSR1, SA_RESTART);
	thread = start(receive, NULL);
	while (!hits) {
		pthread_kill(thread, SIGUSR1);
		nap();
	}
	send(pair[1], "x", 1, 0);
	printf("%ld %d\n", join(thread), pthread_equal(handled_by, thread));
}

void process_signal_finds_the_thread(void)
{
	pthread_t thread;
	sigset_t set;

	handle(SIGUSR1, SA_RESTART);
	thread = start(receive, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	while (!hits)
		nap();
	send(pair[1], "x", 1, 0);
	printf("%ld %d\n", join(thread), pthread_equal(handled_by, thread));
}

static void *unblock(void *argument)
{
	sigset_t set, old;

	(void)argument;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	nap();
	pthread_kill(pthread_self(), SIGUSR1);
	nap();
	printf("%d ", hits);
	pthread_sigmask(SIG_UNBLOCK, &set, &old);
	printf("%d %d ", hits, sigismember(&old, SIGUSR1));
	raise(SIGUSR1);
	printf("%d\n", hits);
	return NULL;
}

void mask_holds_signals_back(void)
{
	handle(SIGUSR1, 0);
	in_thread(unblock, NULL);
}

static void *wait_for_signal(void *argument)
{
	sigset_t set;
	int signal = 0;

	(void)argument;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &signal);
	return (void *)(long)signal;
}

void sigwait_takes_it(void)
{
	pthread_t thread;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	thread = start(wait_for_signal, NULL);
	kill(getpid(), SIGUSR2);
	printf("%ld\n", join(thread));
}

static sem_t posted;

static void post(int signal)
{
	(void)signal;
	sem_post(&posted);
}

static void *take_posts(void *argument)
{
	long i;

	for (i = 0; i < 3000; i++) {
		sem_wait(&posted);
		add_hits(1);
	}
	return argument;
}

/* The main thread posts, too, and is interrupted while it does. */
void handlers_may_post(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	pthread_t threads[2];
	int i;

	sem_init(&posted, 0, 0);
	signal(SIGALRM, post);
	threads[0] = start(take_posts, NULL);
	threads[1] = start(take_posts, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 20000; i++)
		sem_post(&posted);
	join(threads[0]);
	join(threads[1]);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", hits > 0);
}

static void *break_pipe(void *argument)
{
	int fds[2], broken[2];
	long result;

	(void)argument;
	socketpair(AF_UNIX, SOCK_STREAM, 0, broken);
	close(broken[1]);
	nap();
	result = write(broken[0], "x", 1);
	printf("%ld %s %d\n", result, strerror(errno), pthread_equal(handled_by, pthread_self()));
	if (pipe(fds))
		exit(2);
	close(fds[0]);
	result = write(fds[1], "x", 1);
	printf("%ld %s %d\n", result, strerror(errno), hits);
	return NULL;
}

void sigpipe_comes_to_the_writer(void)
{
	handle(SIGPIPE, 0);
	in_thread(break_pipe, NULL);
}

void sigpipe_kills(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit((int)in_thread(break_pipe, NULL));
	waitpid(child, &status, 0);
	printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static __thread sigjmp_buf back;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

static void *fault(void *argument)
{
	nap();
	if (!sigsetjmp(back, 1))
		*(volatile int *)argument = 1;
	nap();
	return (void *)5;
}

void fault_and_jump(void)
{
	struct sigaction action = { .sa_handler = jump };

	sigaction(SIGSEGV, &action, NULL);
	printf("%ld\n", in_thread(fault, (void *)8));
}

/* ---- waits that signals end ---- */

static void *wait_in_pselect(void *argument)
{
	fd_set set;

	(void)argument;
	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	return (void *)(long)(pselect(pair[1] + 1, &set, NULL, NULL, NULL, NULL) < 0 ? errno : 0);
}

static void *wait_for_message(void *argument)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	const mqd_t queue = mq_open("/ferry-test", O_RDWR | O_CREAT, 0600, &attributes);
	char message[8];
	long error;

	(void)argument;
	mq_unlink("/ferry-test");
	error = mq_receive(queue, message, sizeof(message), NULL) < 0 ? errno : 0;
	mq_close(queue);
	return (void *)error;
}

static void *wait_for_operation(void *argument)
{
	const int id = semget(IPC_PRIVATE, 1, 0600);
	const struct timespec limit = { 60, 0 };
	struct sembuf operation = { 0, -1, 0 };
	long error;

	(void)argument;
	error = semtimedop(id, &operation, 1, &limit) < 0 ? errno : 0;
	semctl(id, 0, IPC_RMID);
	return (void *)error;
}

void signals_end_waits(void)
{
	static routine *const waits[] = { wait_in_pselect, wait_for_message, wait_for_operation };
	size_t i;

	handle(SIGUSR1, 0);
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		printf("%ld\n", interrupt(start(waits[i], NULL)));
}

static void *signal_the_process(void *argument)
{
	accept_signal();
	kill(getpid(), SIGUSR1);
	printf("%d\n", hits);
	sigqueue(getpid(), SIGUSR1, (union sigval){ 0 });
	printf("%d\n", hits);
	return argument;
}

void kill_returns_after_the_handler(void)
{
	sigset_t set;

	handle(SIGUSR1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	in_thread(signal_the_process, NULL);
}

/* ---- a signal while a thread leaves home ---- */

static void post_answer(int signal)
{
	(void)signal;
	sem_post(&answer);
}

static void *go_home_and_wait(void *argument)
{
	int i;

	for (i = 0; i < 2000; i++) {
		getpriority(PRIO_PROCESS, 0);
		while (sem_wait(&answer))
			;
		sem_post(&turn);
	}
	return argument;
}

void signals_meet_threads_that_leave_home(void)
{
	struct sigaction action = { .sa_handler = post_answer };
	pthread_t thread;
	int i;

	sem_init(&turn, 0, 0);
	sem_init(&answer, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	thread = start(go_home_and_wait, NULL);
	for (i = 0; i < 2000; i++) {
		pthread_kill(thread, SIGUSR1);
		while (sem_wait(&turn))
			;
	}
	join(thread);
	puts("all were taken");
}

/* ---- handlers that wait, while their thread is carried and while it is at home ---- */

/* Each wait, and each call that is made at home, is a chance to leave it. */
static void nap_and_post(int signal)
{
	int i;

	for (i = 0; i < 20; i++) {
		getpriority(PRIO_PROCESS, 0);
		usleep(10);
	}
	post_answer(signal);
}

/* A carrier that does not block SIGUSR1 would take it with its own thread pointer. */
static bool may_take_signal(void)
{
	return inline_call(SYS_gettid, 0, 0, 0) == gettid() ||
	       status_of_runner("SigBlk:") & 1L << (SIGUSR1 - 1);
}

static void *change_mask_and_wait(void *argument)
{
	sigset_t other, before;
	int i;

	sigemptyset(&other);
	sigaddset(&other, SIGUSR2);
	for (i = 0; i < 40; i++) {
		while (sem_wait(&answer))
			;
		pthread_sigmask(i % 2 ? SIG_UNBLOCK : SIG_BLOCK, &other, &before);
		if (sigismember(&before, SIGUSR1) || sigismember(&before, SIGUSR2) != i % 2)
			puts("a mask is wrong");
		if (!may_take_signal())
			puts("a carrier takes signals");
		add_hits(1);
		sem_post(&turn);
	}
	return argument;
}

static void handlers_may_wait(int flags, int blocked)
{
	struct sigaction action = { .sa_handler = nap_and_post, .sa_flags = flags };
	pthread_t thread;
	int i;

	sem_init(&turn, 0, 0);
	sem_init(&answer, 0, 0);
	if (blocked)
		sigaddset(&action.sa_mask, blocked);
	sigaction(SIGUSR1, &action, NULL);
	hits = 0;
	thread = start(change_mask_and_wait, NULL);
	for (i = 0; i < 40; i++) {
		pthread_kill(thread, SIGUSR1);
		while (sem_wait(&turn))
			;
	}
	join(thread);
	printf("%d waits ended\n", hits);
}

void handlers_that_wait(void)
{
	handlers_may_wait(0, 0);
	handlers_may_wait(SA_RESTART, 0);
	handlers_may_wait(SA_RESTART | SA_NODEFER, 0);
	handlers_may_wait(SA_RESTART | SA_NODEFER, SIGUSR2); /* the thread may block it, too */
}

/* ---- handlers repair faults, and wait meanwhile; their signal is blocked in them ---- */

static void wait_and_repair(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	usleep(200);
	mprotect((void *)((unsigned long)info->si_addr & ~4095UL), 4096, PROT_READ | PROT_WRITE);
	add_hits(1);
}

static void *fault_on_pages(void *argument)
{
	char *pages = mmap(NULL, 50 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < 50; i++) {
		usleep(10);
		pages[4096 * i] = 1;
	}
	munmap(pages, 50 * 4096);
	return argument;
}

void handlers_of_faults_may_wait(void)
{
	struct sigaction action = { .sa_sigaction = wait_and_repair, .sa_flags = SA_SIGINFO };
	pthread_t threads[16];
	int i;

	sigaction(SIGSEGV, &action, NULL);
	for (i = 0; i < 16; i++)
		threads[i] = start(fault_on_pages, NULL);
	for (i = 0; i < 16; i++)
		join(threads[i]);
	printf("%d\n", hits);
}

/* ---- each thread handles its faults on a signal stack of its own, where it waits ---- */

#define FAULTS 20
#define SIGNAL_STACK (64 << 10)

static __thread sigjmp_buf before_fault;
static __thread char *signal_stack;
static __thread long on_stack;

static bool is_on_stack(void)
{
	char here, *volatile at = &here;
	stack_t now;

	sigaltstack(NULL, &now);
	return at >= signal_stack && at < signal_stack + SIGNAL_STACK && now.ss_flags == SS_ONSTACK;
}

static void wait_and_jump(int signal)
{
	on_stack += is_on_stack();
	usleep((useconds_t)(signal * 10));
	on_stack += is_on_stack();
	siglongjmp(before_fault, 1);
}

static void *fault_often(void *argument)
{
	stack_t stack = { .ss_size = SIGNAL_STACK, .ss_sp = malloc(SIGNAL_STACK) };
	int *volatile nowhere = NULL;
	volatile int i;

	signal_stack = stack.ss_sp;
	for (i = 0; i < FAULTS; i++) {
		if (i == 2 &&
		    (argument ? syscall(SYS_sigaltstack, &stack, NULL) : sigaltstack(&stack, NULL)))
			return NULL;
		usleep(10);
		if (!sigsetjmp(before_fault, 0))
			*nowhere = 1;
	}
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	usleep(10);
	if (!sigsetjmp(before_fault, 0))
		*nowhere = 1;
	free(signal_stack);
	return (void *)on_stack;
}

void signal_stacks_stay_with_their_threads(void)
{
	struct sigaction action = { .sa_handler = wait_and_jump,
				    .sa_flags = SA_ONSTACK | SA_NODEFER };
	pthread_t threads[16];
	long i;

	sigaction(SIGSEGV, &action, NULL);
	for (i = 0; i < 16; i++)
		threads[i] = start(fault_often, (void *)(i % 2));
	for (i = 0; i < 16; i++)
		printf("%ld\n", join(threads[i]));
}
