// SPDX-License-Identifier: MIT
/* lib/threads/rest.c with loads that are computed, not run: what it keeps, and how soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/threads/carrier.h"
#include "lib/threads/home.h"
#include "lib/threads/report.h"
#include "lib/threads/rest.h"

#define MS 1000000L
#define TICK (2 * MS)

struct carrier carriers[MOST_CARRIERS];
struct carrier_state carrier_state = { .made = 1, .wanted = 1 };

/* One way to run it: while threads are carried, by all carriers or by one, or rest. */
struct run {
	double cost; /* ns of CPU time per call */
	double rate; /* calls per second */
};

struct load {
	struct run carried, resting;
	struct run by_one; /* of two carriers or more */
	double waits_per_sleep;
	double noise;	    /* how far rates are off at most */
	int64_t burst, gap; /* ns: its clients come in bursts */
	enum call_kind kind;
	unsigned long threads;
	double move;	       /* ns of CPU time of each thread that begins to be carried */
	int64_t stolen, every; /* so long, in each time of this length, others have the CPUs; ns */
};

static struct {
	int64_t now, carried, by_one; /* ns */
	double waits, sleeps, cpu, calls[CALL_KINDS];
	int judged;
	unsigned long threads;
	double to_move;
	bool was_rest;
} world;

void carriers_use(int count)
{
	carrier_state.used = count;
}

void report_count(enum count count)
{
	(void)count;
}

void home_read_work(struct work *work)
{
	int kind;

	for (kind = 0; kind < CALL_KINDS; kind++)
		work->calls[kind] = (unsigned long)world.calls[kind];
	work->cpu = (int64_t)world.cpu;
	work->time = world.now;
	work->threads = world.threads;
}

int64_t home_cpu(void)
{
	return (int64_t)world.cpu;
}

static double disturbance(const struct load *load)
{
	return 1 + load->noise * (2.0 * rand() / RAND_MAX - 1);
}

/* In CALLS calls: each thread does at its next one. */
static void move(const struct load *load, double calls)
{
	double moved;

	if (is_rest() != world.was_rest)
		world.to_move = (double)load->threads;
	world.was_rest = is_rest();
	world.threads = load->threads;
	moved = calls < world.to_move ? calls : world.to_move;
	world.to_move -= moved;
	world.cpu += is_rest() ? 0 : moved * load->move;
}

/* The rest is for others. */
#define LEFT 0.1

static bool is_by_one(void)
{
	return !is_rest() && carrier_state.used == 1 && carrier_state.wanted > 1;
}

static void work(const struct load *load, int64_t ns)
{
	const struct run *run = is_rest()   ? &load->resting :
				is_by_one() ? &load->by_one :
					      &load->carried;
	const bool idle = load->gap && world.now % (load->burst + load->gap) >= load->burst;
	const bool stolen = load->every && world.now % load->every < load->stolen;
	const double rate = stolen ? LEFT * run->rate : run->rate;
	const double calls = idle ? 0 : rate * disturbance(load) * (double)ns / 1e9;

	world.calls[load->kind] += calls;
	world.cpu += calls * run->cost;
	move(load, calls);
	world.now += ns;
	if (is_rest())
		return;
	world.carried += ns;
	world.by_one += is_by_one() ? ns : 0;
	world.waits += calls / 2;
	world.sleeps += calls / 2 / load->waits_per_sleep;
	carriers[0].waits = (unsigned long)world.waits;
	carriers[0].sleeps = (unsigned long)world.sleeps;
}

/* As the monitor does it; returns the part of the time in which threads were carried. */
static double run(const struct load *load, double seconds)
{
	const int64_t end = world.now + (int64_t)(seconds * 1e9), before = world.carried;

	while (world.now < end) {
		/* Without calls, the monitor sleeps. */
		if (load->carried.rate > 0)
			work(load, TICK);
		else if (rest_due() < 0 || rest_due() > end)
			work(load, end - world.now);
		else
			work(load, rest_due() > world.now ? rest_due() - world.now : TICK);
		rest_judge(world.now);
		world.judged++;
	}
	return (double)(world.carried - before) / (seconds * 1e9);
}

static int begin(void **state)
{
	(void)state;
	rest_reset();
	memset(&world, 0, sizeof(world));
	memset(carriers, 0, sizeof(carriers));
	carrier_state.wanted = carrier_state.used = 1;
	srand(1);
	return 0;
}

