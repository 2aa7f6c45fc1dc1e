/* SPDX-License-Identifier: MIT */
/*
 * The parking lot of lib/threads, and going home.  A carried thread waits for a mutex that a native
 * thread releases; somebody may call the thread home meanwhile; its carrier goes idle.
 *
 * A lost wake-up is a deadlock, which spin reports as an invalid end state; assertions detect a
 * thread that runs twice, or before its context is saved.  On x86-64 a load may overtake an
 * earlier store of the same processor; where a fence is left out, the two are swapped here.
 * test_parking.py says what can be left out with -D..., and that it is noticed.
 */

#define NONE 0
#define LINKING 1
#define PARKED 2
#define FIRED 3
#define CALLED 4

bit held = 1;	   /* the mutex */
byte waiters;	   /* of the bucket */
byte seq;	   /* of its list */
bit list_lock;
bit linked;	   /* the thread's wait is in the list */
byte state;	   /* of the thread's wait */
bit called;	   /* somebody asks the thread */
bit saved;	   /* its context */
byte queued;	   /* in the carrier's queue */
bit idle, kick;	   /* the carrier */
bit home_word;	   /* of the thread's home */
bit at_home;	   /* the home runs the thread */
bit finished;	   /* the thread has the mutex */
bit answered;	   /* what it was asked */

#define LOCK atomic { !list_lock -> list_lock = 1 }
#define UNLOCK list_lock = 0

/* The length of the queue, then a look for an idle carrier. */
inline push() {
#ifdef WITHOUT_PUSH_FENCE
	if
	:: idle -> atomic { queued++; assert(queued == 1 && saved) }; kick = 1
	:: else -> atomic { queued++; assert(queued == 1 && saved) }
	fi;
#else
	atomic { queued++; assert(queued == 1 && saved) };
	if
	:: idle -> kick = 1
	:: else
	fi
#endif
}

/* ---- the thread: the carrier runs it, and what it leaves behind ---- */

inline arm() {
	byte before;

#ifdef CALLED_IS_READ_FIRST
	bit was_called = called;
	state = LINKING;
	if
	:: was_called -> state = CALLED
	:: else
	fi;
#else
	state = LINKING;
	if
	:: called -> atomic { if :: state == LINKING -> state = CALLED :: else fi }
	:: else
	fi;
#endif
	LOCK;
	if
#ifdef WITHOUT_SEQ
	:: true -> linked = 1
#else
	:: seq == seen -> linked = 1
	:: else -> atomic { if :: state == LINKING -> state = FIRED :: else fi }
#endif
	fi;
	UNLOCK;
	atomic {
		if
		:: state == LINKING -> state = PARKED; parked = 1
		:: else -> parked = 0
		fi
	}
	if
	:: !parked -> atomic { queued++; assert(queued == 1 && saved) }
	:: else
	fi
}

inline try() {
	atomic {
		if
		:: !held -> held = 1; got = 1
		:: else -> got = 0
		fi
	}
}

/* The carrier and, while it runs it, the thread. */
active proctype carrier() {
	bit got, parked;
	byte seen;

#ifdef WITHOUT_WAITER_FENCE
	try();
	waiters++;
#else
	waiters++;
#endif
again:
	seen = seq;
#ifndef WITHOUT_WAITER_FENCE
	try();
#endif
	if
	:: got -> goto out
	:: else
	fi;
#ifndef LINKED_BEFORE_SAVED
	saved = 1;
#endif
	arm();
#ifdef LINKED_BEFORE_SAVED
	saved = 1;
#endif
	/* The loop: it takes the thread, or goes idle. */
	do
	:: queued -> break
	:: else ->
		idle = 1;
#ifdef WITHOUT_LAST_LOOK
		kick; kick = 0;
#else
		if
		:: queued
		:: else -> kick; kick = 0
		fi;
#endif
		idle = 0
	od;
	queued--;
	assert(saved);
	saved = 0;
	assert(state >= FIRED);
	LOCK;
	linked = 0;
	UNLOCK;
	if
	:: state == CALLED ->
		/* It goes home, answers and comes back. */
		called = 0;
		saved = 1;
		home_word = 1;
		at_home;
		answered = 1;
		at_home = 0
	:: else
	fi;
	state = NONE;
#ifdef WITHOUT_WAITER_FENCE
	try();
#endif
	goto again;
out:
	waiters--;
	finished = 1
}

/* Its loop: the word is cleared before the thread may leave again. */
active proctype home() {
end:	do
	:: home_word ->
#ifdef CLEARED_LATE
		at_home = 1;
		!at_home;
		home_word = 0;
#else
		home_word = 0;
		assert(saved);
		saved = 0;
		at_home = 1;
		!at_home
#endif
	od
}

/* ---- others ---- */

inline wake() {
	LOCK;
	seq++;
	if
	:: linked ->
		atomic {
			if
			:: state == LINKING -> state = FIRED; mine = 0
			:: state == PARKED -> state = FIRED; mine = 1
			:: else -> mine = 0
			fi
		}
#ifdef PUSHED_WHILE_LINKING
		mine = 1;
#endif
	:: else -> mine = 0
	fi;
	UNLOCK;
	if
	:: mine -> push()
	:: else
	fi
}

active proctype unlocker() {
	bit mine;

#ifdef CALLER
	answered; /* until then, nothing else ends the wait */
#endif
#ifdef WITHOUT_WAKER_FENCE
	if
	:: waiters -> held = 0; wake()
	:: else -> held = 0
	fi
#else
	held = 0;
	if
	:: waiters -> wake()
	:: else
	fi
#endif
}

#ifdef CALLER
active proctype caller() {
	bit mine;

	called = 1;
	atomic {
		if
		:: state == LINKING -> state = CALLED; mine = 0
		:: state == PARKED -> state = CALLED; mine = 1
		:: else -> mine = 0
		fi
	}
	if
	:: mine -> push()
	:: else
	fi
}
#endif
