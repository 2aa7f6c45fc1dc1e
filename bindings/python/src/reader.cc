// SPDX-License-Identifier: MIT
// Reads files in the order of their names, as many at a time as fit into an arena.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include <nanobind/stl/shared_ptr.h>

#include "call.h"
#include "module.h"
#include "paths.h"

namespace
{

constexpr size_t FIRST_COUNT = 1024;
constexpr size_t MOST_AT_ONCE = 65536;

// The arena has so many bytes for each file, up to the limit.
constexpr size_t ROOM_FOR_ONE = size_t{ 64 } << 10;

// Files of one arena, in the order of their paths.
struct Chunk {
	std::shared_ptr<const Paths> paths;
	std::shared_ptr<Buffer> arena;
	size_t first; // the number of the first path
	std::vector<ferry_file> files;
};

// ---- what Python sees of a chunk ----

nb::object error_of(const Chunk &chunk, size_t i)
{
	return os_error(-chunk.files[i].error, chunk.paths->original(chunk.first + i));
}

// The results of CHUNK: result(file), or an exception.
template <typename F> nb::list list_of(const Chunk &chunk, F result)
{
	nb::list list =
		nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(chunk.files.size())));

	if (!list)
		throw nb::python_error();
	for (size_t i = 0; i < chunk.files.size(); i++) {
		const ferry_file &file = chunk.files[i];
		nb::object item = file.error ? error_of(chunk, i) : nb::steal(result(file));

		if (!item)
			throw nb::python_error();
		PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
	}
	return list;
}

nb::list copies(const Chunk &chunk)
{
	return list_of(chunk, [](const ferry_file &file) {
		return PyBytes_FromStringAndSize(static_cast<char *>(file.data),
						 static_cast<Py_ssize_t>(file.length));
	});
}

Py_ssize_t offset_of(const Chunk &chunk, const ferry_file &file)
{
	return file.data ? static_cast<char *>(file.data) - chunk.arena->data() : 0;
}

nb::list views(const Chunk &chunk)
{
	nb::object arena = nb::cast(chunk.arena);
	nb::object whole = nb::steal(PyMemoryView_FromObject(arena.ptr()));

	if (!whole)
		throw nb::python_error();
	return list_of(chunk, [&](const ferry_file &file) {
		Py_ssize_t start = offset_of(chunk, file);

		return PySequence_GetSlice(whole.ptr(), start,
					   start + static_cast<Py_ssize_t>(file.length));
	});
}

// An array of integers: value(file) for each.
template <typename T, typename F> std::shared_ptr<Buffer> array_of(const Chunk &chunk, F value)
{
	auto array = std::make_shared<Buffer>(chunk.files.size() * sizeof(T));

	for (size_t i = 0; i < chunk.files.size(); i++)
		array->as<T>()[i] = static_cast<T>(value(chunk.files[i]));
	return array;
}

std::shared_ptr<Buffer> starts(const Chunk &chunk)
{
	return array_of<int64_t>(chunk,
				 [&](const ferry_file &file) { return offset_of(chunk, file); });
}

std::shared_ptr<Buffer> lengths(const Chunk &chunk)
{
	return array_of<int64_t>(chunk, [](const ferry_file &file) { return file.length; });
}

std::shared_ptr<Buffer> errors(const Chunk &chunk)
{
	return array_of<int>(chunk, [](const ferry_file &file) { return -file.error; });
}

// The position of the first file that failed, or -1.
Py_ssize_t first_failed(const Chunk &chunk)
{
	for (size_t i = 0; i < chunk.files.size(); i++)
		if (chunk.files[i].error)
			return static_cast<Py_ssize_t>(i);
	return -1;
}

// ---- reading ----

class Reader
{
      public:
	Reader(int dir, std::shared_ptr<const Paths> paths, unsigned int flags, size_t limit,
	       size_t memory, const Options &options)
	    : dir_(dir), paths_(std::move(paths)), flags_(flags), limit_(limit),
	      size_(std::min(memory, paths_->size() * ROOM_FOR_ONE)), call_(options)
	{
	}

