// SPDX-License-Identifier: MIT
/*
 * What POSIX threads promise, one property a run: `properties NAME` prints the same whether its
 * threads are carried or not.  test_properties.py compares.  `properties --list` prints the names.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#define STACK (128 << 10)

typedef void *routine(void *argument);

static int pair[2];
static volatile int flag, hits;
static pthread_t handled_by;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

/* ---- helpers ---- */

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(2);
}

static pthread_t start(routine *run, const void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	check(pthread_create(&thread, &attributes, run, (void *)argument), "pthread_create");
	pthread_attr_destroy(&attributes);
	return thread;
}

static long join(pthread_t thread)
{
	void *result;

	check(pthread_join(thread, &result), "pthread_join");
	return (long)result;
}

static long in_thread(routine *run, const void *argument)
{
	return join(start(run, argument));
}

/* Several threads count, on several carriers. */
static void add_hits(int number)
{
	__atomic_fetch_add(&hits, number, __ATOMIC_SEQ_CST);
}

static void count_signal(int signal)
{
	(void)signal;
	add_hits(1);
	handled_by = pthread_self();
}

static void handle(int signal, int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void nap(void)
{
	usleep(1000);
}

static struct timespec soon(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += 20000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* Of the kernel thread that runs the caller, whatever wraps libc's functions. */
static long inline_call(long number, long a, long b, long c)
{
	return ferry_rawcall(number, a, b, c, 0, 0, 0);
}

static long status_of_runner(const char *key)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status",
		 inline_call(SYS_gettid, 0, 0, 0));
	file = fopen(path, "r");
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = (long)strtoul(line + strlen(key) + 1, NULL, 16);
	fclose(file);
	return value;
}

/* ---- signals ---- */

static void *receive(void *argument)
{
	char byte;
	const ssize_t count = recv(pair[0], &byte, 1, 0);

	(void)argument;
	flag = 1;
	return (void *)(count < 0 ? -(long)errno : (long)count);
}

static void signal_ends_recv(void)
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

static void signal_restarts_recv(void)
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

static void process_signal_finds_the_thread(void)
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

static void mask_holds_signals_back(void)
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

static void sigwait_takes_it(void)
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
static void handlers_may_post(void)
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

static void sigpipe_comes_to_the_writer(void)
{
	handle(SIGPIPE, 0);
	in_thread(break_pipe, NULL);
}

static void sigpipe_kills(void)
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

static void fault_and_jump(void)
{
	struct sigaction action = { .sa_handler = jump };

	sigaction(SIGSEGV, &action, NULL);
	printf("%ld\n", in_thread(fault, (void *)8));
}

/* ---- cancellation ---- */

static void note_cleanup(void *argument)
{
	(void)argument;
	add_hits(1);
}

static void *receive_for_ever(void *argument)
{
	char byte;

	pthread_cleanup_push(note_cleanup, NULL);
	flag = 1;
	for (;;)
		recv(pair[0], &byte, 1, 0);
	pthread_cleanup_pop(0);
	return argument;
}

static void unlock(void *argument)
{
	pthread_mutex_unlock(argument);
	add_hits(1);
}

static void *wait_for_ever(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	flag = 1;
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return argument;
}

static void *sleep_for_ever(void *argument)
{
	flag = 1;
	sleep(1000);
	return argument;
}

static void cancel(routine *run)
{
	pthread_t thread = start(run, NULL);
	long result;

	while (!flag)
		nap();
	nap();
	pthread_cancel(thread);
	result = join(thread);
	printf("%d %d\n", result == (long)PTHREAD_CANCELED, hits);
}

static void cancel_in_recv(void)
{
	cancel(receive_for_ever);
}

static void cancel_in_condition(void)
{
	cancel(wait_for_ever);
	printf("%d\n", pthread_mutex_trylock(&mutex));
}

/* Inside of libc, on a carrier. */
static void *print_for_ever(void *argument)
{
	FILE *nowhere = fopen("/dev/null", "w");

	setvbuf(nowhere, NULL, _IONBF, 0);
	pthread_cleanup_push(note_cleanup, NULL);
	flag = 1;
	for (;;)
		fputs("word", nowhere);
	pthread_cleanup_pop(0);
	return argument;
}

static void cancel_in_a_stream(void)
{
	cancel(print_for_ever);
}

/* It is free. */
static void *take_semaphore(void *argument)
{
	static sem_t semaphore;
	const struct timespec until = { .tv_sec = 1L << 32 };
	int old;

	sem_init(&semaphore, 0, 1);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	flag = 1;
	while (flag < 2)
		nap();
	pthread_setcancelstate(old, NULL);
	sem_timedwait(&semaphore, &until);
	return argument;
}

static void cancel_before_a_wait(void)
{
	pthread_t thread = start(take_semaphore, NULL);

	while (!flag)
		nap();
	pthread_cancel(thread);
	flag = 2;
	printf("%d\n", join(thread) == (long)PTHREAD_CANCELED);
}

static void cancel_in_sleep(void)
{
	cancel(sleep_for_ever);
}

static void *defer(void *argument)
{
	int old;

	(void)argument;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	flag = 1;
	while (flag < 2)
		nap();
	hits = 1;
	pthread_setcancelstate(old, NULL);
	pthread_testcancel();
	hits = 2;
	return NULL;
}

static void cancel_when_enabled(void)
{
	pthread_t thread = start(defer, NULL);
	long result;

	while (!flag)
		nap();
	pthread_cancel(thread);
	flag = 2;
	result = join(thread);
	printf("%d %d\n", result == (long)PTHREAD_CANCELED, hits);
}

/* ---- cancellation in calls that carried threads make at home ---- */

static void wait_in_pause(void)
{
	pause();
}

static void wait_in_sigwait(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &signal);
}

static void wait_in_join(void)
{
	pthread_join(start(sleep_for_ever, NULL), NULL);
}

static void wait_in_msgrcv(void)
{
	const int queue = msgget(IPC_PRIVATE, 0600);
	struct {
		long type;
		char text[8];
	} message;

	flag = 2 + queue;
	msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static void wait_in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	pselect(pair[1] + 1, &set, NULL, NULL, NULL, NULL);
}

static void wait_in_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, pair[1], &event);
	epoll_wait(epoll, &event, 1, -1);
}

