// SPDX-License-Identifier: MIT
#include "ahead.h"

#include <unistd.h>

#include "signals.h"

namespace
{

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
