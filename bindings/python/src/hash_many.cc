// SPDX-License-Identifier: MIT
// hash_many(): digests, which the threads that read the files compute.
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>

#include <ferry_files.h>

#include "call.h"
#include "hash.h"
#include "module.h"
#include "paths.h"

namespace
{

// What the callbacks, in several threads, work on.
class Digests
{
      public:
	Digests(const HashFunction &function, size_t count) : function_(function), results_(count)
	{
	}

	// The next part of a file.
	void add(const ferry_contents &contents);

	// A list of bytes, or of OSError for files that failed.
	nb::list results(const Paths &paths) const;

	// What a callback raised.
	std::string failure;

	std::mutex &lock()
	{
		return lock_;
	}

      private:
	struct Result {
		std::string digest;
		int error = 0;
	};

	std::unique_ptr<Hash> take(const ferry_contents &contents);
	void give(const ferry_contents &contents, std::unique_ptr<Hash> hash);

	const HashFunction &function_;
	std::vector<Result> results_;
	std::mutex lock_; // of all that follows
	std::vector<std::unique_ptr<Hash>> free_;
	std::map<size_t, std::unique_ptr<Hash>> begun_; // of files that come in parts
};

std::unique_ptr<Hash> Digests::take(const ferry_contents &contents)
{
	std::unique_ptr<Hash> hash;

	{
		std::lock_guard<std::mutex> lock(lock_);
		auto begun = begun_.find(contents.index);

		if (begun != begun_.end()) {
			hash = std::move(begun->second);
			begun_.erase(begun);
			return hash;
		}
		if (!free_.empty()) {
			hash = std::move(free_.back());
			free_.pop_back();
		}
	}
	if (!hash)
		hash = function_.make();
	hash->begin();
	return hash;
}

void Digests::give(const ferry_contents &contents, std::unique_ptr<Hash> hash)
{
	std::lock_guard<std::mutex> lock(lock_);

	if (contents.is_last)
		free_.push_back(std::move(hash));
	else
		begun_[contents.index] = std::move(hash);
}

void Digests::add(const ferry_contents &contents)
{
	Result &result = results_[contents.index];
	std::unique_ptr<Hash> hash = take(contents);

	if (contents.length)
		hash->add(contents.data, contents.length);
	result.error = contents.error;
	if (contents.is_last && !contents.error)
		result.digest = hash->end();
	give(contents, std::move(hash));
}

nb::list Digests::results(const Paths &paths) const
{
	nb::list list;

	for (size_t i = 0; i < results_.size(); i++) {
		const Result &result = results_[i];

		if (result.error)
			list.append(os_error(-result.error, paths.original(i)));
		else
			list.append(nb::bytes(result.digest.data(), result.digest.size()));
	}
	return list;
}

int on_contents(void *context, const ferry_contents *contents) noexcept
{
	Digests &digests = *static_cast<Digests *>(context);

	try {
		digests.add(*contents);
		return 0;
	} catch (const std::exception &error) {
		std::lock_guard<std::mutex> lock(digests.lock());

		digests.failure = error.what();
		return -ECANCELED;
	}
}

nb::list hash_many(int dir, const Paths &paths, const std::string &name, unsigned int flags,
		   const Options &options)
{
	std::unique_ptr<HashFunction> function = find_hash(name);
	Digests digests(*function, paths.size());
	Call call(options);

	long result = call.run([&] {
		return ferry_read_each(dir, paths.from(0), paths.size(),
				       flags | FERRY_READ_CONCURRENT, 0, on_contents, &digests,
				       call.options());
	});
	if (!digests.failure.empty())
		throw std::runtime_error(digests.failure);
	if (result == -ENOMEM)
		throw std::bad_alloc();
	if (result < 0)
		throw std::runtime_error(strerror(static_cast<int>(-result)));
	return digests.results(paths);
}

} // namespace

void bind_hash_many(nb::module_ &module)
{
	module.def("hash_many", hash_many);
}