static void wait_in_recvmmsg(void)
{
	char byte;
	struct iovec buffer = { &byte, 1 };
	struct mmsghdr message = { { .msg_iov = &buffer, .msg_iovlen = 1 }, 0 };

	recvmmsg(pair[1], &message, 1, 0, NULL);
}

static void wait_in_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t size = sizeof(sa_family_t); /* the kernel chooses a name */
	int i;

	if (bind(listener, (const struct sockaddr *)&address, size))
		exit(2);
	listen(listener, 0);
	size = sizeof(address);
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (i = 0; i < 3; i++)
		(void)!connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr *)&address,
			       size);
}

static void *wait_at_home(void *argument)
{
	void (*const wait)(void) = (void (*)(void))argument;

	pthread_cleanup_push(note_cleanup, NULL);
	nap();
	flag = 1;
	for (;;)
		wait();
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel_in_calls_at_home(void)
{
	static void (*const waits[])(void) = { wait_in_pause,	 wait_in_sigwait, wait_in_join,
					       wait_in_msgrcv,	 wait_in_select,  wait_in_epoll,
					       wait_in_recvmmsg, wait_in_connect };
	size_t i;

	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		pthread_t thread;

		flag = 0;
		thread = start(wait_at_home, (const void *)waits[i]);
		while (!flag)
			nap();
		usleep(20000);
		pthread_cancel(thread);
		printf("%d ", join(thread) == (long)PTHREAD_CANCELED);
		printf("%d\n", hits);
		if (flag > 1)
			msgctl(flag - 2, IPC_RMID, NULL);
	}
}

static pthread_barrier_t alone;

/* Of these calls, only the last is a cancellation point. */
static void *call_while_cancelled(void *argument)
{
	char name[16];
	cpu_set_t set;

	pthread_barrier_init(&alone, NULL, 1);
	nap();
	flag = 1;
	while (flag < 2)
		;
	sched_yield();
	add_hits(1);
	kill(getpid(), 0);
	add_hits(1);
	pthread_barrier_wait(&alone);
	add_hits(1);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	sched_getaffinity(0, sizeof(set), &set);
	add_hits(1);
	syscall(SYS_sched_getscheduler, 0);
	add_hits(1);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	add_hits(1);
	if (setuid(getuid()))
		exit(2);
	add_hits(1);
	fsync(0);
	add_hits(1000);
	return argument;
}

static void cancelled_threads_go_on_until_a_point(void)
{
	pthread_t thread = start(call_while_cancelled, NULL);

	while (!flag)
		nap();
	pthread_cancel(thread);
	flag = 2;
	printf("%d ", join(thread) == (long)PTHREAD_CANCELED);
	printf("%d\n", hits);
}

/* ---- objects that are not the layer's ---- */

static pthread_mutex_t odd;

static void *die_with_it(void *argument)
{
	pthread_mutex_lock(&odd);
	nap();
	return argument;
}

static void *take_over(void *argument)
{
	const int error = pthread_mutex_lock(&odd);

	(void)argument;
	if (error == EOWNERDEAD)
		pthread_mutex_consistent(&odd);
	pthread_mutex_unlock(&odd);
	return (void *)(long)error;
}

static void robust_mutex(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&odd, &attributes);
	in_thread(die_with_it, NULL);
	printf("%ld %ld\n", in_thread(take_over, NULL), in_thread(take_over, NULL));
}

static long counter;

static void *add(void *argument)
{
	pthread_mutex_t *lock = argument;
	int i;

	for (i = 0; i < 300; i++) {
		pthread_mutex_lock(lock);
		counter++;
		if (i % 10 == 0)
			usleep(10);
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

static void add_by_four(pthread_mutex_t *lock)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = start(add, lock);
	for (i = 0; i < 4; i++)
		join(threads[i]);
	printf("%ld\n", counter);
}

static void priority_inheriting_mutex(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&odd, &attributes);
	add_by_four(&odd);
}

static void plain_mutex(void)
{
	add_by_four(&mutex);
}

static void *try_kinds(void *argument)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t lock;

	(void)argument;
	nap();
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&lock, &attributes);
	printf("%d ", pthread_mutex_lock(&lock));
	printf("%d %d ", pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock));
	printf("%d ", pthread_mutex_unlock(&lock));
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	printf("%d ", pthread_mutex_lock(&lock));
	printf("%d %d ", pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock));
	printf("%d\n", pthread_mutex_unlock(&lock));
	return NULL;
}

static void kinds_of_mutexes(void)
{
	in_thread(try_kinds, NULL);
}

struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	sem_t semaphore;
	int value;
};

static void *wait_shared(void *argument)
{
	struct shared *shared = argument;

	pthread_mutex_lock(&shared->mutex);
	while (!shared->value)
		pthread_cond_wait(&shared->condition, &shared->mutex);
	pthread_mutex_unlock(&shared->mutex);
	sem_wait(&shared->semaphore);
	return (void *)(long)shared->value;
}

static void shared_between_processes(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_condition;
	pthread_t thread;

	pthread_mutexattr_init(&of_mutex);
	pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &of_mutex);
	pthread_condattr_init(&of_condition);
	pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->condition, &of_condition);
	sem_init(&shared->semaphore, 1, 0);
	thread = start(wait_shared, shared);
	nap();
	if (!fork()) {
		pthread_mutex_lock(&shared->mutex);
		shared->value = 7;
		pthread_cond_signal(&shared->condition);
		pthread_mutex_unlock(&shared->mutex);
		sem_post(&shared->semaphore);
		_exit(0);
	}
	printf("%ld\n", join(thread));
}

/* ---- objects of the parking lot ---- */

static sem_t ready, done;

static void *consume(void *argument)
{
	long sum = 0;
	int i;

	for (i = 0; i < 200; i++) {
		sem_wait(&ready);
		pthread_mutex_lock(&mutex);
		sum += counter;
		pthread_mutex_unlock(&mutex);
		sem_post(&done);
	}
	(void)argument;
	return (void *)sum;
}

static void semaphores(void)
{
	pthread_t thread;
	int i;

	sem_init(&ready, 0, 0);
	sem_init(&done, 0, 0);
	thread = start(consume, NULL);
	for (i = 1; i <= 200; i++) {
		pthread_mutex_lock(&mutex);
		counter = i;
		pthread_mutex_unlock(&mutex);
		sem_post(&ready);
		sem_wait(&done);
	}
	printf("%ld\n", join(thread));
}