/* ---- loads: many busy connections, one, ... ---- */

static const struct load many = {
	{ 4000, 80000 }, { 6000, 70000 }, .waits_per_sleep = 5, .kind = CALL_OF_DESCRIPTOR
};
static const struct load one = {
	{ 5000, 45000 }, { 4300, 50000 }, .waits_per_sleep = 1, .kind = CALL_OF_DESCRIPTOR
};

static void a_gain_is_kept(void **state)
{
	(void)state;
	assert_true(run(&many, 1) > 0.8);
	assert_true(run(&many, 60) > 0.97);
}

/* Threads that begin to be carried, and register what they wait for, cost more. */
static void moving_counts_for_neither_way(void **state)
{
	struct load load = many;

	(void)state;
	load.threads = 1000;
	load.move = 20000;
	load.carried.cost = load.resting.cost * 0.9;
	run(&load, 5);
	assert_true(run(&load, 60) > 0.9);
}

static void a_gain_is_kept_in_noise(void **state)
{
	struct load load = many;

	(void)state;
	load.noise = 0.5;
	assert_true(run(&load, 60) > 0.95);
}

/* Others run for the time of a window now and then, and it is not always the same window. */
static void a_gain_is_kept_while_others_run_at_times(void **state)
{
	struct load load = many;
	int i;

	(void)state;
	load.stolen = 60 * MS;
	for (i = 0; i < 20; i++) {
		load.every = (500 + 37 * i) * MS;
		begin(NULL);
		run(&load, 5);
		assert_true(run(&load, 60) > 0.85);
	}
}

/* A program that starts loads its files and waits for its own threads. */
static void what_a_program_does_before_its_clients_come_is_forgotten(void **state)
{
	struct load first = many;

	(void)state;
	first.kind = CALL_OF_LOCK;
	first.carried.cost = first.resting.cost * 2;
	run(&first, 1.5);
	assert_true(is_rest());
	run(&many, 1.5);
	assert_true(run(&many, 3) > 0.8);
}

static void a_gain_with_locks_is_kept(void **state)
{
	struct load load = many;

	(void)state;
	load.kind = CALL_OF_LOCK;
	assert_true(run(&load, 60) > 0.97);
}

static void carriers_that_sleep_rest_at_once(void **state)
{
	(void)state;
	run(&one, 0.1);
	assert_true(is_rest());
	assert_true(run(&one, 1) < 0.1);
	assert_true(run(&one, 60) < 0.03);
}

/* More CPU time per call, although the carriers do not sleep. */
static void a_costly_load_rests(void **state)
{
	struct load load = one;

	(void)state;
	load.waits_per_sleep = 5;
	assert_true(run(&load, 1) < 0.3);
	assert_true(run(&load, 60) < 0.03);
}

/* Less CPU time per call, but others keep the CPUs busy. */
static void a_slow_load_rests(void **state)
{
	struct load load = many;

	(void)state;
	load.carried.rate = load.resting.rate / 3;
	assert_true(run(&load, 1) < 0.3);
	assert_true(run(&load, 60) < 0.03);
	load.carried.rate = load.resting.rate * 0.8;
	begin(NULL);
	run(&load, 5);
	assert_true(run(&load, 60) < 0.05);
}

/* In bursts of the I-th kind, after SETTLING seconds. */
static double run_in_bursts(struct load load, int i, double settling)
{
	begin(NULL);
	load.burst = (150 + 23 * i) * MS;
	load.gap = (500 - 19 * i) * MS;
	run(&load, settling);
	return run(&load, 60);
}

/* Time in which the clients send nothing says nothing about either way. */
static void bursts_are_judged_by_their_own_time(void **state)
{
	struct load slow = many;
	int i;

	(void)state;
	slow.carried.rate = slow.resting.rate * 0.8;
	for (i = 0; i < 20; i++) {
		assert_true(run_in_bursts(many, i, 5) > 0.85);
		assert_true(run_in_bursts(slow, i, 10) < 0.2);
	}
}

/* Such as handshakes: at first, threads do not yet what they do later. */
static void a_wrong_first_judgement_does_not_last(void **state)
{
	struct load first = one, load = many;

	(void)state;
	first.waits_per_sleep = 5;
	first.burst = load.burst = 250 * MS;
	first.gap = load.gap = 350 * MS;
	run(&first, 0.25);
	assert_true(is_rest());
	run(&load, 5);
	assert_true(run(&load, 10) > 0.8);
}

