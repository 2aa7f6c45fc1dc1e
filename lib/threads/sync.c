// SPDX-License-Identifier: MIT
/*
 * Mutexes, conditions, semaphores and reader-writer locks.  libc's objects keep their state and
 * their owners; only waiting for them is in the parking lot.
 *
 * Conditions wait in the lot for threads at home, too: libc's own wait releases the mutex inside,
 * where no carried thread would be woken.
 *
 * What is robust, priority-inheriting, priority-protected or shared between processes belongs to
 * the kernel thread: it binds.
 */
#include <errno.h>
#include <limits.h>

#include "busy.h"
#include "export.h"
#include "home.h"
#include "lot.h"
#include "real.h"

/* Of __data.__kind: <bits/struct_mutex.h> and libc's pthreadP.h, part of its ABI. */
#define MUTEX_TYPE 3
#define MUTEX_UNUSUAL (16 | 32 | 64 | 128)

/* The remaining time of a deadline of another clock, as a deadline of CLOCK_MONOTONIC. */
static int64_t monotonic(clockid_t clock, const struct timespec *until)
{
	const int64_t left = ns_of(until) - clock_ns(clock);

	return now_ns() + (left > 0 ? left : 0);
}

static bool is_time(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < NS_PER_S;
}

/* ---- waiting for something that TRY takes ---- */

/* Returns what TRY says, once it is not AGAIN; ETIMEDOUT; or EINTR where handlers end the wait. */
static int wait_until(void *object, int (*try)(void *), int again, int64_t deadline,
		      bool interruptible)
{
	struct bucket *bucket = lot_enter(object);
	enum wait_state why;
	unsigned int seq;
	int result;

	for (;;) {
		seq = wait_seq(&bucket->list);
		result = try(object);
		if (result != again)
			break;
		why = lot_wait(bucket, object, seq, deadline);
		if (why == WAIT_TIMEOUT) {
			result = ETIMEDOUT;
			break;
		}
		if (why != WAIT_CALLED)
			continue;
		lot_leave(bucket);
		result = home_answer(true, interruptible) && interruptible ? EINTR : 0;
		lot_enter(object);
		if (result)
			break;
	}
	lot_leave(bucket);
	return result;
}

/* ---- mutexes ---- */

static int try_mutex(void *mutex)
{
	return real_mutex_trylock(mutex);
}

/* Takes the mutex without waiting, or says EBUSY; *DONE: the result is final. */
static int quick_lock(pthread_mutex_t *mutex, bool *done)
{
	const int kind = mutex->__data.__kind;
	int result;

	*done = true;
	count_work(CALL_OF_LOCK);
	if (kind & MUTEX_UNUSUAL) {
		if (ferry_self.place == PLACE_CARRIED)
			home_bind("a robust, shared or priority mutex");
		*done = false;
		return EAGAIN;
	}
	result = real_mutex_trylock(mutex);
	if (result != EBUSY)
		return result;
	*done = false;
	/* A mutex that checks, and is the caller's own: libc knows what to say. */
	if (kind & MUTEX_TYPE && mutex->__data.__owner == home_tid())
		return EAGAIN;
	return home_depart() ? EBUSY : EAGAIN;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	bool done;
	int result;

	if (!is_watched())
		return real_mutex_lock(mutex);
	result = quick_lock(mutex, &done);
	if (done)
		return result;
	if (result == EAGAIN)
		return real_mutex_lock(mutex);
	return wait_until(mutex, try_mutex, EBUSY, -1, false);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until)
{
	bool done;
	int result;

	if (!is_watched())
		return real()->pthread_mutex_clocklock(mutex, clock, until);
	result = quick_lock(mutex, &done);
	if (done)
		return result;
	if (result == EAGAIN || !is_time(until))
		return real()->pthread_mutex_clocklock(mutex, clock, until);
	return wait_until(mutex, try_mutex, EBUSY, monotonic(clock, until), false);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (is_carried() && mutex->__data.__kind & MUTEX_UNUSUAL)
		home_bind("a robust, shared or priority mutex");
	return real_mutex_trylock(mutex);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int result;

	if (is_carried() && mutex->__data.__kind & MUTEX_UNUSUAL)
		home_bind("a robust, shared or priority mutex");
	result = real_mutex_unlock(mutex);
	lot_wake(mutex, 1); /* only by its address: another thread may free it by now */
	return result;
}