static void *take_turns(void *argument)
{
	const long me = (long)argument;
	long i;

	for (i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		while (counter % 8 != me)
			pthread_cond_wait(&condition, &mutex);
		counter++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void conditions(void)
{
	pthread_t threads[8];
	long i;

	for (i = 0; i < 8; i++)
		threads[i] = start(take_turns, (void *)i);
	for (i = 0; i < 8; i++)
		join(threads[i]);
	printf("%ld\n", counter);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_and_write(void *argument)
{
	long seen = 0;
	int i;

	for (i = 0; i < 100; i++) {
		if (i % 4 == 0) {
			pthread_rwlock_wrlock(&rwlock);
			counter++;
			usleep(10);
		} else {
			pthread_rwlock_rdlock(&rwlock);
			seen |= counter < 0;
		}
		pthread_rwlock_unlock(&rwlock);
	}
	(void)argument;
	return (void *)seen;
}

static void reader_writer_lock(void)
{
	pthread_t threads[4];
	long seen = 0;
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = start(read_and_write, NULL);
	for (i = 0; i < 4; i++)
		seen |= join(threads[i]);
	printf("%ld %ld\n", counter, seen);
}

static pthread_barrier_t barrier;

static void *meet(void *argument)
{
	long serial = 0;
	int i;

	(void)argument;
	for (i = 0; i < 20; i++)
		serial += pthread_barrier_wait(&barrier) != 0; /* the one that ends it */
	return (void *)serial;
}

static void barriers(void)
{
	pthread_t threads[6];
	long serial = 0;
	int i;

	pthread_barrier_init(&barrier, NULL, 6);
	for (i = 0; i < 6; i++)
		threads[i] = start(meet, NULL);
	for (i = 0; i < 6; i++)
		serial += join(threads[i]);
	printf("%ld\n", serial);
}

static int word;

static void *wait_on_word(void *argument)
{
	if (argument)
		while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
			inline_call(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0);
	else
		while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void *set_word(void *argument)
{
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	return argument;
}

#define WAITERS 300

static void wait_by_many(int count, const void *inlined)
{
	pthread_t threads[WAITERS + 1];
	int i;

	for (i = 0; i < count; i++)
		threads[i] = start(wait_on_word, inlined);
	threads[count] = start(set_word, NULL);
	for (i = 0; i <= count; i++)
		join(threads[i]);
	puts("all");
}

static void futexes(void)
{
	wait_by_many(40, NULL);
}

/* Each holds a carrier. */
static void inlined_futexes(void)
{
	wait_by_many(WAITERS, "");
}

static void *spin(void *argument)
{
	while (!flag)
		if (argument)
			sched_yield();
	return NULL;
}

static void *set_flag(void *argument)
{
	flag = 1;
	return argument;
}

static void spinning_threads_do_not_hold_others(void)
{
	pthread_t threads[4] = { start(spin, NULL), start(spin, NULL), start(spin, ""),
				 start(set_flag, NULL) };
	int i;

	for (i = 0; i < 4; i++)
		join(threads[i]);
	puts("all");
}

/* ---- time limits ---- */

static void *run_out(void *argument)
{
	struct timespec until = soon(CLOCK_REALTIME), start_time, end;
	struct timeval limit = { 0, 20000 };
	struct pollfd poll_one = { .fd = pair[0], .events = POLLIN };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	fd_set set;
	sem_t semaphore;
	char byte;

	(void)argument;
	clock_gettime(CLOCK_MONOTONIC, &start_time);
	sem_init(&semaphore, 0, 0);
	printf("%d %s\n", sem_timedwait(&semaphore, &until), strerror(errno));
	pthread_mutex_lock(&lock);
	until = soon(CLOCK_REALTIME);
	printf("%d ", pthread_cond_timedwait(&condition, &lock, &until));
	until = soon(CLOCK_MONOTONIC);
	printf("%d\n", pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &until));
	printf("%d ", poll(&poll_one, 1, 20));
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	printf("%d %d\n", select(pair[0] + 1, &set, NULL, NULL, &limit), FD_ISSET(pair[0], &set));
	limit = (struct timeval){ 0, 20000 };
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	printf("%zd %s\n", recv(pair[0], &byte, 1, 0), strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%d\n",
	       (end.tv_sec - start_time.tv_sec) * 1000000000L + end.tv_nsec - start_time.tv_nsec >=
		       118000000);
	return NULL;
}

static void time_limits(void)
{
	in_thread(run_out, NULL);
}

#define PAIRS 8192 /* of one condition and many mutexes: some share a bucket of the parking lot */

static void *wait_with_many_mutexes(void *argument)
{
	pthread_mutex_t *mutexes = calloc(PAIRS, sizeof(*mutexes));
	struct timespec past = { 0 };
	long early = 0;
	int i;

	(void)argument;
	for (i = 0; i < PAIRS; i++) {
		pthread_mutex_lock(&mutexes[i]);
		clock_gettime(CLOCK_MONOTONIC, &past);
		past.tv_nsec += past.tv_nsec < 999000000 ? 10000 : 0;
		early += !pthread_cond_clockwait(&condition, &mutexes[i], CLOCK_MONOTONIC, &past);
		pthread_mutex_unlock(&mutexes[i]);
	}
	free(mutexes);
	return (void *)early;
}

static void a_condition_waits_with_any_mutex(void)
{
	printf("%ld\n", in_thread(wait_with_many_mutexes, NULL));
}

static void *lock_timed(void *argument)
{
	struct timespec until = soon(CLOCK_REALTIME);

	return (void *)(long)(pthread_mutex_timedlock(argument, &until) +
			      1000 * pthread_rwlock_timedrdlock(&rwlock, &until));
}

static void time_limits_of_locks(void)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	printf("%ld\n", in_thread(lock_timed, &mutex));
}

/* ---- descriptors ---- */

static void *drain(void *argument)
{
	const int fd = *(int *)argument;
	char data[4096];
	long total = 0;
	ssize_t count;

	while ((count = read(fd, data, sizeof(data))) > 0) {
		total += count;
		if (total % 64 == 0)
			sched_yield();
	}
	return (void *)total;
}

#define MUCH (1 << 20)

static void *write_much(void *argument)
{
	const int fd = *(int *)argument;
	char *data = calloc(1, MUCH);
	struct iovec parts[2] = { { data, MUCH / 2 }, { data + MUCH / 2, MUCH / 2 } };
	const long written = write(fd, data, MUCH) + writev(fd, parts, 2);

	free(data);
	close(fd);
	return (void *)written;
}

static void transfer(int in, int out)
{
	pthread_t reader = start(drain, &in), writer = start(write_much, &out);
	const long written = join(writer);

	printf("%ld %ld\n", written, join(reader));
}

static void blocking_writes_are_whole(void)
{
	int pipes[2];

	if (pipe(pipes))
		exit(2);
	transfer(pipes[0], pipes[1]);
	transfer(pair[0], pair[1]);
}

static void *take_all(void *argument)
{
	char data[100];

	(void)argument;
	return (void *)recv(pair[0], data, sizeof(data), MSG_WAITALL);
}

static void recv_waits_for_all(void)
{
	pthread_t thread = start(take_all, NULL);
	int i;

	for (i = 0; i < 10; i++) {
		send(pair[1], "0123456789", 10, 0);
		nap();
	}
	printf("%ld\n", join(thread));
}

/* A handler ends it once a part has come, and so does the end of the stream. */
static void recv_of_all_returns_a_part(void)
{
	pthread_t thread = start(take_all, NULL);
	void *received;

	handle(SIGUSR1, SA_RESTART);
	nap();
	pthread_kill(thread, SIGUSR1);
	nap();
	send(pair[1], "0123456789", 10, 0);
	while (pthread_tryjoin_np(thread, &received)) {
		pthread_kill(thread, SIGUSR1);
		nap();
	}
	printf("%ld\n", (long)received);
	thread = start(take_all, NULL);
	send(pair[1], "01234", 5, 0);
	nap();
	shutdown(pair[1], SHUT_WR);
	printf("%ld\n", join(thread));
}

static void *send_much(void *argument)
{
	static char data[2][1 << 20];
	struct iovec buffers[] = { { data[0], sizeof(data[0]) }, { data[1], sizeof(data[1]) } };
	struct msghdr message = { .msg_iov = buffers, .msg_iovlen = 2 };

	(void)argument;
	return (void *)sendmsg(pair[1], &message, 0);
}

/* More than the socket takes: a handler ends what follows the first part. */
static void sendmsg_returns_a_part(void)
{
	pthread_t thread = start(send_much, NULL);
	void *sent;

	handle(SIGUSR1, SA_RESTART);
	while (pthread_tryjoin_np(thread, &sent)) {
		nap();
		pthread_kill(thread, SIGUSR1);
	}
	printf("%d\n", (long)sent > 0 && (long)sent < 2 << 20);
}

static void recv_of_all_takes_one_datagram(void)
{
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		exit(2);
	thread = start(take_all, NULL);
	nap();
	send(pair[1], "0123456789", 10, 0);
	send(pair[1], "0123456789", 10, 0);
	printf("%ld\n", join(thread));
}

static void *do_not_wait(void *argument)
{
	char byte;

	(void)argument;
	nap();
	printf("%zd %s ", recv(pair[0], &byte, 1, MSG_DONTWAIT), strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	printf("%zd %s ", recv(pair[0], &byte, 1, 0), strerror(errno));
	printf("%zd %s\n", read(pair[0], &byte, 1), strerror(errno));
	return NULL;
}

static void nonblocking_calls_do_not_wait(void)
{
	in_thread(do_not_wait, NULL);
}

/* Sends FD over PAIR[1]. */
static void send_descriptor(int fd)
{
	char byte = 'd', control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec buffer = { &byte, 1 };
	struct msghdr message = { .msg_iov = &buffer,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	sendmsg(pair[1], &message, 0);
}

static int receive_descriptor(bool many)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec buffer = { &byte, 1 };
	struct mmsghdr message = { { .msg_iov = &buffer,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control) },
				   0 };
	int fd = -1;

	if (many)
		recvmmsg(pair[0], &message, 1, 0, NULL);
	else
		(void)!recvmsg(pair[0], &message.msg_hdr, 0);
	if (CMSG_FIRSTHDR(&message.msg_hdr))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message.msg_hdr)), sizeof(fd));
	return fd;
}

