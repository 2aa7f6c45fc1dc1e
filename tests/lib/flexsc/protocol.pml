/* SPDX-License-Identifier: MIT */
/*
 * The protocol of <linux/flexsc.h> on processors that buffer their stores (TSO: what
 * x86-64 does).  Each thread's stores reach memory later, in order; a fence waits for the
 * thread's own, membarrier for each other thread's in turn.
 *
 * With -DWEAK, stores to different words reach memory in any order, except that a release follows
 * those before it; and one load at a time may have happened before what precedes it, back to the
 * last acquire or fence.  arm64 and riscv64 do this.  They also delay a load beyond stores that
 * follow it, which is not here.
 *
 * A lost wake-up is a deadlock, which spin reports as an invalid end state.  A call that is run
 * twice, or with the arguments of another one, fails an assertion, and so does one that is never
 * run.  test_protocol.py says what can be left out with -DWITHOUT_..., and that it is noticed.
 */

#define POSTERS 2

/* Of each poster, one after the other in the same entry. */
#ifndef CALLS_0
#define CALLS_0 2
#endif
#ifndef CALLS_1
#define CALLS_1 2
#endif
#define CALLS 2 /* at most */

/* Threads: the posters, who also wait; somebody who waits for poster 0's calls, too; the runner. */
#define ONLOOKER POSTERS
#define RUNNER (POSTERS + 1)
#define STOPPER (POSTERS + 2)
#define THREADS (POSTERS + 3)

#define FREE 0
#define SUBMITTED 1
#define DONE 2

#define ABSENT 0
#define RUNNING 1
#define ASLEEP 2

#define OPEN 0
#define CLOSED 1
#define STOP 2

/* Words of memory. */
#define STATUS(entry) (entry)
#define ARG(entry) (POSTERS + (entry))
#define WAITED(entry) (2 * POSTERS + (entry))
#define BEGUN(entry) (3 * POSTERS + (entry))
#define STATE (4 * POSTERS)
#define GATE (4 * POSTERS + 1)
#define WORDS (4 * POSTERS + 2)

byte memory[WORDS];

/* ---- buffered stores ---- */

#define BUFFER 2

byte word[THREADS * BUFFER], value[THREADS * BUFFER], buffered[THREADS];
#ifdef WEAK
bool released[THREADS * BUFFER];

#define NOTHING 255
byte early_word[THREADS] = NOTHING, early_value[THREADS]; /* what a thread has read early */
#endif

#define FIRST(t) ((t) * BUFFER)
#define SECOND(t) ((t) * BUFFER + 1)

active [THREADS] proctype drain()
{
end:	do
	:: d_step {
		buffered[_pid] > 0 ->
		memory[word[FIRST(_pid)]] = value[FIRST(_pid)];
		word[FIRST(_pid)] = word[SECOND(_pid)];
		value[FIRST(_pid)] = value[SECOND(_pid)];
		buffered[_pid]--;
		word[FIRST(_pid) + buffered[_pid]] = 0;
		value[FIRST(_pid) + buffered[_pid]] = 0;
#ifdef WEAK
		released[FIRST(_pid)] = buffered[_pid] > 0 && released[SECOND(_pid)];
		released[SECOND(_pid)] = false
#endif
	}
#ifdef WEAK
	:: d_step {
		buffered[_pid] > 1 && !released[SECOND(_pid)] &&
			word[FIRST(_pid)] != word[SECOND(_pid)] ->
		memory[word[SECOND(_pid)]] = value[SECOND(_pid)];
		buffered[_pid]--;
		word[SECOND(_pid)] = 0;
		value[SECOND(_pid)] = 0
	}
#endif
	od
}

inline put(t, w, v, release)
{
	atomic {
		buffered[t] < BUFFER;
		word[FIRST(t) + buffered[t]] = w;
		value[FIRST(t) + buffered[t]] = v;
#ifdef WEAK
		released[FIRST(t) + buffered[t]] = release;
		/* A load that follows sees this store. */
		if
		:: early_word[t] == w -> forget(t)
		:: else
		fi;
#endif
		buffered[t]++
	}
}

inline store(t, w, v)
{
	put(t, w, v, false)
}

inline store_release(t, w, v)
{
#ifdef WITHOUT_RELEASE
	put(t, w, v, false)
#else
	put(t, w, v, true)
#endif
}

/* A thread sees its own stores at once. */
inline look(t, w, to)
{
	to = memory[w];
	if
	:: buffered[t] > 0 && word[FIRST(t)] == w -> to = value[FIRST(t)]
	:: else
	fi;
	if
	:: buffered[t] > 1 && word[SECOND(t)] == w -> to = value[SECOND(t)]
	:: else
	fi
}

#ifdef WEAK
inline forget(t)
{
	early_word[t] = NOTHING;
	early_value[t] = 0
}

