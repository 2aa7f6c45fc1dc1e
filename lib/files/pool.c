// SPDX-License-Identifier: MIT
/*
 * A thread inherits the credentials, restrictions and priorities of the thread that makes it.  A
 * kept one could lack the restrictions that its next user has put on itself since, and work around
 * them.  So threads are kept only for users that are not confined and have the identity that the
 * thread was made with; for all others a new one is made each time, and ends after its work.
 */
#include "pool.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <ferry/rawcall.h>

#include "caused_signals.h"

/* A limit for threads that hang in a system call and have been replaced. */
#define MOST_THREADS 512

/* Idle threads beyond this number end. */
#define MOST_IDLE 32

/*
 * An idle thread ends after this time: programs that make calls now and then find it, and one that
 * has made its last call is soon without threads.
 */
#define IDLE_SECONDS 5

/* The usual one: callbacks of the application run on it, which may be Python. */
#define STACK_SIZE ((size_t)8 << 20)

/* Users with more groups than this count as confined. */
#define MOST_GROUPS 64

/* The oldest struct sched_attr, which not all versions of the C library have. */
struct schedule {
	unsigned int size, policy;
	unsigned long flags;
	int nice;
	unsigned int priority;
	unsigned long runtime, deadline, period;
};

/* What a kept thread must have in common with its user.  Has no padding: it is compared whole. */
struct identity {
	struct schedule schedule;
	long io_priority;
	int user, group; /* those that file systems check */
	int group_count, groups[MOST_GROUPS];
	int confined; /* by seccomp, or maybe by Landlock */
	struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
};

struct job {
	void (*work)(void *argument); /* NULL: none */
	void (*done)(void *argument);
	void *argument;
};

struct thread {
	struct thread *next; /* in the list of idle ones, the one that was used last first */
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
	struct thread *thread;

	/* Their conditions have waiters that the child lacks, and must not be destroyed. */
	while ((thread = idle)) {
		idle = thread->next;
		free(thread);
	}
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

static struct schedule current_schedule(void)
{
	struct schedule schedule = { .size = sizeof(schedule) };

	ferry_rawcall(SYS_sched_getattr, 0, (long)&schedule, sizeof(schedule), 0, 0, 0);
	schedule.runtime = 0; /* of most policies, it is a time slice that the kernel chooses */
	return schedule;
}

static bool has_capability(const struct identity *user, unsigned int capability)
{
	return user->capabilities[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/*
 * No call tells whether a thread is confined by Landlock.  To confine itself, it needs no_new_privs
 * or CAP_SYS_ADMIN.
 */
static bool could_use_landlock(const struct identity *user)
{
	return has_capability(user, CAP_SYS_ADMIN) &&
	       ferry_rawcall(SYS_landlock_create_ruleset, 0, 0, 1, 0, 0, 0) > 0;
}

static void get_identity(struct identity *user)
{
	struct __user_cap_header_struct version = { .version = _LINUX_CAPABILITY_VERSION_3 };

	memset(user, 0, sizeof(*user));
	/* -1 is no id: the calls change nothing and return the present id. */
	user->user = raw(SYS_setfsuid, -1, 0);
	user->group = raw(SYS_setfsgid, -1, 0);
	user->group_count = raw(SYS_getgroups, MOST_GROUPS, (long)user->groups);
	user->io_priority = raw(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
	raw(SYS_capget, (long)&version, (long)user->capabilities);
	user->confined = user->group_count < 0 || raw(SYS_prctl, PR_GET_SECCOMP, 0) ||
			 raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0) || could_use_landlock(user);
	user->schedule = current_schedule();
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
	return !user->confined && !memcmp(&thread->identity, user, sizeof(*user)) &&
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

static void remove_idle(const struct thread *thread)
{
	struct thread **link = &idle;

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	idle_count--;
}

/* With the pool locked.  Returns false when the thread shall end. */
static bool wait_for_job(struct thread *self)
{
	struct timespec end;

	if (self->identity.confined || idle_count >= MOST_IDLE)
		return false;
	self->job.work = NULL;
	self->next = idle;
	idle = self;
	idle_count++;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += IDLE_SECONDS;
	while (!self->job.work) {
		if (pthread_cond_timedwait(&self->wake, &lock, &end) == ETIMEDOUT &&
		    !self->job.work) {
			remove_idle(self);
			return false;
		}
	}
	return true;
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
		if (!wait_for_job(self)) {
			end_thread(self);
			return NULL;
		}
		pthread_mutex_unlock(&lock);
	}
}

static void init_wake(struct thread *thread)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&thread->wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

static bool start_detached(struct thread *thread)
{
	pthread_attr_t attributes;
	sigset_t before;
	pthread_t ignored;
	int error;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	ferry__block_signals(&before);
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
	init_wake(thread);
	if (start_detached(thread))
		return true;
	pthread_cond_destroy(&thread->wake);
	free(thread);
	return false;
}

/* ---- the pool ---- */

static struct thread *take_idle(const struct identity *user)
{
	struct thread *thread;

	for (thread = idle; thread; thread = thread->next) {
		if (may_work_for(thread, user)) {
			remove_idle(thread);
			return thread;
		}
	}
	return NULL;
}

bool ferry__pool_run(void (*work)(void *argument), void (*done)(void *argument), void *argument)
{
	const struct job job = { work, done, argument };
	struct identity user;
	struct thread *thread;
	bool may_add;

	get_identity(&user);
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
