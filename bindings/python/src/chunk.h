// SPDX-License-Identifier: MIT
// Files that were read at once.
#ifndef CHUNK_H
#define CHUNK_H

#include <chrono>
#include <memory>
#include <vector>

#include <ferry_files.h>

#include "buffer.h"
#include "paths.h"

using Clock = std::chrono::steady_clock;

// Files of one arena, in the order of their paths.
struct Chunk {
	std::shared_ptr<const Paths> paths;
	std::shared_ptr<Buffer> arena;
	size_t first; // the number of the first path
	std::vector<ferry_file> files;
	size_t used = 0; // bytes of the arena
	Clock::duration took{};

	// Reads the files, whose names are relative to DIR.
	void read(int dir, unsigned int flags, const ferry_files_options *options)
	{
		ferry_arena space = { arena->data(), arena->size(), 0 };
		Clock::time_point start = Clock::now();

		ferry_read_files(dir, paths->from(first), files.size(), flags, files.data(), &space,
				 options);
		used = space.used;
		took = Clock::now() - start;
	}
};

#endif // CHUNK_H
