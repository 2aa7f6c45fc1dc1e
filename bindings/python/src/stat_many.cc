// SPDX-License-Identifier: MIT
// stat_many(): the library's results, turned into records of the fields that were asked for.
#include <algorithm>
#include <cerrno>
#include <memory>

#include "call.h"
#include "fields.h"
#include "module.h"
#include "paths.h"
#include "view.h"

namespace
{

// Names in one call of the library: their attributes fit into the cache.
constexpr size_t MOST_AT_ONCE = 8192;

struct Job {
	const Layout &layout;
	int dir, flags;
	char *records;
	int *errors; // positive in the end
	std::unique_ptr<struct statx[]> stats;
};

void store(const Job &job, size_t first, size_t count)
{
	constexpr size_t STEP = 32;
	const struct statx *files[STEP];

	for (size_t done = 0; done < count; done += STEP) {
		size_t n = std::min(STEP, count - done);
		int *errors = job.errors + first + done;

		for (size_t i = 0; i < n; i++) {
			files[i] = errors[i] ? nullptr : &job.stats[done + i];
			errors[i] = -errors[i];
		}
		job.layout.store(files, n, job.records + (first + done) * job.layout.size());
	}
}

// Returns false when the call was ended early.
bool look(const Job &job, const Paths &paths, Call &call)
{
	for (size_t first = 0; first < paths.size(); first += MOST_AT_ONCE) {
		size_t count = std::min(MOST_AT_ONCE, paths.size() - first);

		if (ferry_statx_many(job.dir, paths.from(first), count, job.flags,
				     job.layout.mask(), job.stats.get(), job.errors + first,
				     call.options()) == -ECANCELED)
			return false;
		store(job, first, count);
		if (!call.go_on(count))
			return false;
	}
	return true;
}

} // namespace

void stat_many(int dir, const Paths &paths, int flags, const Layout &layout, nb::handle records,
	       nb::handle errors, const Options &options)
{
	View record_view(records, PyBUF_WRITABLE), error_view(errors, PyBUF_WRITABLE);
	Call call(options);

	if (record_view.size() != paths.size() * layout.size() ||
	    error_view.size() != paths.size() * sizeof(int))
		throw nb::value_error("an array has the wrong size");
	Job job = {
		layout,
		dir,
		flags,
		record_view.as<char>(),
		error_view.as<int>(),
		std::unique_ptr<struct statx[]>(
			new struct statx[std::min(MOST_AT_ONCE, paths.size())]),
	};
	call.run([&] { return look(job, paths, call); });
}
