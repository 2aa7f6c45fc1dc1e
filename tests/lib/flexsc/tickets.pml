/* SPDX-License-Identifier: MIT */
/*
 * Tickets of single calls that move to another runner, above the protocol that protocol.pml
 * checks.  Each access to an entry that another thread may change is a step of its own.
 *
 * There is one slot.  Its runner may be in one of two calls that block until the other calls have
 * been collected.  Who polls a call behind one of them withdraws it and moves it to a runner that
 * is idle: the first entry, which the ticket names, says where, and is freed when the call is
 * collected.  Other entries that the call leaves are freed at once.  Then others may use them.  A call that is never made leaves its thread polling, which spin reports as an invalid
 * end state; results and entries are asserted.
 *
 * test_protocol.py says what can be changed by -D..., and that it is noticed.
 */

#define ENTRIES 2 /* of each runner */
#define RUNNERS 3
#define ALL (RUNNERS * ENTRIES)

#define FREE 0
#define SUBMITTED 1
#define DONE 2

/* Calls: two that block, one that does not, by posters 0 to 2. */
#define POSTERS 3
#define BLOCKS(call) ((call) < 2)
#define MOVED POSTERS

#define NONE 255

/* Of an entry: ARG is a call's number, or where a MOVED one is now. */
byte status[ALL], nr[ALL], arg[ALL], result[ALL];
bool begun[ALL], claimed[ALL];

byte slot;	      /* the runner that serves it */
byte in_call[RUNNERS]; /* NONE: idle */
byte made[POSTERS];
byte quick = POSTERS - 2; /* calls that do not block and are not collected yet */
byte over;

#define RUNNER_OF(ticket) ((ticket) / ENTRIES)
#define AT(r, i) ((r) * ENTRIES + (i))
#define IS_BLOCKED(r) (in_call[r] != NONE && BLOCKS(in_call[r]) && quick > 0)
#define IS_SPARE(r) (slot != (r) && in_call[r] == NONE)

proctype runner(byte self)
{
	byte ticket;

	do
	:: d_step {
		status[AT(self, 0)] == SUBMITTED || status[AT(self, 1)] == SUBMITTED ->
		ticket = AT(self, status[AT(self, 0)] != SUBMITTED);
		begun[ticket] = true;
		in_call[self] = arg[ticket]
	   };
	   (!BLOCKS(arg[ticket]) || quick == 0);
	   d_step {
		made[arg[ticket]]++;
		assert(made[arg[ticket]] == 1);
		result[ticket] = arg[ticket];
		status[ticket] = DONE;
		begun[ticket] = false;
		in_call[self] = NONE;
		ticket = 0
	   }
	:: over == POSTERS -> break
	od
}

/* NONE if runner R has no entry free. */
inline claim(r, to)
{
	d_step {
		to = AT(r, 0);
		do
		:: to < AT(r, ENTRIES) && claimed[to] -> to++
		:: else -> break
		od;
		if
		:: to < AT(r, ENTRIES) -> claimed[to] = true
		:: else -> to = NONE
		fi
	}
}

inline fill_in(ticket, call)
{
	nr[ticket] = call;
	arg[ticket] = call
}

inline release(ticket)
{
	d_step {
		assert(claimed[ticket]);
		claimed[ticket] = false
	}
}

/*
 * Another runner serves the slot, if BLOCKED still does; R is that which does then, or NONE if no
 * thread can be started.
 */
inline other_runner(blocked, r)
{
	atomic {
		r = slot;
		if
		:: slot == blocked ->
			r = 0;
			do
			:: r < RUNNERS && !IS_SPARE(r) -> r++
			:: else -> break
			od;
			if
			:: r < RUNNERS -> slot = r
			:: r = NONE
			fi
		:: else
		fi
	}
}

/* The call at OLD, whose ticket names FIRST, has been withdrawn. */
inline move(first, old, r, new)
{
	other_runner(RUNNER_OF(old), r);
	new = NONE;
	if
	:: r != NONE -> claim(r, new)
	:: else
	fi;
	if
	:: new == NONE ->
#ifndef NOT_GIVEN_BACK
		status[old] = SUBMITTED
#else
		skip
#endif
	:: else ->
		fill_in(new, arg[old]);
#ifndef LEFT_ARE_KEPT
		if
		:: old != first -> release(old)
		:: else
		fi;
#endif
#ifdef LEFT_SAYS_WHERE
		nr[old] = MOVED;
		arg[old] = new;
#else
		nr[first] = MOVED;
		arg[first] = new;
#endif
		status[new] = SUBMITTED
	fi
}

#ifdef BEGUN_IS_IGNORED
#define MAY_WITHDRAW(ticket) (status[ticket] == SUBMITTED)
#else
#define MAY_WITHDRAW(ticket) (status[ticket] == SUBMITTED && !begun[ticket])
#endif

inline withdraw(ticket, withdrawn)
{
	d_step {
		withdrawn = MAY_WITHDRAW(ticket);
		if
		:: withdrawn -> status[ticket] = FREE
		:: else
		fi
	}
}

/* Frees the first entry if the call has left it. */
inline follow(ticket, next)
{
	if
	:: nr[ticket] == MOVED ->
#ifdef FREED_FIRST
		release(ticket);
		next = arg[ticket];
#else
		next = arg[ticket];
#ifndef NOT_FREED
		release(ticket);
#endif
#endif
		ticket = next
	:: else
	fi
}

proctype poster(byte self)
{
	byte first, current, r, next;
	bool withdrawn;

	do
	:: r = slot;
		claim(r, first);
		if
		:: first != NONE -> break
		/* No entry: try again once one may be free. */
		:: else -> slot != r || !claimed[AT(r, 0)] || !claimed[AT(r, 1)]
		fi
	od;
	fill_in(first, self);
	status[first] = SUBMITTED;
	do
	:: current = first;
		if
		:: nr[first] == MOVED -> current = arg[first]
		:: else
		fi;
		/* Polling in vain does not count as progress. */
		if
		:: status[current] == DONE -> break
		:: MAY_WITHDRAW(current) && IS_BLOCKED(RUNNER_OF(current)) &&
		   (IS_SPARE(0) || IS_SPARE(1) || IS_SPARE(2) || slot != RUNNER_OF(current)) ->
			withdraw(current, withdrawn);
			if
			:: withdrawn -> move(first, current, r, next)
			:: else
			fi
		fi
	od;
	follow(first, next);
	assert(result[first] == self && made[self] == 1);
	status[first] = FREE;
	release(first);
	d_step {
		if
		:: !BLOCKS(self) -> quick--
		:: else
		fi;
		over++
	}
}

init {
	byte i;

	atomic {
		do
		:: i < RUNNERS ->
			in_call[i] = NONE;
			run runner(i);
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < POSTERS ->
			run poster(i);
			i++
		:: else -> break
		od
	};
	over == POSTERS;
	d_step {
		i = 0;
		do
		:: i < ALL ->
			assert(!claimed[i] && status[i] == FREE);
			i++
		:: else -> break
		od
	}
}
