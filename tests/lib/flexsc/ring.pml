/* SPDX-License-Identifier: MIT */
/*
 * Rings, the runner's position, relief and bells, above the protocol that protocol.pml checks; so
 * each step here is atomic.
 *
 * Two user-level threads share a lane.  Thread 0 makes one call, which blocks until thread 1's
 * second call has been made: threads may wait for each other in the kernel.  A runner starts at
 * the first entry or further on, as one that was used before.  The scheduler collects, lets ready
 * threads post, relieves the lane or sleeps until a bell rings: a call that adds to an eventfd,
 * and is DONE later.  A call that is done and never collected leaves everybody asleep, which spin
 * reports as an invalid end state.
 *
 * test_protocol.py says what can be changed by -D..., and that it is noticed.
 */

#define RING 4
#define RUNNERS 2

#define FREE 0
#define SUBMITTED 1
#define DONE 2

#define READ 0 /* blocks until WRITE has been made */
#define GETPID 1
#define WRITE 2
#define BELL 3

/* Calls, numbered as above, in each runner's entries; entries of runner r begin at r * RING. */
#define AT(r, i) ((r) * RING + (i) % RING)

byte status[RUNNERS * RING], nr[RUNNERS * RING];
bool begun[RUNNERS * RING], waited[RUNNERS * RING]; /* waited: no hole */
byte head[RUNNERS], tail[RUNNERS];

byte lane;		 /* the runner that serves it */
bool held_up[RUNNERS];	 /* its ring is no longer the lane's, but has a call under way */
bool has_bell[RUNNERS];
byte eventfd;
short rung;		 /* bells that have rung, as far as is known, less those collected */
bool pending;		 /* thread 1's WRITE waits for an entry */
bool written, ended;
byte collected;

#define IS_SUBMITTED(r, i) (status[AT(r, i)] == SUBMITTED)

active [RUNNERS] proctype runner()
{
	byte position, i;

	/* Where its latest call before has left it: at the first entry or further on. */
	if
	:: position = 0
	:: position = 1
	fi;
	do
	:: d_step {
		IS_SUBMITTED(_pid, 0) || IS_SUBMITTED(_pid, 1) || IS_SUBMITTED(_pid, 2) ||
		IS_SUBMITTED(_pid, 3) ->
		i = position;
		do
		:: IS_SUBMITTED(_pid, i) -> break
		:: else -> i++
		od;
		position = i % RING;
		i = 0;
		begun[AT(_pid, position)] = true
	   };
	   if
	   :: nr[AT(_pid, position)] == BELL -> eventfd++
	   :: nr[AT(_pid, position)] == READ -> written
	   :: else
	   fi;
	   d_step {
		if
		:: nr[AT(_pid, position)] == WRITE -> written = true
		:: else
		fi;
		status[AT(_pid, position)] = DONE;
		begun[AT(_pid, position)] = false;
		position = (position + 1) % RING
	   }
	:: ended -> break
	od
}

/* ---- the scheduler ---- */

inline post(r, call)
{
	nr[AT(r, tail[r])] = call;
	waited[AT(r, tail[r])] = true;
	status[AT(r, tail[r])] = SUBMITTED;
	tail[r]++
}

inline post_pending()
{
	if
	:: pending && tail[lane] - head[lane] < RING ->
		pending = false;
		post(lane, WRITE)
	:: else
	fi
}

/* What the thread does whose call has been collected. */
inline go_on(call)
{
	collected++;
	if
	:: call == GETPID -> pending = true
	:: else
	fi
}

inline collect_at(r, i)
{
	status[AT(r, i)] = FREE;
	waited[AT(r, i)] = false;
	if
	:: nr[AT(r, i)] == BELL ->
		rung--;
		has_bell[r] = false
	:: else -> go_on(nr[AT(r, i)])
	fi
}

inline skip_holes(r)
{
	do
	:: head[r] != tail[r] && !waited[AT(r, head[r])] -> head[r]++
	:: else -> break
	od
}

inline collect(r, i)
{
	d_step {
		skip_holes(r);
		i = head[r];
		do
		:: i < tail[r] && waited[AT(r, i)] && status[AT(r, i)] == DONE ->
			collect_at(r, i);
			i++
#ifdef OLDEST_ONLY
		:: i < tail[r] && waited[AT(r, i)] && status[AT(r, i)] != DONE -> break
		:: i < tail[r] && !waited[AT(r, i)] -> i++
#else
		:: i < tail[r] && !(waited[AT(r, i)] && status[AT(r, i)] == DONE) -> i++
#endif
		:: i >= tail[r] -> break
		od;
		skip_holes(r);
		held_up[r] = held_up[r] && head[r] != tail[r];
		post_pending();
		i = 0
	}
}