/* Two loads of a word see its values in their order. */
inline load(t, w, to)
{
	atomic {
		if
		:: early_word[t] == w ->
			to = early_value[t];
			forget(t)
		:: true ->
			look(t, w, to);
			if
			:: early_word[t] == w -> forget(t)
			:: else
			fi
		fi
	}
}

inline load_acquire(t, w, to)
{
	atomic {
		load(t, w, to);
#ifndef WITHOUT_ACQUIRE
		forget(t)
#endif
	}
}

#define EARLY(t, w)                                   \
	atomic {                                      \
		early_word[t] == NOTHING ->           \
		look(t, w, found);                    \
		early_word[t] = w;                    \
		early_value[t] = found;               \
		found = 0                             \
	}

active proctype reads_early()
{
	byte found;

end:	do
	:: EARLY(RUNNER, GATE)
#if CALLS_0
	:: EARLY(RUNNER, STATUS(0))
	:: EARLY(RUNNER, ARG(0))
	:: EARLY(RUNNER, WAITED(0))
	:: EARLY(0, STATUS(0))
	:: EARLY(0, STATE)
#endif
#if CALLS_1
	:: EARLY(RUNNER, STATUS(1))
	:: EARLY(RUNNER, ARG(1))
	:: EARLY(RUNNER, WAITED(1))
	:: EARLY(1, STATUS(1))
	:: EARLY(1, BEGUN(1))
	:: EARLY(1, STATE)
#endif
#ifdef LOOKING_ON
	:: EARLY(ONLOOKER, STATUS(0))
#endif
	od
}
#else
inline forget(t)
{
	skip
}

inline load(t, w, to)
{
	d_step {
		look(t, w, to)
	}
}

inline load_acquire(t, w, to)
{
	load(t, w, to)
}
#endif

inline fence(t)
{
	atomic {
		buffered[t] == 0;
		forget(t)
	}
}

inline light_fence(t)
{
#if defined(FENCES) && !defined(WITHOUT_LIGHT_FENCE)
	fence(t)
#else
	skip
#endif
}

inline heavy_fence(t)
{
#ifdef FENCES
	fence(t)
#else
	fence(t); /* membarrier begins and ends with one */
	fence(0);
	fence(1);
	fence(2);
	fence(3);
	fence(4);
	fence(t)
#endif
}

/* ---- futexes ---- */

#define AWAKE 255

byte sleeps_on[THREADS] = AWAKE;

inline futex_wait(t, w, v)
{
	fence(t);
	d_step {
		if
		:: memory[w] == v -> sleeps_on[t] = w
		:: else
		fi
	};
	sleeps_on[t] == AWAKE
}

inline futex_wake(t, w)
{
	fence(t);
	d_step {
		if :: sleeps_on[0] == w -> sleeps_on[0] = AWAKE :: else fi;
		if :: sleeps_on[1] == w -> sleeps_on[1] = AWAKE :: else fi;
		if :: sleeps_on[2] == w -> sleeps_on[2] = AWAKE :: else fi;
		if :: sleeps_on[3] == w -> sleeps_on[3] = AWAKE :: else fi
	}
}

/* ---- what happened ---- */

byte runs[POSTERS * CALLS];	/* of each call */
byte posted, onlooker_saw;	/* calls of poster 0 */
byte finished;			/* posters */
bool withdrawing;		/* a mutex */

inline ran(call)
{
	d_step {
		runs[call]++;
		assert(runs[call] == 1)
	}
}

/* ---- the user's side ---- */

/* By compare-exchange, which is a fence. */
inline wake_runner(t, seen)
{
	load(t, STATE, seen);
	if
	:: seen == ASLEEP ->
		fence(t);
		d_step {
			seen = memory[STATE];
			if
			:: seen == ASLEEP -> memory[STATE] = RUNNING
			:: else
			fi
		};
		if
		:: seen == ASLEEP -> futex_wake(t, STATE)
		:: else
		fi
	:: else
	fi
}

inline post(t, entry, call, seen)
{
	store(t, ARG(entry), call);
	store_release(t, STATUS(entry), SUBMITTED);
	light_fence(t);
	wake_runner(t, seen)
}

/* Until the entry is DONE, or on the way out of this with seen == FREE: withdrawn. */
inline withdraw(t, entry, seen, begun)
{
	atomic { !withdrawing -> withdrawing = true };
	store(t, GATE, CLOSED);
#ifndef WITHOUT_GATE_FENCE
	heavy_fence(t);
#endif
#ifdef STATUS_FIRST
	load(t, STATUS(entry), seen);
	load_acquire(t, BEGUN(entry), begun);
#else
	load_acquire(t, BEGUN(entry), begun);
	load(t, STATUS(entry), seen);
#endif
	if
	:: seen == SUBMITTED && !begun ->
		store(t, STATUS(entry), FREE);
		seen = FREE
	:: else -> seen = SUBMITTED
	fi;
	store_release(t, GATE, OPEN);
	fence(t); /* the mutex */
	withdrawing = false
}

