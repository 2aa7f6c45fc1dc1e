/* SPDX-License-Identifier: MIT */
/*
 * Rings, the runner's position and relief, above the protocol that protocol.pml checks; so each
 * step here is atomic.
 *
 * Two user-level threads share a lane.  Thread 0 makes one call, which blocks until thread 1's
 * second call has been made: threads may wait for each other in the kernel.  A runner starts at
 * any position, as one that was used before.  The scheduler collects, lets ready threads post,
 * relieves the lane or sleeps.  A call that is done and never collected leaves everybody asleep,
 * which spin reports as an invalid end state.
 *
 * test_protocol.py says what can be changed by -D..., and that it is noticed.
 */

#define RING 3
#define RUNNERS 3

#define FREE 0
#define SUBMITTED 1
#define DONE 2

#define READ 0 /* blocks until WRITE has been made */
#define GETPID 1
#define WRITE 2

/* Calls, numbered as above, in each runner's entries; entries of runner r begin at r * RING. */
#define AT(r, i) ((r) * RING + (i) % RING)

byte status[RUNNERS * RING], nr[RUNNERS * RING];
bool begun[RUNNERS * RING], waited[RUNNERS * RING]; /* waited: no hole */
byte head[RUNNERS], tail[RUNNERS];

byte lane;		 /* the runner that serves it */
bool held_up[RUNNERS];	 /* its ring is no longer the lane's, but has a call under way */
bool written, ended;
byte collected;

active [RUNNERS] proctype runner()
{
	byte position, i;

	/* Where its latest call before has left it. */
	select(position : 0 .. RING - 1);
	do
	:: d_step {
		status[AT(_pid, position)] == SUBMITTED || status[AT(_pid, 0)] == SUBMITTED ||
		status[AT(_pid, 1)] == SUBMITTED || status[AT(_pid, 2)] == SUBMITTED ->
		i = position;
		do
		:: status[AT(_pid, i)] == SUBMITTED -> break
		:: else -> i++
		od;
		position = i % RING;
		begun[AT(_pid, position)] = true
	   };
	   (nr[AT(_pid, position)] != READ || written);
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

inline post(call)
{
	nr[AT(lane, tail[lane])] = call;
	waited[AT(lane, tail[lane])] = true;
	status[AT(lane, tail[lane])] = SUBMITTED;
	tail[lane]++
}

/* What the thread does whose call has been collected. */
inline go_on(call)
{
	collected++;
	if
	:: call == GETPID -> post(WRITE)
	:: else
	fi
}

inline collect_at(r, i)
{
	status[AT(r, i)] = FREE;
	waited[AT(r, i)] = false;
	go_on(nr[AT(r, i)])
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
	od
}

/* Withdraws what is not begun, and posts it to a runner that is not in a call. */
inline relieve(spare, i)
{
	d_step {
		spare = 0;
		do
		:: spare < RUNNERS && (spare == lane || held_up[spare]) -> spare++
		:: else -> break
		od;
		if
		:: spare < RUNNERS ->
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
					nr[AT(spare, tail[spare])] = nr[AT(lane, i)];
					waited[AT(spare, tail[spare])] = true;
					status[AT(spare, tail[spare])] = SUBMITTED;
					tail[spare]++
				:: else
				fi;
				i++
			:: else -> break
			od;
			lane = spare
		:: else
		fi;
		spare = 0;
		i = 0
	}
}

#define CALLS(r) (waited[AT(r, 0)] + waited[AT(r, 1)] + waited[AT(r, 2)])
#define OLDEST_DONE(r) (head[r] != tail[r] && status[AT(r, head[r])] == DONE)
#define BEGUN_IN(r, i) (waited[AT(r, i)] && begun[AT(r, i)])
#define BEHIND                                                                      \
	(CALLS(lane) > 1 || (CALLS(lane) == 1 && !BEGUN_IN(lane, 0) && !BEGUN_IN(lane, 1) && \
			     !BEGUN_IN(lane, 2)))

#define ANY_DONE(r)                                                      \
	(status[AT(r, 0)] == DONE || status[AT(r, 1)] == DONE || status[AT(r, 2)] == DONE)
#define IS_SPARE(r) (lane != r && !held_up[r])
#define CAN_RELIEVE (IS_SPARE(0) || IS_SPARE(1) || IS_SPARE(2))

/* The calls that the scheduler sleeps on: each ring's oldest. */
#define WOKEN                                                                     \
	((lane == 0 || held_up[0]) && OLDEST_DONE(0) || (lane == 1 || held_up[1]) && \
	 OLDEST_DONE(1) || (lane == 2 || held_up[2]) && OLDEST_DONE(2))

init {
	byte r, i;
	bool relieved;

	d_step {
		post(READ);
		post(GETPID)
	};
	do
	:: collected == 3 -> break
	:: else ->
		collect_all(r, i);
		if
		:: collected == 3
		:: else ->
			if
			:: WOKEN
			/* The time is over; guarded, because waking for nothing is no progress. */
			:: BEHIND && ANY_DONE(lane)
#ifndef WITHOUT_RELIEF
			:: BEHIND && CAN_RELIEVE -> relieve(r, i)
#endif
			fi
		fi
	od;
	ended = true
}