/* ---- conditions ---- */

static bool is_shared(const pthread_cond_t *condition)
{
	return condition->__data.__wrefs & 1;
}

static void wait_end(void *mutex)
{
	pthread_mutex_lock(mutex);
}

/* Of waits: their number depends on how threads are run. */
static void uncount_lock(void)
{
	ferry_self.work[CALL_OF_LOCK]--;
}

/* Returns 0, which may be early, or ETIMEDOUT. */
static int wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline)
{
	struct bucket *bucket;
	enum wait_state why;
	unsigned int seq;
	int error;

	home_check();
	home_depart();
	bucket = lot_enter(condition);
	seq = wait_seq(&bucket->list);
	error = pthread_mutex_unlock(mutex);
	if (error) {
		lot_leave(bucket);
		return error;
	}
	/* The unlock counts as an event of the mutex's bucket, which may be this one. */
	if (lot_bucket(mutex) == bucket && !is_busy())
		seq++;
	why = lot_wait(bucket, condition, seq, deadline);
	lot_leave(bucket);
	if (why == WAIT_CALLED) {
		/* A cancelled thread holds the mutex in its clean-up handlers. */
		pthread_cleanup_push(wait_end, mutex);
		home_answer(true, true);
		pthread_cleanup_pop(0);
	}
	uncount_lock();
	error = pthread_mutex_lock(mutex);
	if (error)
		return error;
	return why == WAIT_TIMEOUT ? ETIMEDOUT : 0;
}

/* The clock may have been set back meanwhile: then the wait ends early, which callers expect. */
static int wait_condition_until(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
				const struct timespec *until)
{
	int result;

	if (!is_time(until))
		return EINVAL;
	result = wait_condition(condition, mutex, monotonic(clock, until));
	return result == ETIMEDOUT && clock_ns(clock) < ns_of(until) ? 0 : result;
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (!is_shared(condition))
		return wait_condition(condition, mutex, -1);
	home_bind("a shared condition");
	return real()->pthread_cond_wait(condition, mutex);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				  clockid_t clock, const struct timespec *until)
{
	if (!is_shared(condition) && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC))
		return wait_condition_until(condition, mutex, clock, until);
	home_bind("a shared condition");
	return real()->pthread_cond_clockwait(condition, mutex, clock, until);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	const bool is_monotonic = condition->__data.__wrefs & 2;

	if (!is_shared(condition))
		return wait_condition_until(condition, mutex,
					    is_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, until);
	home_bind("a shared condition");
	return real()->pthread_cond_timedwait(condition, mutex, until);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	if (is_shared(condition))
		return real()->pthread_cond_signal(condition);
	__atomic_thread_fence(
		__ATOMIC_SEQ_CST); /* the caller's change, before the look for waiters */
	lot_wake(condition, 1);
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	if (is_shared(condition))
		return real()->pthread_cond_broadcast(condition);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	lot_wake(condition, INT_MAX);
	return 0;
}

/* ---- semaphores ---- */

/* The word behind a semaphore's value: not 0 if processes share it (libc's new_sem). */
static bool is_shared_semaphore(const sem_t *semaphore)
{
	return ((const int *)semaphore)[2];
}

static int try_semaphore(void *semaphore)
{
	return real()->sem_trywait(semaphore) ? errno : 0;
}

/* Whether the caller waits in the lot; otherwise *RESULT is final, or it waits in libc. */
static bool parks(sem_t *semaphore, int *result, bool *in_libc)
{
	const int saved = errno;

	*in_libc = true;
	*result = 0;
	if (!is_watched())
		return false;
	home_check();
	count_work(CALL_OF_LOCK);
	if (is_shared_semaphore(semaphore)) {
		home_enter("a shared semaphore");
		return false;
	}
	*result = try_semaphore(semaphore);
	errno = saved;
	*in_libc = *result == EAGAIN && !home_depart();
	return *result == EAGAIN && !*in_libc;
}

