// SPDX-License-Identifier: MIT
/*
 * A trial compares two ways: the present one, and each of the others in turn.  It is a sequence of
 * windows of time, one half of them for each way.  The calls in a window are the unit of work, as
 * a program makes the same calls for the same work in both ways.  Each window is compared with the
 * next one, and the median of the comparisons counts, as other programs disturb single windows.
 * Later trials are longer, what the ones before have found counts as well, and a result holds for a
 * limited time, which doubles while no other way is better.  Time in which the program is idle, as
 * its clients come in bursts, is no part of a window, and a trial waits until they come again.
 *
 * Until the first trial, a cheaper sign ends the most frequent loss: carriers that sleep as often
 * as threads wait.
 */
#include "rest.h"

#include <string.h>

#include "carrier.h"
#include "home.h"
#include "raw.h"
#include "report.h"

#define MS 1000000L

#define PAIRS 3 /* of windows, one of each way */
#define WINDOWS (2 * PAIRS)

#ifndef REST_TRIAL
#ifndef ENOUGH_WAITS	 /* a test: rests never come */
#define ENOUGH_WAITS 256 /* to judge by */
#endif
#define LEAST_CALLS 64	 /* in a window; it is prolonged for them */
#define WINDOW (8 * MS)	 /* of the first trial; later ones are longer */
#define LONGER_WINDOWS 3 /* times a window is doubled */
#define PAUSE 4		 /* threads move from one way to the other for 1/4 of a window at least, */
#define LONGEST_PAUSE 2	 /* and 2 windows at most */
#define CALLS_TO_MOVE 2	 /* of each thread: it moves when it waits */
#define HOLD 8		 /* the first result holds for so many times the trial */
#define HOLD_LOW (2 * NS_PER_S)
#define LONGEST_HOLD (32 * NS_PER_S)
/* Fewer carriers than CPUs may get too much to do. */
#define LONGEST_HOLD_OF_FEW (8 * NS_PER_S)
#else /* a test: rests come and go as often as they can */
#define ENOUGH_WAITS 1
#define LEAST_CALLS 1
#define WINDOW 1
#define LONGER_WINDOWS 0
#define PAUSE 1
#define LONGEST_PAUSE 1
#define CALLS_TO_MOVE 0
#define HOLD 2
#define HOLD_LOW 1
#define LONGEST_HOLD 2
#define LONGEST_HOLD_OF_FEW 1
#endif

#define PATIENCE 8   /* a window is prolonged to so many times its length */
#define LOOKS 4	     /* in a window: whether the program is idle */
#define LEAST_CPU 32 /* it is while it uses less than 1/32 of a CPU */
#define LOW_TO_REST 2

/*
 * The ways by number, the safest first: a rest, all carriers, half of them, ..., one.  A way has
 * to reach these to be kept, or to be taken, instead of a safer one: CPU time of that / of it.
 */
#define MOST_WAYS 9
_Static_assert(MOST_WANTED <= 1 << (MOST_WAYS - 2), "carriers_of()");
#define GAIN_TO_KEEP 0.99
#define GAIN_TO_TAKE 1.02
/* Less work per time than this part of a safer way's is a loss; the first trial is short. */
#define SLOW 0.95
#define SLOW_AT_FIRST 0.7

int rest_way = ALL_CARRIERS;

/* How a way is, compared with a safer one. */
struct comparison {
	double gain; /* CPU time per call of the safer one / of this one */
	double pace; /* calls per second of this one / of the safer one */
};

static struct {
	struct work before; /* when the window began */
	struct work windows[WINDOWS];
	/* By both ways; the weight of each trial is half of the next one's. */
	struct comparison known[MOST_WAYS][MOST_WAYS];
	enum call_kind kind; /* of calls by which that was measured */
	int first, other;    /* the present way, and the way that is compared with it */
	int step;	     /* the window */
	int times;
	unsigned int turn; /* of the others */
	int agreed;	   /* trials in sequence after which the way was kept */
	bool goes_on, moving;
	bool asleep;	    /* until the program is not idle */
	int64_t busy, idle; /* of the window until now, ns */
	int64_t latest;	    /* ns */
} trial;