	// The next chunk; raises StopIteration after the last.
	Chunk next();

      private:
	void read(Chunk &chunk);
	void take_arena(Chunk &chunk);
	bool fit(Chunk &chunk);

	int dir_;
	std::shared_ptr<const Paths> paths_;
	unsigned int flags_;
	size_t limit_; // bytes of a file, or 0
	size_t size_;  // of the arena
	Call call_;
	std::shared_ptr<Buffer> arena_;
	size_t done_ = 0, count_ = FIRST_COUNT; // of the next chunk
	bool busy_ = false;
};

// The last arena again, unless Python still looks at it.
void Reader::take_arena(Chunk &chunk)
{
	if (!arena_ || arena_.use_count() > 1 || arena_->size() != size_)
		arena_ = std::make_shared<Buffer>(size_);
	chunk.arena = arena_;
}

/*
 * Drops the files from the first on that found no room.  Returns false when none is left: the
 * next attempt is made with that file alone, and then with a larger arena.
 */
bool Reader::fit(Chunk &chunk)
{
	auto full = std::find_if(chunk.files.begin(), chunk.files.end(),
				 [](const ferry_file &file) { return file.error == -ENOBUFS; });
	size_t fitting = static_cast<size_t>(full - chunk.files.begin());

	if (!fitting && chunk.files.size() == 1)
		size_ *= 2;
	count_ = std::max(fitting, size_t{ 1 });
	chunk.files.resize(fitting);
	return fitting;
}

void Reader::read(Chunk &chunk)
{
	size_t count = std::min(count_, paths_->size() - done_);
	ferry_arena arena;

	take_arena(chunk);
	arena = { chunk.arena->data(), chunk.arena->size(), 0 };
	chunk.files.assign(count, ferry_file{ nullptr, limit_, 0, 0 });
	call_.run([&] {
		ferry_read_files(dir_, paths_->from(done_), count, flags_, chunk.files.data(),
				 &arena, call_.options());
		return call_.go_on(0);
	});
	if (fit(chunk)) {
		/* As many as fill three quarters of the arena if they are like these. */
		count = chunk.files.size();
		count_ = std::clamp(count * (size_ - size_ / 4) / std::max(arena.used, size_t{ 1 }),
				    size_t{ 1 }, std::min(4 * count, MOST_AT_ONCE));
	}
}

Chunk Reader::next()
{
	Chunk chunk = { paths_, nullptr, done_, {} };

	if (done_ == paths_->size())
		throw nb::stop_iteration();
	if (busy_)
		throw std::runtime_error("another thread is reading from this iterator");
	busy_ = true;
	try {
		while (chunk.files.empty())
			read(chunk);
	} catch (...) {
		busy_ = false;
		throw;
	}
	busy_ = false;
	done_ += chunk.files.size();
	call_.add(chunk.files.size());
	return chunk;
}

} // namespace

void bind_reader(nb::module_ &module)
{
	nb::class_<Chunk>(module, "Chunk")
		.def("__len__", [](const Chunk &chunk) { return chunk.files.size(); })
		.def("copies", copies)
		.def("views", views)
		.def_prop_ro("arena", [](const Chunk &chunk) { return chunk.arena; })
		.def_prop_ro("starts", starts)
		.def_prop_ro("lengths", lengths)
		.def_prop_ro("errors", errors)
		.def_ro("first", &Chunk::first)
		.def_prop_ro("first_failed", first_failed);
	nb::class_<Reader>(module, "Reader")
		.def(nb::init<int, std::shared_ptr<const Paths>, unsigned int, size_t, size_t,
			      Options>())
		.def("__iter__", [](nb::handle self) { return self; })
		.def("__next__", &Reader::next);
}