EXPORT int sem_wait(sem_t *semaphore)
{
	bool in_libc;
	int result;

	if (parks(semaphore, &result, &in_libc))
		return (int)as_libc(-wait_until(semaphore, try_semaphore, EAGAIN, -1, true));
	if (!in_libc)
		return (int)as_libc(-result);
	result = real()->sem_wait(semaphore);
	home_leave();
	return result;
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	bool in_libc;
	int result;

	if (is_time(until) && parks(semaphore, &result, &in_libc))
		return (int)as_libc(-wait_until(semaphore, try_semaphore, EAGAIN,
						monotonic(clock, until), true));
	if (is_time(until) && !in_libc)
		return (int)as_libc(-result);
	result = real()->sem_clockwait(semaphore, clock, until);
	home_leave();
	return result;
}

/* A cancellation point also if it need not wait, unlike libc's sem_clockwait(). */
EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	pthread_testcancel();
	return sem_clockwait(semaphore, CLOCK_REALTIME, until);
}

EXPORT int sem_post(sem_t *semaphore)
{
	const int result = real()->sem_post(semaphore);

	lot_wake(semaphore, 1);
	return result;
}

/* ---- reader-writer locks ---- */

static int try_read(void *lock)
{
	return pthread_rwlock_tryrdlock(lock);
}

static int try_write(void *lock)
{
	return pthread_rwlock_trywrlock(lock);
}

/* libc queues writers that wait, and holds new readers back: that is not imitated. */
static bool is_unusual_rwlock(const pthread_rwlock_t *lock)
{
	return lock->__data.__shared ||
	       lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* EAGAIN: the caller is to wait in libc. */
static int lock_rwlock(pthread_rwlock_t *lock, int (*try)(void *), int64_t deadline)
{
	int result;

	if (!is_watched())
		return EAGAIN;
	if (is_unusual_rwlock(lock)) {
		home_enter("a shared reader-writer lock, or one that prefers writers");
		return EAGAIN;
	}
	result = try(lock);
	if (result != EBUSY)
		return result;
	if (lock->__data.__cur_writer == home_tid() || !home_depart())
		return EAGAIN;
	return wait_until(lock, try, EBUSY, deadline, false);
}

static int finish(int result)
{
	home_leave();
	return result;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	const int result = lock_rwlock(lock, try_read, -1);

	return result == EAGAIN ? finish(real_rwlock_rdlock(lock)) : result;
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	const int result = lock_rwlock(lock, try_write, -1);

	return result == EAGAIN ? finish(real_rwlock_wrlock(lock)) : result;
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
				      const struct timespec *until)
{
	const int result =
		is_time(until) ? lock_rwlock(lock, try_read, monotonic(clock, until)) : EAGAIN;

	return result == EAGAIN ? finish(real()->pthread_rwlock_clockrdlock(lock, clock, until)) :
				  result;
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
				      const struct timespec *until)
{
	const int result =
		is_time(until) ? lock_rwlock(lock, try_write, monotonic(clock, until)) : EAGAIN;

	return result == EAGAIN ? finish(real()->pthread_rwlock_clockwrlock(lock, clock, until)) :
				  result;
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	return pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, until);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	return pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, until);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	const int result = real_rwlock_unlock(lock);

	lot_wake(lock, INT_MAX);
	return result;
}

/* ---- C11: libc's types are the same objects ---- */

static int as_thrd(int error)
{
	if (!error)
		return thrd_success;
	return error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy : thrd_error;
}

EXPORT int mtx_lock(mtx_t *mutex)
{
	return as_thrd(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

EXPORT int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
	return as_thrd(pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
	return as_thrd(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	return as_thrd(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

EXPORT int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
	return as_thrd(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
					      until));
}

EXPORT int cnd_signal(cnd_t *condition)
{
	return as_thrd(pthread_cond_signal((pthread_cond_t *)condition));
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
	return as_thrd(pthread_cond_broadcast((pthread_cond_t *)condition));
}