static struct {
	int64_t due;  /* the end of what goes on now: a pause, a window, or what is held; ns */
	int64_t span; /* of what is held */
	int64_t idle_since; /* as far as was seen, ns; 0: it is not */
	int low; /* judgements in sequence that carriers sleep as often as threads wait */
	bool tried_low;
	unsigned long waits, sleeps; /* of carriers, when they were last counted */
} judge;

static struct {
	int64_t time, cpu; /* of the last look, ns */
} look;

/* The time since the last look; *IDLE: whether the program was idle in it. */
static int64_t look_again(int64_t now, bool *idle)
{
	const int64_t cpu = home_cpu(), passed = now - look.time;

	*idle = (cpu - look.cpu) * LEAST_CPU < passed;
	look.time = now;
	look.cpu = cpu;
	return passed;
}

static int carriers_of(int way)
{
	return carrier_state.wanted >> (way - ALL_CARRIERS);
}

static int count_ways(void)
{
	int way = ALL_CARRIERS;

	while (carriers_of(way + 1))
		way++;
	return way + 1;
}

static void take_way(int way)
{
	if (way == rest_way)
		return;
	if (way == RESTING)
		report_count(COUNT_RESTS);
	else
		carriers_use(carriers_of(way));
	__atomic_store_n(&rest_way, way, __ATOMIC_RELAXED);
}

/* ---- trials ---- */

/* The length of a window, ns. */
static int64_t window(void)
{
	const int doubled = trial.times < LONGER_WINDOWS ? trial.times : LONGER_WINDOWS;

	return WINDOW * (1U << (unsigned int)doubled);
}

/* The way that was taken is kept for SPAN at least, or until the load is another one. */
static void hold(int64_t now, int64_t span)
{
	const bool tried_all = trial.times >= count_ways() - 1;
	const int64_t least = window() * WINDOWS * (tried_all ? HOLD : 1);
	const int64_t longest = rest_way > ALL_CARRIERS ? LONGEST_HOLD_OF_FEW : LONGEST_HOLD;

	judge.span = span > least ? span : least;
	if (judge.span > longest)
		judge.span = longest;
	judge.due = now + judge.span;
	judge.idle_since = 0;
}

/* A B B A A B: what changes meanwhile at a constant rate counts for both. */
static int way_of(int step)
{
	return (step + 1) / 2 % 2 ? trial.other : trial.first;
}

static void begin_step(int64_t now)
{
	take_way(way_of(trial.step));
	trial.moving = true;
	home_read_work(&trial.before);
	judge.due = now + window() / PAUSE;
}

/* Moving costs a thread more than it saves in a window: that is no part of one. */
static bool have_moved(const struct work *now)
{
	return now->calls[CALL_OF_DESCRIPTOR] - trial.before.calls[CALL_OF_DESCRIPTOR] >=
		       CALLS_TO_MOVE * now->threads ||
	       now->time - trial.before.time >= LONGEST_PAUSE * window();
}

static void begin_trial_with(int other, int64_t now)
{
	judge.tried_low = judge.low >= LOW_TO_REST;
	trial.goes_on = true;
	trial.asleep = false;
	trial.first = rest_way;
	trial.other = other;
	trial.step = 0;
	begin_step(now);
}

static void begin_trial(int64_t now)
{
	const unsigned int ways = (unsigned int)count_ways();

	if ((int)(trial.turn % ways) == rest_way)
		trial.turn++;
	begin_trial_with((int)(trial.turn++ % ways), now);
}

static void leave_trial(int64_t now, int way, int64_t span)
{
	trial.goes_on = false;
	take_way(way);
	hold(now, span);
}

/* Too little happens: whatever goes on costs little. */
static void give_up(int64_t now)
{
	leave_trial(now, trial.first, judge.span);
}

static bool has_enough(const struct work *work, enum call_kind kind)
{
	return work->calls[kind] >= LEAST_CALLS;
}