inline wait(t, entry, seen)
{
	store(t, WAITED(entry), 1);
#ifndef WITHOUT_WAITER_FENCE
	heavy_fence(t);
#endif
	load_acquire(t, STATUS(entry), seen);
	if
	:: seen == SUBMITTED -> futex_wait(t, STATUS(entry), SUBMITTED)
	:: else
	fi
}

proctype poster(byte self)
{
	byte number = self * CALLS, found, other;

	do
	:: number < self * CALLS + (self -> CALLS_1 : CALLS_0) ->
		post(self, self, number, found);
		if
#ifdef LOOKING_ON
		:: self == 0 -> fence(self); posted++
#endif
		:: else
		fi;
		do
		:: load_acquire(self, STATUS(self), found);
			if
			:: found == DONE -> break
			:: else -> wait(self, self, found)
			fi
#ifdef WITHDRAWING
		:: self == 1 ->
			withdraw(self, self, found, other);
			if
			:: found == FREE ->
				ran(number);
				break
			:: else
			fi
#endif
		od;
		assert(runs[number] == 1);
#ifdef LOOKING_ON
		(self != 0 || onlooker_saw > number);
#endif
		store(self, WAITED(self), 0);
		number++
	:: else -> break
	od;
	fence(self);
	finished++
}

/* Waits for poster 0's calls beside it; the poster collects only after that. */
proctype onlooker()
{
	byte found;

	do
	:: onlooker_saw < CALLS_0 ->
		posted > onlooker_saw;
		do
		:: load_acquire(ONLOOKER, STATUS(0), found);
			if
			:: found == DONE -> break
			:: else -> wait(ONLOOKER, 0, found)
			fi
		od;
		fence(ONLOOKER);
		onlooker_saw++
	:: else -> break
	od
}

proctype stopper()
{
	byte found;

	finished == POSTERS;
	store(STOPPER, GATE, STOP);
	fence(STOPPER);
	wake_runner(STOPPER, found)
}

/* ---- the runner's side ---- */

/* For a signal, in the middle of the call; it stays begun, and the gate is not asked again. */
inline leave_and_resume(entry)
{
#ifdef INTERRUPTED
	if
	:: !left ->
		left = true;
#ifdef GIVEN_BACK
		store(RUNNER, BEGUN(entry), 0);
#endif
		fence(RUNNER);
		store(RUNNER, STATE, RUNNING);
		load(RUNNER, STATUS(entry), status);
		assert(status == SUBMITTED)
	:: true
	fi
#else
	skip
#endif
}

inline take_and_run(entry)
{
	store(RUNNER, BEGUN(entry), 1);
	light_fence(RUNNER);
#ifdef WITHOUT_SECOND_LOOK
	seen = OPEN;
	status = SUBMITTED;
#else
	load_acquire(RUNNER, GATE, seen);
	load_acquire(RUNNER, STATUS(entry), status);
#endif
	if
	:: seen == OPEN && status == SUBMITTED ->
		leave_and_resume(entry);
		load(RUNNER, ARG(entry), call);
		ran(call);
		store_release(RUNNER, STATUS(entry), DONE);
		store_release(RUNNER, BEGUN(entry), 0);
		light_fence(RUNNER);
		load(RUNNER, WAITED(entry), seen);
		if
		:: seen -> futex_wake(RUNNER, STATUS(entry))
		:: else
		fi
	:: else -> store(RUNNER, BEGUN(entry), 0)
	fi
}

inline look_and_sleep()
{
	store(RUNNER, STATE, ASLEEP);
#ifndef WITHOUT_RUNNER_FENCE
	heavy_fence(RUNNER);
#endif
	status = FREE;
	entry = 0;
#ifndef WITHOUT_RESCAN
	do
	:: entry < POSTERS && status != SUBMITTED ->
		load_acquire(RUNNER, STATUS(entry), status);
		entry++
	:: else -> break
	od;
#endif
	load_acquire(RUNNER, GATE, seen);
	if
	:: status != SUBMITTED && seen != STOP -> futex_wait(RUNNER, STATE, ASLEEP)
	:: else
	fi;
	store(RUNNER, STATE, RUNNING)
}

proctype runner()
{
	byte entry, seen, status, call;
#ifdef INTERRUPTED
	bool left;
#endif

	store(RUNNER, STATE, RUNNING);
	do
	:: load_acquire(RUNNER, GATE, seen);
		if
		:: seen == STOP -> break
		:: else
		fi;
		entry = 0;
		do
		:: entry < POSTERS ->
			load_acquire(RUNNER, STATUS(entry), status);
			if
			:: status == SUBMITTED -> take_and_run(entry)
			:: else
			fi;
			entry++
		:: else -> break
		od;
		look_and_sleep()
	od;
	store(RUNNER, STATE, ABSENT)
}

init {
	atomic {
		run runner();
		run poster(0);
		run poster(1);
#ifdef LOOKING_ON
		run onlooker();
#endif
		run stopper()
	}
}
