// SPDX-License-Identifier: MIT
/* What the trials of batches say: lines, ratios, and where one engine overtakes the other. */
#include <math.h>

#include "batch_contest.h"
#include "measure/harness/json.h"

#define BENT 0.02 /* a line with more misfit than that says little */

static struct trials trials_of(const struct contest *contest, size_t engine)
{
	const struct settings *settings = contest->run->settings;

	return (struct trials){
		.sizes = settings->sizes.of,
		.values = contest_values(contest, engine),
		.size_count = settings->sizes.count,
		.trial_count = *contest->trials,
	};
}

static json_t *sizes_as_json(const struct run *run)
{
	json_t *sizes = json_array();
	size_t s;

	for (s = 0; s < run->settings->sizes.count; s++)
		json_array_append_new(sizes, json_integer((json_int_t)batch_size(run, s)));
	return sizes;
}

static json_t *trials_as_json(const struct trials *trials)
{
	json_t *list = json_array();
	size_t t;

	for (t = 0; t < trials->trial_count; t++)
		json_array_append_new(list, json_numbers(trials->values + t * trials->size_count,
							 trials->size_count));
	return list;
}

static json_t *fit_as_json(const struct line_fit *fit)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "a_ns", fit->line.a,
			 "b_ns", fit->line.b, "a_se", fit->a_se, "b_se", fit->b_se, "correlation",
			 fit->correlation, "a_scatter", fit->a_scatter, "b_scatter", fit->b_scatter,
			 "a_drift", fit->a_drift, "b_drift", fit->b_drift, "misfit", fit->misfit);
}

static json_t *series_as_json(const struct contest *contest, const struct trials *trials,
			      size_t engine, const struct line_fit *fit)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:o}", "engine",
			 ferry_engine_name(contest->engines[engine]), "call",
			 json_text(contest->workload.name), "label",
			 json_text(contest->workload.label), "sizes", sizes_as_json(contest->run),
			 "body", (json_int_t)contest->workload.body, "trials_ns",
			 trials_as_json(trials), "fit", fit ? fit_as_json(fit) : json_null());
}

/* The smallest size from which on ONE was faster than OTHER, or 0. */
static size_t first_faster(const struct run *run, const struct trials *one,
			   const struct trials *other)
{
	double least[2][MAX_SIZES];
	size_t s = one->size_count;

	least_of(one, least[0]);
	least_of(other, least[1]);
	while (s && least[0][s - 1] < least[1][s - 1])
		s--;
	return s < one->size_count ? batch_size(run, s) : 0;
}

static struct estimate slope(const struct line_fit *fit)
{
	return (struct estimate){ fit->line.b, fit->b_se };
}

static void say_fit(struct run *run, const struct contest *contest, size_t engine,
		    const struct line_fit *fit)
{
	const char *call = contest->workload.name,
		   *name = ferry_engine_name(contest->engines[engine]);

	add_finding(run, call, "%s on %s: %.1f +- %.1f ns per batch and %.2f +- %.2f ns per %s.",
		    call, name, fit->line.a, fit->a_se, fit->line.b, fit->b_se,
		    contest->workload.image ? "copy" : "call");
	if (fit->misfit > BENT)
		add_finding(run, call,
			    "%s on %s follows no straight line (it misses the times by %.0f %%): "
			    "look at the sizes rather than at a and b.",
			    call, name, 100 * fit->misfit);
}

/* What two engines are to each other, on one workload. */
struct pairing {
	const char *call, *engine, *against;
	struct estimate ratio; /* times as fast per call */
	bool significant;
	struct estimate even;
	size_t faster; /* the size from which on it was, or 0 */
	size_t largest;
	double at_largest; /* times as fast, by the least times alone */
};

/* Lines of one slope meet anywhere, and lines that are none nowhere. */
static struct estimate meeting(const struct line_fit *fit, const struct line_fit *other,
			       bool significant)
{
	struct estimate even = { NAN, NAN };

	if (significant && fit->misfit <= BENT && other->misfit <= BENT)
		even = break_even(fit, other);
	if (even.value < 1)
		even = (struct estimate){ 1, NAN };
	return even;
}