static bool all_have_enough(enum call_kind kind)
{
	int step;

	for (step = 0; step < WINDOWS; step++)
		if (!has_enough(&trial.windows[step], kind))
			return false;
	return true;
}

static int safer_way(void)
{
	return trial.first < trial.other ? trial.first : trial.other;
}

static int bolder_way(void)
{
	return trial.first < trial.other ? trial.other : trial.first;
}

static struct comparison compare(int pair, enum call_kind kind)
{
	const bool swapped = way_of(2 * pair) == safer_way();
	const struct work *bolder = &trial.windows[2 * pair + swapped];
	const struct work *safer = &trial.windows[2 * pair + !swapped];
	const double calls = (double)bolder->calls[kind] / (double)safer->calls[kind];

	return (struct comparison){
		.gain = calls * (double)safer->cpu / (double)bolder->cpu,
		.pace = calls * (double)safer->time / (double)bolder->time,
	};
}

static double median(double a, double b, double c)
{
	const double low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

static struct comparison compare_all(enum call_kind kind)
{
	const struct comparison a = compare(0, kind), b = compare(1, kind), c = compare(2, kind);

	return (struct comparison){ median(a.gain, b.gain, c.gain),
				    median(a.pace, b.pace, c.pace) };
}
_Static_assert(PAIRS == 3, "compare_all()");

/* The load is another one. */
static void forget(void)
{
	memset(trial.known, 0, sizeof(trial.known));
}

static struct comparison *known(void)
{
	return &trial.known[bolder_way()][safer_way()];
}

/* What was measured by other calls was another load: a program that starts, for one. */
static void learn(enum call_kind kind)
{
	const struct comparison found = compare_all(kind);

	if (kind != trial.kind)
		forget();
	trial.kind = kind;
	if (!known()->gain) {
		*known() = found;
		return;
	}
	known()->gain = (known()->gain + found.gain) / 2;
	known()->pace = (known()->pace + found.pace) / 2;
}

static int better_way(void)
{
	const double slow = trial.times ? SLOW : SLOW_AT_FIRST;
	const double needed = trial.first == bolder_way() ? GAIN_TO_KEEP : GAIN_TO_TAKE;

	return known()->pace < slow || known()->gain < needed ? safer_way() : bolder_way();
}

/* Longer than the last one once all other ways were tried in vain. */
static int64_t span_after(int way)
{
	if (way != trial.first) {
		trial.agreed = 0;
		return 0;
	}
	trial.agreed++;
	return trial.agreed % (count_ways() - 1) ? judge.span : 2 * judge.span;
}

static void judge_trial(int64_t now)
{
	const enum call_kind kind =
		all_have_enough(CALL_OF_DESCRIPTOR) ? CALL_OF_DESCRIPTOR : CALL_OF_LOCK;
	bool may_start;
	int way;

	if (!all_have_enough(kind)) {
		leave_trial(now, trial.first, 0);
		return;
	}
	/* At first, a program that uses locks alone may have no clients yet. */
	may_start = kind == CALL_OF_LOCK && trial.times < LONGER_WINDOWS;
	learn(kind);
	way = better_way();
	trial.times++;
	leave_trial(now, way, may_start ? 0 : span_after(way));
}

/* Fills WINDOW with the work since trial.before, unless that is too little. */
static bool end_window(struct work *window)
{
	struct work work;
	int kind;

	home_read_work(&work);
	for (kind = 0; kind < CALL_KINDS; kind++)
		work.calls[kind] -= trial.before.calls[kind];
	if (!has_enough(&work, CALL_OF_DESCRIPTOR) && !has_enough(&work, CALL_OF_LOCK))
		return false;
	work.cpu -= trial.before.cpu;
	work.time -= trial.before.time + trial.idle;
	*window = work;
	return true;
}

static void begin_window(int64_t now, const struct work *before)
{
	bool idle;

	look_again(now, &idle);
	trial.before = *before;
	trial.moving = false;
	trial.busy = trial.idle = 0;
	trial.latest = now + PATIENCE * window();
	judge.due = now + window() / LOOKS;
}

/* The longer the program was idle, the longer; it is seen again after 1/4 of a pause more. */
static void nap(int64_t now)
{
	int64_t length;

	if (!judge.idle_since)
		judge.idle_since = now;
	length = (now - judge.idle_since) / 4;
	if (length < window())
		length = window();
	judge.due = now + (length < LONGEST_HOLD ? length : LONGEST_HOLD);
}

/* The program is idle: the window begins anew when it is not. */
static void fall_asleep(int64_t now)
{
	bool idle;

	take_way(trial.first);
	trial.asleep = true;
	look_again(now, &idle);
	nap(now);
}

static void wake_up(int64_t now)
{
	bool idle;

	look_again(now, &idle);
	if (idle) {
		nap(now);
		return;
	}
	trial.asleep = false;
	begin_step(now);
}

static void go_on(int64_t now)
{
	bool idle;
	int64_t passed;
	struct work work;

	if (trial.asleep) {
		wake_up(now);
		return;
	}
	if (trial.moving) {
		home_read_work(&work);
		if (have_moved(&work))
			begin_window(now, &work);
		else
			judge.due = now + window() / 2;
		return;
	}
	passed = look_again(now, &idle);
	*(idle ? &trial.idle : &trial.busy) += passed;
	judge.due = now + window() / LOOKS;
	if (trial.busy >= window() && end_window(&trial.windows[trial.step])) {
		judge.idle_since = 0;
		if (++trial.step == WINDOWS)
			judge_trial(now);
		else
			begin_step(now);
	} else if (now > trial.latest) {
		if (trial.busy < window())
			fall_asleep(now);
		else
			give_up(now);
	}
}

/* After a rest, in which only the time says when to begin. */
static void begin_unless_idle(int64_t now)
{
	bool idle;

	look_again(now, &idle);
	if (idle)
		nap(now);
	else
		begin_trial(now);
}

/* ---- the cheaper sign ---- */

static void count(unsigned long *waits, unsigned long *sleeps)
{
	const int made = __atomic_load_n(&carrier_state.made, __ATOMIC_ACQUIRE);
	int i;

	*waits = *sleeps = 0;
	for (i = 0; i < made; i++) {
		*waits += __atomic_load_n(&carriers[i].waits, __ATOMIC_RELAXED);
		*sleeps += __atomic_load_n(&carriers[i].sleeps, __ATOMIC_RELAXED);
	}
}

/* Whether carriers mostly sleep when a thread waits: more than five times in six. */
static bool is_low(unsigned long waits, unsigned long sleeps)
{
	return waits * 5 < sleeps * 6;
}

static void judge_waits(int64_t now)
{
	unsigned long waits, sleeps;
	bool low;

	count(&waits, &sleeps);
	if (waits - judge.waits < ENOUGH_WAITS)
		return;
	low = is_low(waits - judge.waits, sleeps - judge.sleeps);
	judge.low = low ? judge.low + 1 : 0;
	judge.waits = waits;
	judge.sleeps = sleeps;
	if (judge.low && !trial.times) {
		if (judge.low < LOW_TO_REST)
			return;
		take_way(RESTING);
		hold(now, HOLD_LOW);
	} else if (judge.low >= LOW_TO_REST && !judge.tried_low) {
		forget();
		begin_trial_with(RESTING, now);
	} else if (now >= judge.due) {
		begin_trial(now);
	}
}

void rest_judge(int64_t now)
{
	if (!is_rest() && !trial.goes_on)
		judge_waits(now);
	else if (now < judge.due)
		return;
	else if (trial.goes_on)
		go_on(now);
	else
		begin_unless_idle(now);
}

int64_t rest_due(void)
{
	return is_rest() || trial.goes_on ? judge.due : -1;
}

void rest_reset(void)
{
	memset(&judge, 0, sizeof(judge));
	memset(&trial, 0, sizeof(trial));
	memset(&look, 0, sizeof(look));
	rest_way = ALL_CARRIERS;
}
