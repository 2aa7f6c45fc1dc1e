// SPDX-License-Identifier: MIT
/*
 * The statistics of ferry bench for tests in Python: reads a JSON array of requests from
 * standard input, {"what": ..., ...}, and writes an array with their answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "measure/harness/statistics.h"
#include "numbers.h"

static struct bootstrap bootstrap_of(const json_t *request)
{
	return (struct bootstrap){ .seed = (uint64_t)json_number_at(request, "seed"),
				   .resamples = (size_t)json_number_at(request, "resamples") };
}

/* The trials under KEY, one after the other, of the sizes under "sizes". */
static struct trials trials_at(const json_t *request, const char *key)
{
	struct numbers sizes = numbers_at(request, "sizes"), values = numbers_at(request, key);

	return (struct trials){
		.sizes = sizes.of,
		.times = { values.of, values.count / sizes.count, sizes.count },
	};
}

static json_t *answer_fit(const json_t *request)
{
	struct trials trials = trials_at(request, "trials");
	struct line_fit fit = fit_least(&trials, bootstrap_of(request));

	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "a", fit.line.a,
			 "b", fit.line.b, "a_scatter", fit.a_scatter, "b_scatter", fit.b_scatter,
			 "a_drift", fit.a_drift, "b_drift", fit.b_drift, "a_se", fit.a_se, "b_se",
			 fit.b_se, "covariance", fit.covariance, "correlation", fit.correlation,
			 "misfit", fit.misfit);
}

static json_t *answer_slopes(const json_t *request)
{
	struct trials one = trials_at(request, "one"), other = trials_at(request, "other");
	struct comparison slopes = compare_slopes(&one, &other);

	return json_pack("{s:f, s:o, s:o}", "ratio", slopes.ratio, "se", json_number(slopes.se),
			 "p", json_number(slopes.p));
}

static json_t *answer_summary(const json_t *request)
{
	struct numbers trials = numbers_at(request, "trials");
	struct summary s = summarize(trials.of, trials.count, bootstrap_of(request));
	size_t outliers = count_outliers(trials.of, trials.count);
	double drift = trials.count < 4 ? 0 : drift_of(trials.of, trials.count);

	return json_pack("{s:f, s:f, s:f, s:o, s:f, s:o, s:f, s:I}", "mean", s.mean, "min", s.min,
			 "max", s.max, "sd", json_number(s.sd), "median", s.median, "se",
			 json_number(s.se), "drift", drift, "outliers", (json_int_t)outliers);
}

static json_t *answer_quantile(const json_t *request)
{
	struct numbers values = numbers_at(request, "values");
	double found;

	sort_values(values.of, values.count);
	found = quantile(values.of, values.count, json_number_at(request, "fraction"));
	return json_pack("{s:f}", "quantile", found);
}

static json_t *answer_interval(const json_t *request)
{
	struct numbers values = numbers_at(request, "values");
	struct interval interval = median_interval(values.of, values.count);

	return json_pack("{s:o, s:o, s:o}", "low", json_number(interval.low), "high",
			 json_number(interval.high), "confidence",
			 json_number(interval.confidence));
}

static json_t *estimate_as_json(struct estimate estimate)
{
	return json_pack("{s:o, s:o}", "value", json_number(estimate.value), "se",
			 json_number(estimate.se));
}

static struct line_fit fit_at(const json_t *request, const char *key)
{
	const json_t *fit = json_object_get(request, key);

	return (struct line_fit){
		.line = { json_number_at(fit, "a"), json_number_at(fit, "b") },
		.a_se = json_number_at(fit, "a_se"),
		.b_se = json_number_at(fit, "b_se"),
		.covariance = json_number_at(fit, "covariance"),
	};
}

static json_t *answer_break_even(const json_t *request)
{
	struct line_fit fit = fit_at(request, "fit"), other = fit_at(request, "other");

	return estimate_as_json(break_even(&fit, &other));
}

static json_t *answer_two_sided(const json_t *request)
{
	return json_pack(
		"{s:f}", "p",
		two_sided(json_number_at(request, "t"), json_number_at(request, "freedom")));
}

static json_t *answer_judge(const json_t *request)
{
	struct numbers p = numbers_at(request, "p");
	struct comparison *all = keep(p.count, sizeof(*all));
	struct comparison **list = keep(p.count, sizeof(struct comparison *));
	json_t *corrected = json_array(), *significant = json_array();
	size_t i;

	for (i = 0; i < p.count; i++) {
		all[i].p = p.of[i];
		list[i] = &all[i];
	}
	judge(list, p.count);
	for (i = 0; i < p.count; i++) {
		json_array_append_new(corrected, json_real(all[i].p));
		json_array_append_new(significant, json_boolean(all[i].significant));
	}
	return json_pack("{s:o, s:o}", "p", corrected, "significant", significant);
}

static const struct {
	const char *what;
	json_t *(*answer)(const json_t *request);
} answers[] = {
	{ "fit", answer_fit },		 { "slopes", answer_slopes },
	{ "summary", answer_summary },	 { "quantile", answer_quantile },
	{ "interval", answer_interval }, { "two_sided", answer_two_sided },
	{ "judge", answer_judge },	 { "break_even", answer_break_even },
};

static json_t *answer(const json_t *request)
{
	const char *what = json_string_at(request, "what", "");
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (!strcmp(answers[i].what, what))
			return answers[i].answer(request);
	fprintf(stderr, "statistics: there is no '%s'\n", what);
	exit(2);
}

int main(void)
{
	json_t *requests = json_loadf(stdin, 0, NULL);
	json_t *list = json_array();
	const json_t *request;
	size_t i;

	json_array_foreach(requests, i, request)
		json_array_append_new(list, answer(request));
	json_dumpf(list, stdout, JSON_REAL_PRECISION(17));
	json_decref(requests);
	json_decref(list);
	return 0;
}