static void *write_byte(void *argument)
{
	usleep(20000);
	return (void *)write((int)(long)argument, "x", 1);
}

/* A number is closed unseen, after a wait for it, and received again with another file. */
static void *receive_known_number(void *argument)
{
	int pipes[2], sockets[2], fd;
	pthread_t writer;
	char byte = 0;

	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return NULL;
	writer = start(write_byte, (void *)(long)pipes[1]);
	printf("%zd ", read(pipes[0], &byte, 1));
	join(writer);
	inline_call(SYS_close, pipes[0], 0, 0);
	send_descriptor(sockets[0]);
	fd = receive_descriptor(argument);
	writer = start(write_byte, (void *)(long)sockets[1]);
	printf("%d %zd ", fd == pipes[0], read(fd, &byte, 1));
	join(writer);
	printf("%zd\n", recv(fd, &byte, 1, MSG_DONTWAIT));
	return NULL;
}

static void received_numbers_are_new(void)
{
	in_thread(receive_known_number, NULL);
	in_thread(receive_known_number, "");
}

static int listener;

static void *accept_some(void *argument)
{
	long count = 0;
	char byte;

	(void)argument;
	for (;;) {
		const int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			return (void *)count;
		byte = 'n';
		if (recv(fd, &byte, 1, 0) != 1)
			exit(2);
		if (byte == 'n')
			count++;
		send(fd, "!", 1, 0);
		close(fd);
		if (byte == 'q')
			return (void *)count;
	}
}

static void ask_server(const struct sockaddr_un *address, char what)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		exit(2);
	send(fd, &what, 1, 0);
	if (recv(fd, &byte, 1, 0) != 1)
		exit(2);
	close(fd);
}

static void accept_by_many(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t threads[8];
	long total = 0;
	int i;

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "ferry-%d", getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 128))
		exit(2);
	for (i = 0; i < 8; i++)
		threads[i] = start(accept_some, NULL);
	for (i = 0; i < 200; i++)
		ask_server(&address, 'n');
	for (i = 0; i < 8; i++)
		ask_server(&address, 'q');
	for (i = 0; i < 8; i++)
		total += join(threads[i]);
	printf("%ld\n", total);
}

