// SPDX-License-Identifier: MIT
#include "ahead.h"

#include <csignal>

#include <pthread.h>
#include <unistd.h>

namespace
{

// Threads that are made meanwhile leave all signals to others.
class NoSignals
{
      public:
	NoSignals()
	{
		sigset_t all;

		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before_);
	}

	~NoSignals()
	{
		pthread_sigmask(SIG_SETMASK, &before_, nullptr);
	}

      private:
	sigset_t before_;
};

int store_progress(void *context, size_t done)
{
	*static_cast<std::atomic<size_t> *>(context) = done;
	return 0;
}

} // namespace

Ahead::Ahead(Chunk chunk, int dir, unsigned int flags, const ferry_files_options &how)
    : chunk_(std::move(chunk)), process_(getpid())
{
	NoSignals no_signals;

	thread_ = std::thread(&Ahead::work, this, dir, flags, how);
}

Ahead::~Ahead()
{
	thread_.join();
}

bool Ahead::is_lost() const
{
	return process_ != getpid();
}

void Ahead::stop()
{
	__atomic_store_n(&cancel_, 1, __ATOMIC_RELAXED);
}

bool Ahead::wait(std::chrono::milliseconds limit)
{
	std::unique_lock<std::mutex> lock(lock_);

	return changed_.wait_for(lock, limit, [this] { return ended_; });
}

void Ahead::work(int dir, unsigned int flags, ferry_files_options how)
{
	how.cancel = &cancel_;
	how.progress = store_progress;
	how.context = &done_;
	chunk_.read(dir, flags, &how);
	std::lock_guard<std::mutex> lock(lock_);
	ended_ = true;
	changed_.notify_one();
}
