// SPDX-License-Identifier: MIT
#ifndef THREAD_H
#define THREAD_H

#include <functional>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "signals.h"

// A thread that leaves signals to others.  Its stack has the usual size, because callbacks of
// Python run on it: with musl, std::thread has one of 128 KiB.
class Thread
{
      public:
	// Throws std::system_error when there can be none.
	explicit Thread(std::function<void()> work) : work_(std::move(work))
	{
		NoSignals no_signals;
		pthread_attr_t attributes;

		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, STACK_SIZE);
		int error = pthread_create(&thread_, &attributes, run, this);
		pthread_attr_destroy(&attributes);
		if (error)
			throw std::system_error(error, std::generic_category());
	}

	Thread(const Thread &) = delete;
	Thread &operator=(const Thread &) = delete;

	// To be called before the destructor, but in a child of fork(), which has no such thread.
	void join()
	{
		pthread_join(thread_, nullptr);
	}

      private:
	static constexpr size_t STACK_SIZE = size_t{ 8 } << 20;

	static void *run(void *thread)
	{
		static_cast<Thread *>(thread)->work_();
		return nullptr;
	}

	std::function<void()> work_;
	pthread_t thread_;
};

#endif // THREAD_H