static double ratio_at_largest(const struct trials *one, const struct trials *other)
{
	double least[2][MAX_SIZES];

	least_of(one, least[0]);
	least_of(other, least[1]);
	return least[1][one->size_count - 1] / least[0][one->size_count - 1];
}

static struct pairing pair(const struct contest *contest, size_t engine,
			   const struct line_fit fits[])
{
	const struct run *run = contest->run;
	struct trials trials = trials_of(contest, engine);
	struct trials first = trials_of(contest, 0);
	struct pairing pairing = {
		.call = contest->workload.name,
		.engine = ferry_engine_name(contest->engines[engine]),
		.against = ferry_engine_name(contest->engines[0]),
		.ratio = ratio_of(slope(&fits[0]), slope(&fits[engine]),
				  slope_covariance(&first, &trials, run->settings->bootstrap)),
		.faster = first_faster(run, &trials, &first),
		.largest = batch_size(run, run->settings->sizes.count - 1),
		.at_largest = ratio_at_largest(&trials, &first),
	};

	pairing.significant = differ(pairing.ratio, (struct estimate){ 1, 0 });
	pairing.even = meeting(&fits[engine], &fits[0], pairing.significant);
	return pairing;
}

static void say_pairing(struct run *run, const struct pairing *pairing)
{
	const char *call = pairing->call, *engine = pairing->engine, *against = pairing->against;

	if (!pairing->significant) {
		add_finding(run, call,
			    "%s: whether %s or %s is faster per call, this run cannot tell "
			    "(%.4f +- %.4f times as fast): the noise could have made it.",
			    call, engine, against, pairing->ratio.value, pairing->ratio.se);
		return;
	}
	add_finding(
		run, call,
		"%s: by the slopes %s is %.4f +- %.4f times as fast as %s; in batches of %zu it "
		"was %.3f times as fast.",
		call, engine, pairing->ratio.value, pairing->ratio.se, against, pairing->largest,
		pairing->at_largest);
	if (!isnan(pairing->even.value))
		add_finding(run, call, "%s: %s breaks even with %s at batches of %.1f.", call,
			    engine, against, pairing->even.value);
	if (pairing->faster)
		add_finding(run, call, "%s: %s was the faster one from batches of %zu on.", call,
			    engine, pairing->faster);
}

static json_t *pairing_as_json(const struct pairing *pairing)
{
	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "call",
			 json_text(pairing->call), "engine", pairing->engine, "against",
			 pairing->against, "ratio", json_number(pairing->ratio.value), "se",
			 json_number(pairing->ratio.se), "significant", pairing->significant,
			 "break_even", json_number(pairing->even.value), "break_even_se",
			 json_number(pairing->even.se), "first_faster",
			 pairing->faster ? json_integer((json_int_t)pairing->faster) : json_null(),
			 "at_largest", json_number(pairing->at_largest));
}

/* The fits of all engines, and the ratios to the first. */
void contest_conclude(const struct contest *contest)
{
	struct run *run = contest->run;
	json_t *series = json_object_get(run->document, "series");
	json_t *ratios = json_object_get(run->document, "ratios");
	bool enough = *contest->trials >= 2 && run->settings->sizes.count >= 2;
	struct line_fit fits[MAX_ENGINES];
	size_t e;

	for (e = 0; e < contest->engine_count; e++) {
		struct trials trials = trials_of(contest, e);

		if (enough) {
			fits[e] = fit_least(&trials, run->settings->bootstrap);
			say_fit(run, contest, e, &fits[e]);
		}
		json_array_append_new(
			series, series_as_json(contest, &trials, e, enough ? &fits[e] : NULL));
	}
	for (e = 1; e < contest->engine_count && enough; e++) {
		struct pairing pairing = pair(contest, e, fits);

		say_pairing(run, &pairing);
		json_array_append_new(ratios, pairing_as_json(&pairing));
	}
}