inline collect_all(r, i)
{
	r = 0;
	do
	:: r < RUNNERS ->
		collect(r, i);
		r++
	:: else -> break
	od;
	r = 0
}

#define IS_SPARE(r) (lane != (r) && !held_up[r])

/* Withdraws what is not begun, and posts it to a runner that is not in a call. */
inline relieve(spare, i)
{
	d_step {
		spare = 0;
		do
		:: spare < RUNNERS && !IS_SPARE(spare) -> spare++
		:: else -> break
		od;
		head[spare] = 0;
		tail[spare] = 0;
		held_up[lane] = true;
		i = head[lane];
		do
		:: i < tail[lane] ->
			if
			:: waited[AT(lane, i)] && status[AT(lane, i)] == SUBMITTED &&
			   !begun[AT(lane, i)] ->
				status[AT(lane, i)] = FREE;
				waited[AT(lane, i)] = false;
				if
				:: nr[AT(lane, i)] != BELL -> post(spare, nr[AT(lane, i)])
				:: else ->
#ifndef WITHDRAWN_BELL_STAYS
					has_bell[lane] = false
#else
					skip
#endif
				fi
			:: else
			fi;
			i++
		:: else -> break
		od;
		lane = spare;
		post_pending();
		spare = 0;
		i = 0
	}
}

#ifdef RUNG_IS_IGNORED
#define BELLS_ARE_QUIET true
#else
#define BELLS_ARE_QUIET (rung <= 0)
#endif

#ifdef NO_BELL_IN_HELD_UP_RINGS
#define NEEDS_BELL(r) (lane == (r))
#else
#define NEEDS_BELL(r) (lane == (r) || held_up[r])
#endif

/* False if a bell that has rung is about to be DONE, or a ring is full. */
inline post_bells(all, r)
{
	d_step {
		all = BELLS_ARE_QUIET;
		r = 0;
		do
		:: r < RUNNERS ->
			if
			:: NEEDS_BELL(r) && head[r] != tail[r] && !has_bell[r] ->
				if
				:: tail[r] - head[r] < RING ->
					has_bell[r] = true;
					post(r, BELL)
				:: else -> all = false
				fi
			:: else
			fi;
			r++
		:: else -> break
		od;
		r = 0
	}
}

#define IS_CALL(r, i) (waited[AT(r, i)] && nr[AT(r, i)] != BELL)
#define CALLS(r) (IS_CALL(r, 0) + IS_CALL(r, 1) + IS_CALL(r, 2) + IS_CALL(r, 3))
#define BEGUN_IN(r, i) (IS_CALL(r, i) && begun[AT(r, i)])
#define BEHIND                                                                      \
	(pending || CALLS(lane) > 1 ||                                                \
	 (CALLS(lane) == 1 && !BEGUN_IN(lane, 0) && !BEGUN_IN(lane, 1) &&             \
	  !BEGUN_IN(lane, 2) && !BEGUN_IN(lane, 3)))

#define DONE_IN(r, i) (status[AT(r, i)] == DONE)
#define ANY_DONE_IN(r) (DONE_IN(r, 0) || DONE_IN(r, 1) || DONE_IN(r, 2) || DONE_IN(r, 3))
#define ANY_DONE (ANY_DONE_IN(0) || ANY_DONE_IN(1))
#define CAN_RELIEVE (IS_SPARE(0) || IS_SPARE(1))

/* Entered only if it is over, or when something has happened: waking for nothing is no progress. */
inline sleep(all)
{
	if
	:: d_step {
		eventfd > 0 ->
		rung = rung + eventfd;
		eventfd = 0
	   }
	:: !all && ANY_DONE
	:: BEHIND && ANY_DONE_IN(lane)
#ifndef WITHOUT_RELIEF
	:: BEHIND && CAN_RELIEVE -> relieve(r, i)
#endif
	fi
}

init {
	byte r, i;
	bool all;

	d_step {
		post(lane, READ);
		post(lane, GETPID)
	};
	do
	:: collect_all(r, i);
		if
		:: collected == 3 -> break
		:: else
		fi;
		post_bells(all, r);
		sleep(all)
	od;
	/* Before the eventfd is closed. */
	do
	:: has_bell[0] || has_bell[1] ->
		ANY_DONE;
		collect_all(r, i)
	:: else -> break
	od;
	assert(rung + eventfd == 0);
	ended = true
}
