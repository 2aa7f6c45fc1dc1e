// SPDX-License-Identifier: MIT
// Calls of the library without the GIL, which signals and callbacks can end.
#ifndef CALL_H
#define CALL_H

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include <nanobind/nanobind.h>

#include <ferry_files.h>

#include "gil.h"

// Ends calls from another thread.
struct Cancel {
	int flag = 0; // what the library looks at

	void cancel()
	{
		__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	}

	bool is_cancelled() const
	{
		return __atomic_load_n(&flag, __ATOMIC_RELAXED);
	}
};

// How the functions of Python pass options: (threads, timeout in ms, progress or None, Cancel or
// None).
struct Options {
	unsigned int threads = 0, timeout_ms = 0;
	nanobind::object progress;
	std::shared_ptr<Cancel> cancel;
};

class Call
{
	using Clock = std::chrono::steady_clock;

      public:
	static constexpr std::chrono::milliseconds INTERVAL{ 100 }; // the library's

	explicit Call(const Options &how) : progress_(how.progress), cancel_(how.cancel)
	{
		options_.cancel = cancel_ ? &cancel_->flag : nullptr;
		options_.threads = how.threads;
		options_.timeout_ms = how.timeout_ms;
		options_.progress = progress;
		options_.context = this;
	}

	// DONE more items are done.
	void add(size_t done)
	{
		before_ += done;
	}

	// DONE more items are done, by a call of the library that has ended.  Returns whether to go
	// on; without the GIL.
	bool go_on(size_t done)
	{
		add(done);
		return Clock::now() - reported_ < INTERVAL || report(0);
	}

	bool is_cancelled() const
	{
		return cancel_ && cancel_->is_cancelled();
	}

	// Reports that DONE more items are done, by a call that goes on.  Returns false when it is
	// cancelled, or a signal handler or the callback raised something; without the GIL.
	bool report(size_t done)
	{
		reported_ = Clock::now();
		return !is_cancelled() && with_gil([&] {
			if (PyErr_CheckSignals())
				throw nanobind::python_error();
			if (!progress_.is_none())
				progress_(before_ + done);
		});
	}

	const ferry_files_options *options() const
	{
		return &options_;
	}

	// Runs FUNCTION() without the GIL.  Raises what ended it early.
	template <typename F> auto run(F function)
	{
		auto result = without_gil(function);

		if (error_) {
			nanobind::python_error error = std::move(*error_);

			error_.reset();
			throw error;
		}
		if (is_cancelled())
			throw std::runtime_error("the call was cancelled");
		return result;
	}

	// Runs FUNCTION() with the GIL, in any thread.  Returns false if it raised something.
	template <typename F> bool with_gil(F function) noexcept
	{
		WithGil gil;

		stay_at_the_end([&] {
			try {
				function();
			} catch (nanobind::python_error &error) {
				if (!error_)
					error_.emplace(std::move(error));
			} catch (const std::exception &error) {
				if (!error_) {
					PyErr_SetString(PyExc_RuntimeError, error.what());
					error_.emplace();
				}
			}
		});
		return !error_;
	}

      private:
	template <typename F> static auto without_gil(F function)
	{
		WithoutGil no_gil;

		return function();
	}

	static int progress(void *context, size_t done)
	{
		Call *call = static_cast<Call *>(context);

		return !call->report(done);
	}

	ferry_files_options options_ = {};
	nanobind::object progress_;
	std::shared_ptr<Cancel> cancel_;
	size_t before_ = 0; // items of earlier calls of the library
	Clock::time_point reported_ = Clock::now();
	std::optional<nanobind::python_error> error_;
};

#endif // CALL_H
