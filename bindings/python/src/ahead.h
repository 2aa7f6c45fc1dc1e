// SPDX-License-Identifier: MIT
// Reading while Python works on what was read before.
#ifndef AHEAD_H
#define AHEAD_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <sys/types.h>

#include "chunk.h"

// A chunk that a thread of its own reads.  It is a new one each time, with the credentials and
// restrictions that the thread which asks for the chunk has at that time.  It takes no GIL.
class Ahead
{
      public:
	// Throws std::system_error when there can be no thread.
	Ahead(Chunk chunk, int dir, unsigned int flags, const ferry_files_options &how);

	// Waits for the thread; after stop() not for long.
	~Ahead();

	Ahead(const Ahead &) = delete;
	Ahead &operator=(const Ahead &) = delete;

	// Whether this is a child of fork(), which has no such thread.  Then nothing else may be
	// called, not even the destructor.
	bool is_lost() const;

	// The thread ends soon.
	void stop();

	// Returns whether the chunk has been read.
	bool wait(std::chrono::milliseconds limit);

	// Files that have been read.
	size_t done() const
	{
		return done_;
	}

	// Once wait() has returned true.
	Chunk take()
	{
		return std::move(chunk_);
	}

      private:
	void work(int dir, unsigned int flags, ferry_files_options how);

	Chunk chunk_;
	std::atomic<size_t> done_{ 0 };
	int cancel_ = 0; // what the library looks at
	pid_t process_;
	std::mutex lock_;
	std::condition_variable changed_;
	bool ended_ = false;
	std::thread thread_;
};

#endif // AHEAD_H