static void *echo_once(void *argument)
{
	const int fd = (int)(long)argument;
	char byte;

	if (recv(fd, &byte, 1, 0) == 1)
		send(fd, &byte, 1, 0);
	close(fd);
	return NULL;
}

static void numbers_are_used_again(void)
{
	int i, fds[2], answers = 0;
	pthread_t thread;
	char byte;

	for (i = 0; i < 300; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
		thread = start(echo_once, (void *)(long)fds[0]);
		if (i % 3)
			sched_yield();
		send(fds[1], "x", 1, 0);
		answers += recv(fds[1], &byte, 1, 0) == 1;
		if (i % 2) {
			FILE *stream = fdopen(fds[1], "r");

			fclose(stream);
		} else {
			close(fds[1]);
		}
		join(thread);
	}
	printf("%d\n", answers);
}

/* ---- privileges and placement ---- */

static void *confine(void *argument)
{
	(void)argument;
	nap();
	printf("%d ", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	nap();
	printf("%d %ld\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), status_of_runner("NoNewPrivs:"));
	return NULL;
}

static void *see_confinement(void *argument)
{
	int i;

	for (i = 0; i < 20; i++) {
		if (status_of_runner("NoNewPrivs:") || status_of_runner("Seccomp:") > 1)
			add_hits(1);
		nap();
	}
	return argument;
}

static void no_new_privileges_stay_with_the_thread(void)
{
	pthread_t others[2] = { start(see_confinement, NULL), start(see_confinement, NULL) };

	in_thread(confine, NULL);
	join(others[0]);
	join(others[1]);
	printf("%d\n", hits);
}

static void *forbid(void *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };
	int i, forbidden = 0;

	(void)argument;
	nap();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		exit(2);
	for (i = 0; i < 20; i++) {
		forbidden += inline_call(SYS_getppid, 0, 0, 0) == -EPERM;
		nap();
	}
	printf("%d ", forbidden);
	/* A thread of a confined thread is as confined. */
	return (void *)in_thread((routine *)(void *)status_of_runner, "Seccomp:");
}

/* The calls of carriers are among those that it forbids. */
static void *forbid_all(void *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { 6, filter };

	nap();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(2);
	return argument;
}

static void *answer_confined(void *argument)
{
	char byte;

	while (recv(pair[0], &byte, 1, 0) == 1) {
		add_hits(inline_call(SYS_getppid, 0, 0, 0) == -EPERM);
		nap();
		send(pair[0], &byte, 1, 0);
	}
	return argument;
}

static void *spin_until(void *argument)
{
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	add_hits(inline_call(SYS_getppid, 0, 0, 0) == -EPERM);
	return argument;
}

static void a_filter_for_all_threads(void)
{
	pthread_t threads[5];
	char byte;
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = start(answer_confined, NULL);
	threads[4] = start(spin_until, NULL);
	for (i = 0; i < 20; i++) {
		send(pair[1], "x", 1, 0);
		recv(pair[1], &byte, 1, 0);
	}
	in_thread(forbid_all, NULL);
	flag = 1;
	for (i = 0; i < 100; i++) {
		send(pair[1], "x", 1, 0);
		recv(pair[1], &byte, 1, 0);
	}
	shutdown(pair[1], SHUT_RDWR);
	for (i = 0; i < 5; i++)
		join(threads[i]);
	printf("%d %ld\n", hits, in_thread(answer_confined, NULL));
}

static void a_filter_stays_with_the_thread_and_its_threads(void)
{
	pthread_t other = start(see_confinement, NULL);

	printf("%ld ", in_thread(forbid, NULL));
	join(other);
	printf("%d\n", hits);
}

static void *leave(void *argument)
{
	(void)argument;
	nap();
	if (unshare(CLONE_FS) || chdir("/proc"))
		exit(2);
	nap();
	return NULL;
}

static void *look_around(void *argument)
{
	char path[PATH_MAX];

	nap();
	if (!getcwd(path, sizeof(path)))
		exit(2);
	add_hits(!strcmp(path, "/proc"));
	return argument;
}

static void unshare_stays_with_the_thread(void)
{
	int i;

	if (chdir("/"))
		exit(2);
	in_thread(leave, NULL);
	for (i = 0; i < 8; i++)
		in_thread(look_around, NULL);
	printf("%d\n", hits);
}

static void *pin(void *argument)
{
	cpu_set_t set, seen;
	int i, elsewhere = 0;
	unsigned int cpu;

	(void)argument;
	sched_getaffinity(0, sizeof(set), &set);
	for (i = 0; !CPU_ISSET(i, &set);)
		i++;
	CPU_ZERO(&set);
	CPU_SET(i, &set);
	check(pthread_setaffinity_np(pthread_self(), sizeof(set), &set), "affinity");
	check(pthread_setname_np(pthread_self(), "pinned"), "name");
	for (cpu = 0; elsewhere < 20; elsewhere++) {
		inline_call(SYS_getcpu, (long)&cpu, 0, 0);
		if (cpu != (unsigned int)i)
			add_hits(1);
		nap();
	}
	sched_getaffinity(0, sizeof(seen), &seen);
	printf("%d %d ", hits, CPU_EQUAL(&set, &seen));
	return NULL;
}

static void *name_of(void *argument)
{
	char name[16] = "";

	(void)argument;
	prctl(PR_GET_NAME, name);
	puts(name);
	return NULL;
}

static void affinity_stays_with_the_thread(void)
{
	in_thread(pin, NULL);
	in_thread(name_of, NULL);
}

/* Of root: every kernel thread changes, also while threads compute. */
static void *change_user(void *argument)
{
	(void)argument;
	nap();
	return (void *)(long)seteuid(65534);
}

static void *look_at_user(void *argument)
{
	while (!flag)
		sched_yield();
	add_hits(inline_call(SYS_geteuid, 0, 0, 0) == 65534);
	return argument;
}

static void set_user_is_for_all(void)
{
	pthread_t threads[6];
	int i;

	if (geteuid()) {
		puts("0 6 needs root");
		return;
	}
	for (i = 0; i < 6; i++)
		threads[i] = start(i & 1 ? look_at_user : spin, NULL);
	nap();
	printf("%ld ", in_thread(change_user, NULL));
	flag = 1;
	for (i = 0; i < 6; i++)
		join(threads[i]);
	printf("%d needs root\n", hits + 3);
}

/* ---- ends, and other programs ---- */

static void *leave_process(void *argument)
{
	nap();
	exit((int)(long)argument);
}

static void exit_of_a_thread(void)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		start(leave_process, (void *)3);
		pause();
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void *say_later(void *argument)
{
	usleep(20000);
	puts(argument);
	fflush(stdout);
	return NULL;
}

static void main_ends_first(void)
{
	start(say_later, "later");
	pthread_exit(NULL);
}

static void *run_program(void *argument)
{
	char *const argv[] = { "true", NULL };
	int status = -1;
	pid_t child;
	FILE *stream;
	char line[16] = "";

	(void)argument;
	nap();
	child = fork();
	if (!child)
		_exit(execvp("true", argv) ? 9 : 0);
	waitpid(child, &status, 0);
	printf("%d ", status);
	child = vfork(); /* NOLINT: what is tested */
	if (!child) {
		close(pair[0]); /* NOLINT(clang-analyzer-unix.Vfork): programs do so */
		execlp("true", "true", (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("%d ", status);
	stream = popen("echo popen", "r");
	if (!fgets(line, sizeof(line), stream))
		exit(2);
	pclose(stream);
	printf("%d %s", system("exit 4") >> 8, line);
	return NULL;
}

static void programs_from_threads(void)
{
	in_thread(run_program, NULL);
}

static void *replace(void *argument)
{
	sigset_t set;

	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	nap();
	execl("/bin/sh", "sh", "-c", "grep SigBlk /proc/self/status", (char *)NULL);
	return argument;
}

static void exec_of_a_thread_has_its_mask(void)
{
	fflush(stdout);
	in_thread(replace, NULL);
}

static void *abort_later(void *argument)
{
	nap();
	abort();
	return argument;
}

static void abort_of_a_thread(void)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		start(abort_later, NULL);
		pause();
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static pthread_key_t key;

static void end_of_key(void *value)
{
	add_hits((int)(long)value);
}

static __thread long local;

static void *use_local(void *argument)
{
	int i;

	pthread_setspecific(key, argument);
	local = (long)argument;
	for (i = 0; i < 10; i++) {
		errno = (int)(long)argument;
		sched_yield();
		usleep(1);
		if (errno != (int)(long)argument || local != (long)argument ||
		    pthread_getspecific(key) != argument)
			return (void *)1;
	}
	pthread_exit(NULL);
}

static void local_data(void)
{
	pthread_t threads[10];
	long i, wrong = 0;

	pthread_key_create(&key, end_of_key);
	for (i = 0; i < 10; i++)
		threads[i] = start(use_local, (void *)(i + 1));
	for (i = 0; i < 10; i++)
		wrong += join(threads[i]);
	printf("%ld %d\n", wrong, hits);
}

static void *touch(void *argument)
{
	usleep(1);
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	return argument;
}

static void short_threads(void)
{
	pthread_t threads[100];
	int i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < 100; i++)
			threads[i] = start(touch, NULL);
		for (i = 0; i < 100; i++)
			join(threads[i]);
	}
	printf("%ld\n", counter);
}

static void detached_threads(void)
{
	int i;

	for (i = 0; i < 500; i++)
		pthread_detach(start(touch, NULL));
	while (__atomic_load_n(&counter, __ATOMIC_SEQ_CST) < 500)
		nap();
	puts("500");
}

static void *number(void *argument)
{
	const pid_t first = gettid();

	(void)argument;
	nap();
	return (void *)(long)(gettid() == first && syscall(SYS_gettid) == first);
}

static void thread_numbers_stay(void)
{
	printf("%ld\n", in_thread(number, NULL));
}

static void *use_contexts(void *argument)
{
	static ucontext_t context;
	static volatile int times;

	(void)argument;
	nap();
	times = 0;
	getcontext(&context);
	if (times++ < 3)
		setcontext(&context);
	nap();
	return (void *)(long)times;
}

static void contexts(void)
{
	printf("%ld\n", in_thread(use_contexts, NULL));
}

/* ---- threads that were cancelled are forgotten ---- */

static sem_t turn;

/* Again and again, as the thread may not wait yet. */
static long interrupt(pthread_t thread)
{
	void *result;

	while (pthread_tryjoin_np(thread, &result)) {
		pthread_kill(thread, SIGUSR1);
		usleep(20000);
	}
	return (long)result;
}

static void accept_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Their stacks are too large for libc to keep: whoever still looks there ends by SIGSEGV. */
static void *take_signal(void *argument)
{
	accept_signal();
	while (!hits)
		sem_wait(&turn);
	return argument;
}

static pthread_t start_large(routine *run)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 48 << 20);
	check(pthread_create(&thread, &attributes, run, NULL), "pthread_create");
	pthread_attr_destroy(&attributes);
	return thread;
}