/* Carriers that sleep are no loss if each call is cheaper nevertheless. */
static void a_gain_of_carriers_that_sleep_is_found(void **state)
{
	struct load load = many;

	(void)state;
	load.waits_per_sleep = 1;
	run(&load, 2);
	assert_true(run(&load, 60) > 0.95);
}

static void a_change_of_the_load_is_followed(void **state)
{
	(void)state;
	run(&many, 60);
	run(&one, 2);
	assert_true(run(&one, 30) < 0.1);
	run(&many, 40);
	assert_true(run(&many, 30) > 0.9);
}

static void an_idle_program_is_left_alone(void **state)
{
	struct load idle = one;

	(void)state;
	run(&one, 10);
	idle.carried.rate = idle.resting.rate = 0;
	run(&idle, 60);
	world.judged = 0;
	run(&idle, 600);
	assert_true(world.judged < 600);
	run(&one, 40);
	assert_true(run(&one, 10) < 0.1);
}

/* ---- more carriers than one ---- */

/* The part of the time, after a minute, in which one of COUNT carriers ran the threads. */
static double part_by_one(const struct load *load, int count)
{
	int64_t before;

	begin(NULL);
	carrier_state.wanted = carrier_state.used = count;
	run(load, 60);
	before = world.by_one;
	run(load, 60);
	return (double)(world.by_one - before) / 60e9;
}

static void one_carrier_is_used_where_it_gains(void **state)
{
	struct load load = many;

	(void)state;
	load.by_one = (struct run){ 3000, 85000 };
	assert_true(part_by_one(&load, 2) > 0.9);
	assert_true(part_by_one(&load, 64) > 0.6);
	load.carried.cost = load.resting.cost * 1.1;
	assert_true(part_by_one(&load, 2) > 0.9);
}

static void one_carrier_is_not_used_where_it_is_slow(void **state)
{
	struct load load = many;

	(void)state;
	load.by_one = (struct run){ 2000, 60000 };
	assert_true(part_by_one(&load, 2) < 0.03);
	assert_true(run(&load, 60) > 0.97);
	load.carried = (struct run){ 7000, 70000 };
	assert_true(part_by_one(&load, 2) < 0.03);
	assert_true(run(&load, 60) < 0.03);
}

/* As many clients come as the CPUs can serve. */
static void one_carrier_that_gets_too_much_to_do_has_help_soon(void **state)
{
	struct load load = many;

	(void)state;
	load.by_one = (struct run){ 3000, 85000 };
	assert_true(part_by_one(&load, 2) > 0.9);
	load.carried.rate = load.resting.rate = 170000;
	run(&load, 20);
	world.by_one = 0;
	run(&load, 60);
	assert_true((double)world.by_one / 60e9 < 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_gain_is_kept, begin),
		cmocka_unit_test_setup(moving_counts_for_neither_way, begin),
		cmocka_unit_test_setup(a_gain_is_kept_in_noise, begin),
		cmocka_unit_test_setup(a_gain_is_kept_while_others_run_at_times, begin),
		cmocka_unit_test_setup(what_a_program_does_before_its_clients_come_is_forgotten,
				       begin),
		cmocka_unit_test_setup(a_gain_with_locks_is_kept, begin),
		cmocka_unit_test_setup(carriers_that_sleep_rest_at_once, begin),
		cmocka_unit_test_setup(a_costly_load_rests, begin),
		cmocka_unit_test_setup(a_slow_load_rests, begin),
		cmocka_unit_test_setup(bursts_are_judged_by_their_own_time, begin),
		cmocka_unit_test_setup(a_wrong_first_judgement_does_not_last, begin),
		cmocka_unit_test_setup(a_gain_of_carriers_that_sleep_is_found, begin),
		cmocka_unit_test_setup(a_change_of_the_load_is_followed, begin),
		cmocka_unit_test_setup(an_idle_program_is_left_alone, begin),
		cmocka_unit_test(one_carrier_is_used_where_it_gains),
		cmocka_unit_test(one_carrier_is_not_used_where_it_is_slow),
		cmocka_unit_test(one_carrier_that_gets_too_much_to_do_has_help_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
