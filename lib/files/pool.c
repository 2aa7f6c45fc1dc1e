// SPDX-License-Identifier: MIT
/*
 * A thread inherits the credentials and restrictions of the thread that makes it.  A kept one
 * could lack the restrictions that its next user has put on itself since, and work around them.
 * So threads are kept only for users that are not confined and have the user and group that the
 * thread was made with; for all others a new one is made each time, and ends after its work.
 */
#include "pool.h"

#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <ferry/rawcall.h>

/* A limit for threads that hang in a system call and have been replaced. */
#define MOST_THREADS 512

/* Idle threads beyond this number end. */
#define MOST_IDLE 32

/* The usual one: callbacks of the application run on it, which may be Python. */
#define STACK_SIZE ((size_t)8 << 20)

/* What a kept thread must have in common with its user. */
struct identity {
	int user, group; /* those that file systems check */
	bool confined;	 /* by seccomp, or maybe by Landlock, which needs no_new_privs */
};

struct job {
	void (*work)(void *argument); /* NULL: none */
	void (*done)(void *argument);
	void *argument;
};

struct thread {
	struct thread *next; /* idle */
	pthread_cond_t wake;
	struct identity identity;
	int id;
	struct job job; /* none while idle */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *idle;
static unsigned int idle_count, thread_count;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* ---- fork() copies the calling thread only: the child has an empty pool ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	idle = NULL;
	idle_count = 0;
	thread_count = 0;
	pthread_mutex_unlock(&lock);
}

static void register_fork(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- whom a thread may work for ---- */

static int raw(long nr, long a, long b)
{
	return (int)ferry_rawcall(nr, a, b, 0, 0, 0, 0);
}

static struct identity current_identity(void)
{
	return (struct identity){
		/* -1 is no id: the calls change nothing and return the present id. */
		.user = raw(SYS_setfsuid, -1, 0),
		.group = raw(SYS_setfsgid, -1, 0),
		.confined = raw(SYS_prctl, PR_GET_SECCOMP, 0) != 0 ||
			    raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0) != 0,
	};
}

/* Whether THREAD has the calling thread's root, working directory and descriptors. */
static bool shares_files(const struct thread *thread)
{
	long self = raw(SYS_gettid, 0, 0);

	return ferry_rawcall(SYS_kcmp, self, thread->id, KCMP_FS, 0, 0, 0) <= 0 &&
	       ferry_rawcall(SYS_kcmp, self, thread->id, KCMP_FILES, 0, 0, 0) <= 0;
}

static bool may_work_for(const struct thread *thread, const struct identity *user)
{
	return !user->confined && !thread->identity.confined &&
	       thread->identity.user == user->user && thread->identity.group == user->group &&
	       shares_files(thread);
}

/* The size of the affinity of thread ID, 0 being the calling one, or an error. */
static long get_affinity(long id, cpu_set_t *set)
{
	return ferry_rawcall(SYS_sched_getaffinity, id, sizeof(*set), (long)set, 0, 0, 0);
}

/* A new thread inherits the affinity; that of a kept one may be of an earlier call. */
static void give_affinity(const struct thread *thread)
{
	cpu_set_t ours, its;
	long size = get_affinity(0, &ours);

	if (size <= 0) /* more CPUs than a set holds */
		return;
	if (get_affinity(thread->id, &its) == size && !memcmp(&its, &ours, (size_t)size))
		return;
	ferry_rawcall(SYS_sched_setaffinity, thread->id, size, (long)&ours, 0, 0, 0);
}

/* ---- a thread ---- */

static void end_thread(struct thread *self)
{
	thread_count--;
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&self->wake);
	free(self);
}

static void *thread_main(void *argument)
{
	struct thread *self = argument;

	self->id = raw(SYS_gettid, 0, 0);
	for (;;) {
		self->job.work(self->job.argument);
		pthread_mutex_lock(&lock);
		if (self->job.done)
			self->job.done(self->job.argument);
		if (self->identity.confined || idle_count >= MOST_IDLE) {
			end_thread(self);
			return NULL;
		}
		self->job.work = NULL;
		self->next = idle;
		idle = self;
		idle_count++;
		while (!self->job.work)
			pthread_cond_wait(&self->wake, &lock);
		pthread_mutex_unlock(&lock);
	}
}

static bool start_detached(struct thread *thread)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t ignored;
	int error;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&ignored, &attributes, thread_main, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return !error;
}

static bool make_thread(const struct identity *identity, const struct job *job)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return false;
	thread->identity = *identity;
	thread->job = *job;
	pthread_cond_init(&thread->wake, NULL);
	if (start_detached(thread))
		return true;
	pthread_cond_destroy(&thread->wake);
	free(thread);
	return false;
}

/* ---- the pool ---- */

static struct thread *take_idle(const struct identity *user)
{
	struct thread **link, *thread;

	for (link = &idle; *link; link = &(*link)->next) {
		thread = *link;
		if (may_work_for(thread, user)) {
			*link = thread->next;
			idle_count--;
			return thread;
		}
	}
	return NULL;
}

bool ferry__pool_run(void (*work)(void *argument), void (*done)(void *argument), void *argument)
{
	const struct job job = { work, done, argument };
	struct identity user = current_identity();
	struct thread *thread;
	bool may_add;

	pthread_once(&fork_once, register_fork);
	pthread_mutex_lock(&lock);
	thread = take_idle(&user);
	if (thread) {
		give_affinity(thread);
		thread->job = job;
		pthread_cond_signal(&thread->wake);
		pthread_mutex_unlock(&lock);
		return true;
	}
	may_add = thread_count < MOST_THREADS;
	thread_count += may_add;
	pthread_mutex_unlock(&lock);
	if (!may_add)
		return false;
	if (make_thread(&user, &job))
		return true;
	pthread_mutex_lock(&lock);
	thread_count--;
	pthread_mutex_unlock(&lock);
	return false;
}