static void cancelled_threads_are_forgotten(void)
{
	pthread_t threads[8], taker;
	sigset_t set;
	int i;

	sem_init(&turn, 0, 0);
	handle(SIGUSR1, 0);
	for (i = 0; i < 8; i++)
		threads[i] = start_large(wait_for_ever);
	nap();
	for (i = 0; i < 8; i++)
		pthread_cancel(threads[i]);
	for (i = 0; i < 8; i++)
		printf("%d\n", (void *)join(threads[i]) == PTHREAD_CANCELED);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	hits = 0; /* of clean-up handlers */
	taker = start(take_signal, NULL);
	/* As in interrupt(), but whoever is alive may take it. */
	do {
		kill(getpid(), SIGUSR1);
		nap();
	} while (pthread_tryjoin_np(taker, NULL));
	puts("taken");
}

/* ---- times that 64 bits of nanoseconds do not hold, and those that are none ---- */

static const struct timespec far = { LONG_MAX / 1000, 0 };

static void *wait_long_for_condition(void *argument)
{
	int error = 0;

	(void)argument;
	pthread_mutex_lock(&mutex);
	while (!flag && !error)
		error = pthread_cond_timedwait(&condition, &mutex, &far);
	pthread_mutex_unlock(&mutex);
	return (void *)(long)error;
}

static void *sleep_long(void *argument)
{
	(void)argument;
	return (void *)(long)(nanosleep(&far, NULL) ? errno : 0);
}

static void *wait_long_for_semaphore(void *argument)
{
	(void)argument;
	return (void *)(long)(sem_timedwait(&turn, &far) ? errno : 0);
}

