// SPDX-License-Identifier: MIT
/* A process that runs the programs of one subject. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "campaign.h"

#define LATEST 32 /* lines that are changed as often as all others together */

void subject_may_die(int signal)
{
	shared->may_die = signal;
}

static bool run_in_child(const struct subject *subject, struct random random)
{
	int status;
	pid_t pid;

	shared->may_die = 0;
	pid = fork();
	if (pid < 0) {
		perror("fuzz: fork");
		_exit(2);
	}
	if (!pid) {
		bool right;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(HANG_SECONDS / 2);
		coverage_record(0);
		right = subject->run(&random, why);
		shared->words = random.drawn;
		fflush(why);
		_exit(!right);
	}
	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) == shared->may_die)
		return true;
	if (WIFSIGNALED(status))
		fprintf(why, "the process died: %s\n", strsignal(WTERMSIG(status)));
	return !status;
}

/* Runs LINE; what it reaches is added to ALL.  Ends the worker if it fails. */
static struct news run_line(const struct subject *subject, const struct line *line,
			    struct coverage *all)
{
	struct random random = line_random(line);
	bool right;

	shared->current = *line;
	coverage_drop();
	if (subject->forks) {
		right = run_in_child(subject, random);
	} else {
		right = subject->run(&random, why);
		shared->words = random.drawn;
	}
	if (!right) {
		fflush(why);
		_exit(1);
	}
	atomic_fetch_add(&shared->programs, 1);
	return subject->take ? subject->take(all) : coverage_take(all);
}

static bool is_of(const struct entry *entry, const struct subject *subject)
{
	return subjects[entry->line.subject] == subject;
}

static void replay(const struct subject *subject)
{
	unsigned int i;

	for (i = 0; i < shared->count; i++) {
		struct entry *entry = &shared->entries[i];

		if (!is_of(entry, subject))
			continue;
		entry->is_kept = run_line(subject, &entry->line, &shared->all).places;
		entry->words = shared->words;
	}
}

static void reduce(const struct subject *subject)
{
	unsigned int i;

	for (i = shared->count; i--;) {
		struct entry *entry = &shared->entries[i];

		if (entry->is_kept && is_of(entry, subject))
			entry->is_kept = run_line(subject, &entry->line, &shared->again).places;
	}
}

/* Indexes of the entries of one subject. */
struct choice {
	unsigned int entries[MOST_LINES];
	unsigned int count;
};

static struct line next_line(const struct choice *mine, unsigned int subject, struct random *random)
{
	struct line line = { .subject = subject, .seed = random_word(random) & UINT32_MAX };
	unsigned int among = mine->count, first = 0, times;
	const struct entry *entry;

	/* A line of another program is its seed. */
	if (!mine->count || subjects[subject]->take || random_percent(random, 20))
		return line;
	if (among > LATEST && random_percent(random, 50)) {
		first = among - LATEST;
		among = LATEST;
	}
	entry = &shared->entries[mine->entries[first + random_below(random, among)]];
	line = entry->line;
	for (times = 1 + (unsigned int)random_below(random, 3); times; times--)
		line_mutate(&line, entry->words, random);
	return line;
}

static void fuzz(unsigned int subject, struct random random, double end)
{
	static struct choice mine;
	unsigned int i;

	for (i = 0; i < shared->count; i++)
		if (shared->entries[i].line.subject == subject)
			mine.entries[mine.count++] = i;
	while (now() < end) {
		struct line line = next_line(&mine, subject, &random);
		struct news news = run_line(subjects[subject], &line, &shared->all);

		if ((!news.places && !news.edges) || shared->count == MOST_LINES)
			continue;
		mine.entries[mine.count++] = shared->count;
		shared->entries[shared->count++] =
			(struct entry){ line, shared->words, news.places != 0 };
	}
}

void work(enum task task, unsigned int subject, struct random random, double end)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	subjects[subject]->begin(directory);
	if (task == REPLAY)
		replay(subjects[subject]);
	else if (task == REDUCE)
		reduce(subjects[subject]);
	else
		fuzz(subject, random, end);
	_exit(0);
}