static long select_for(long seconds)
{
	struct timeval limit = { seconds, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	return select(pair[1] + 1, &set, NULL, NULL, &limit);
}

static void *select_long(void *argument)
{
	(void)argument;
	return (void *)select_for(far.tv_sec);
}

static void *poll_long(void *argument)
{
	struct pollfd poll = { pair[1], POLLIN, 0 };

	(void)argument;
	return (void *)(long)ppoll(&poll, 1, &far, NULL);
}

static void *wait_for_no_time(void *argument)
{
	const struct timespec wrong = { 1, 2000000000 }, before = { -1, 0 };
	struct pollfd poll = { pair[1], POLLIN, 0 };

	printf("%ld", select_for(-1));
	printf(" %d", errno);
	printf(" %d", ppoll(&poll, 1, &wrong, NULL));
	printf(" %d\n", errno);
	printf("%d", ppoll(&poll, 1, &before, NULL));
	printf(" %d\n", errno);
	return argument;
}

static void far_times(void)
{
	pthread_t thread;

	sem_init(&turn, 0, 0);
	handle(SIGUSR1, 0);
	thread = start(wait_long_for_condition, NULL);
	nap();
	pthread_mutex_lock(&mutex);
	flag = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	printf("%ld\n", join(thread));
	thread = start(wait_long_for_semaphore, NULL);
	nap();
	sem_post(&turn);
	printf("%ld\n", join(thread));
	thread = start(sleep_long, NULL);
	printf("%ld\n", interrupt(thread));
	in_thread(wait_for_no_time, NULL);
	thread = start(select_long, NULL);
	nap();
	send(pair[0], "x", 1, 0);
	printf("%ld\n", join(thread));
	printf("%ld\n", in_thread(poll_long, NULL));
}

/* ---- a wake-up of some bits reaches a waiter that has them ---- */

static int bits_word;

static void *wait_for_bits(void *argument)
{
	int seen;

	for (;;) {
		seen = __atomic_load_n(&bits_word, __ATOMIC_SEQ_CST);
		if (seen & (int)(long)argument)
			return argument;
		syscall(SYS_futex, &bits_word, FUTEX_WAIT_BITSET_PRIVATE, seen, NULL, NULL,
			(long)argument);
	}
}

static void bits_of_futexes(void)
{
	pthread_t threads[2];
	long i;

	for (i = 0; i < 2; i++) {
		threads[i] = start(wait_for_bits, (void *)(i + 1));
		usleep(20000);
	}
	for (i = 2; i; i--) {
		__atomic_fetch_or(&bits_word, i, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &bits_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, i);
		printf("%ld\n", join(threads[i - 1]));
	}
}

/* ---- futexes that the kernel refuses ---- */

static void ask_futex(const void *at, int operation, long value, const struct timespec *time,
		      long bits)
{
	const long result = syscall(SYS_futex, at, operation, value, time, NULL, bits);

	printf("%ld %s\n", result, result < 0 ? strerror(errno) : "");
}

static void *ask_futexes(void *argument)
{
	static int words[2];
	const struct timespec odd_times[] = { { 0, 1000000000 }, { 0, -1 }, { -1, 0 } };
	char *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec soon = { 0, 1000000 };
	int i;

	nap();
	ask_futex(NULL, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex(gone, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex((void *)(1UL << 63), FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex((char *)words + 1, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE, 1, NULL, 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE, 0, (void *)gone, 0);
	for (i = 0; i < 3; i++)
		ask_futex(words, FUTEX_WAIT_PRIVATE, 0, &odd_times[i], 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE, 0, &soon, 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &soon, 0);
	ask_futex(words, FUTEX_WAIT_BITSET_PRIVATE, 0, &soon, FUTEX_BITSET_MATCH_ANY);
	ask_futex(words, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, 0);
	ask_futex(words, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, 0);
	ask_futex(words, FUTEX_WAKE_PRIVATE, 1, NULL, 0);
	ask_futex((char *)words + 1, FUTEX_WAKE_PRIVATE, 1, NULL, 0);
	ask_futex(words, FUTEX_CMP_REQUEUE_PRIVATE, 1, NULL, 1);
	ask_futex(words, 99, 1, NULL, 1);
	ask_futex(words, 99 | FUTEX_PRIVATE_FLAG, 1, NULL, 1);
	return argument;
}

static void errors_of_futexes(void)
{
	in_thread(ask_futexes, NULL);
}

/* ---- a program that closes or replaces all descriptors by their numbers ---- */

static void *close_and_replace_all(void *argument)
{
	int pipes[2], fd;
	char byte;

	nap();
	printf("%ld\n", syscall(SYS_close_range, 3, ~0U, 0));
	if (pipe(pipes))
		return NULL;
#ifdef SYS_dup2
	printf("%ld\n", syscall(SYS_dup2, pipes[0], 21));
#else
	printf("%ld\n", syscall(SYS_dup3, pipes[0], 21, 0));
#endif
	printf("%zd\n", write(pipes[1], "x", 1));
	printf("%zd\n", read(21, &byte, 1));
	nap();
	for (fd = 3; fd < 1100; fd++)
		syscall(SYS_dup3, 1, fd, 0);
	nap();
	return argument;
}

static void descriptors_by_syscall(void)
{
	in_thread(close_and_replace_all, NULL);
	in_thread(close_and_replace_all, NULL);
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

static void signals_end_waits(void)
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

static void kill_returns_after_the_handler(void)
{
	sigset_t set;

	handle(SIGUSR1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	in_thread(signal_the_process, NULL);
}

/* ---- a signal while a thread leaves home ---- */

static sem_t answer;

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

static void signals_meet_threads_that_leave_home(void)
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

static void handlers_that_wait(void)
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

static void handlers_of_faults_may_wait(void)
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

/* ---- a thread computes for so long that the rest of the program is idle, then wakes another ----
 */

static void compute_for(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Goes on to compute until the other has run, or waits for it. */
static void *compute_and_post(void *computes)
{
	int i;

	for (i = 0; i < 2; i++) {
		compute_for(100);
		if (i)
			nap();
		sem_post(&turn);
		while (computes && !__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
			;
		sem_wait(&answer);
		flag = 0;
	}
	return NULL;
}

static void *answer_posts(void *argument)
{
	int i;

	for (i = 0; i < 4; i++) {
		sem_wait(&turn);
		__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
		sem_post(&answer);
	}
	return argument;
}

static void who_computed_wakes_others(void)
{
	pthread_t thread;

	sem_init(&turn, 0, 0);
	sem_init(&answer, 0, 0);
	thread = start(answer_posts, NULL);
	in_thread(compute_and_post, NULL);
	in_thread(compute_and_post, "computes");
	join(thread);
	puts("all were answered");
}

/* ---- a thread that yields, computes and wakes another, after a third has computed and waits ----
 */

static void *compute_and_wait(void *argument)
{
	compute_for(30);
	sem_wait(&answer);
	return argument;
}

static void *yield_and_post(void *argument)
{
	int i;

	for (i = 0; i < 100; i++) {
		compute_for(1);
		sched_yield();
	}
	compute_for(50);
	sem_post(&turn);
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return argument;
}

static void *set_flag_in_turn(void *argument)
{
	sem_wait(&turn);
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	sem_post(&answer);
	return argument;
}

static void who_yielded_wakes_others(void)
{
	pthread_t threads[3];
	int i;

	sem_init(&turn, 0, 0);
	sem_init(&answer, 0, 0);
	threads[0] = start(set_flag_in_turn, NULL);
	threads[1] = start(compute_and_wait, NULL);
	threads[2] = start(yield_and_post, NULL);
	for (i = 0; i < 3; i++)
		join(threads[i]);
	puts("all were woken");
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

static void signal_stacks_stay_with_their_threads(void)
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

/* ---- two threads wait for a new socket for the first time, one to read and one to write ---- */

static int both[2];

static void *read_one(void *argument)
{
	char byte;

	(void)argument;
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return (void *)recv(both[0], &byte, 1, 0);
}

static void *write_all(void *argument)
{
	static char bytes[1 << 20];

	(void)argument;
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return (void *)send(both[0], bytes, sizeof(bytes), 0);
}

static void both_directions_at_once(void)
{
	static char bytes[1 << 20];
	pthread_t reader, writer;
	long sum = 0;
	int i;

	for (i = 0; i < 500; i++) {
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, both), "socketpair");
		flag = 0;
		reader = start(read_one, NULL);
		writer = start(write_all, NULL);
		usleep(300);
		__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
		usleep(200);
		send(both[1], "x", 1, 0);
		sum += recv(both[1], bytes, sizeof(bytes), MSG_WAITALL);
		sum += join(reader) + join(writer);
		close(both[0]);
		close(both[1]);
	}
	printf("%ld\n", sum);
}

/* ---- a wait that holds a carrier, where /proc is not to be seen ---- */

static void *read_stream(void *argument)
{
	return (void *)(long)fgetc(argument);
}

static void *write_later(void *argument)
{
	usleep(20000);
	return (void *)write((int)(long)argument, "A", 1);
}

static void streams_in_a_chroot(void)
{
	int pipes[2];
	pthread_t reader, writer;

	if (pipe(pipes))
		return;
	if (chroot("/etc"))
		perror("chroot: the test is without"); /* not root */
	reader = start(read_stream, fdopen(pipes[0], "r"));
	nap();
	writer = start(write_later, (void *)(long)pipes[1]);
	printf("%ld\n", join(reader));
	printf("%ld\n", join(writer));
}

/* clang-format off */
#define PROPERTIES(X) \
	X(cancelled_threads_are_forgotten) \
	X(far_times) \
	X(bits_of_futexes) \
	X(descriptors_by_syscall) \
	X(errors_of_futexes) \
	X(cancel_in_calls_at_home) \
	X(cancelled_threads_go_on_until_a_point) \
	X(received_numbers_are_new) \
	X(a_filter_for_all_threads) \
	X(signals_end_waits) \
	X(kill_returns_after_the_handler) \
	X(signals_meet_threads_that_leave_home) \
	X(handlers_that_wait) \
	X(both_directions_at_once) \
	X(streams_in_a_chroot) \
	X(signal_ends_recv) \
	X(signal_restarts_recv) \
	X(process_signal_finds_the_thread) \
	X(mask_holds_signals_back) \
	X(sigwait_takes_it) \
	X(sigpipe_comes_to_the_writer) \
	X(sigpipe_kills) \
	X(handlers_may_post) \
	X(fault_and_jump) \
	X(signal_stacks_stay_with_their_threads) \
	X(handlers_of_faults_may_wait) \
	X(cancel_in_recv) \
	X(cancel_in_condition) \
	X(cancel_in_sleep) \
	X(cancel_in_a_stream) \
	X(cancel_before_a_wait) \
	X(cancel_when_enabled) \
	X(robust_mutex) \
	X(priority_inheriting_mutex) \
	X(plain_mutex) \
	X(kinds_of_mutexes) \
	X(shared_between_processes) \
	X(semaphores) \
	X(conditions) \
	X(reader_writer_lock) \
	X(barriers) \
	X(futexes) \
	X(inlined_futexes) \
	X(spinning_threads_do_not_hold_others) \
	X(who_computed_wakes_others) \
	X(who_yielded_wakes_others) \
	X(time_limits) \
	X(a_condition_waits_with_any_mutex) \
	X(time_limits_of_locks) \
	X(blocking_writes_are_whole) \
	X(recv_waits_for_all) \
	X(recv_of_all_returns_a_part) \
	X(sendmsg_returns_a_part) \
	X(recv_of_all_takes_one_datagram) \
	X(nonblocking_calls_do_not_wait) \
	X(accept_by_many) \
	X(numbers_are_used_again) \
	X(no_new_privileges_stay_with_the_thread) \
	X(a_filter_stays_with_the_thread_and_its_threads) \
	X(unshare_stays_with_the_thread) \
	X(affinity_stays_with_the_thread) \
	X(set_user_is_for_all) \
	X(exit_of_a_thread) \
	X(main_ends_first) \
	X(programs_from_threads) \
	X(exec_of_a_thread_has_its_mask) \
	X(abort_of_a_thread) \
	X(local_data) \
	X(short_threads) \
	X(detached_threads) \
	X(thread_numbers_stay) \
	X(contexts)
/* clang-format on */

static const struct {
	const char *name;
	void (*run)(void);
} properties[] = {
#define X(name) { #name, name },
	PROPERTIES(X)
#undef X
};

int main(int argc, char *argv[])
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	for (i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], "--list"))
			puts(properties[i].name);
		else if (argc == 2 && !strcmp(argv[1], properties[i].name))
			properties[i].run();
	}
	return 0;
}
