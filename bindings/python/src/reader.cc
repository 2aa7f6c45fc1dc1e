// SPDX-License-Identifier: MIT
// Reads files in the order of their names, as many at a time as fit into an arena, and the next
// ones while Python works on them.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include <nanobind/stl/shared_ptr.h>

#include "ahead.h"
#include "call.h"
#include "module.h"

namespace
{

constexpr size_t FIRST_COUNT = 1024;
constexpr size_t MOST_AT_ONCE = 65536;

// A thread is of no use where Python works on a chunk for less than this part of the time that
// reading takes.
constexpr int SHORT_WORK = 2;

// The arena has so many bytes for each file, up to the limit.
constexpr size_t ROOM_FOR_ONE = size_t{ 64 } << 10;

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
	      one_thread_(options.threads == 1),
	      least_(std::min(std::max(memory / 2, size_t{ 1 }), paths_->size() * ROOM_FOR_ONE)),
	      size_(least_), call_(options)
	{
	}

	// The next chunk; raises StopIteration after the last.
	Chunk next();

	// Ends what is read ahead, before the directory is closed.  To be called in any case.
	void close();

      private:
	Chunk new_chunk();
	std::shared_ptr<Buffer> take_arena();
	Chunk read();
	bool wait_for(Ahead &ahead);
	Chunk wait_for_ahead();
	void drop_lost();
	bool fit(Chunk &chunk);
	bool grow(Chunk &chunk);
	size_t size_of(size_t path);
	void start_ahead();

	int dir_;
	std::shared_ptr<const Paths> paths_;
	unsigned int flags_;
	size_t limit_; // bytes of a file, or 0
	bool one_thread_;
	size_t least_, size_; // of an arena: one is read while Python looks at the other
	Call call_;
	std::shared_ptr<Buffer> arenas_[2];
	size_t latest_ = 0;			// the arena that was made last
	size_t done_ = 0, count_ = FIRST_COUNT; // of the next chunk
	std::unique_ptr<Ahead> ahead_;		// the next chunk, or none
	Clock::time_point returned_;		// when next() did
	bool busy_ = false;
};

// One that was used before, unless Python still looks at it.  Where memory is short, it has the
// size that the first one had.
std::shared_ptr<Buffer> Reader::take_arena()
{
	for (auto &arena : arenas_)
		if (arena && arena.use_count() == 1 && arena->size() == size_)
			return arena;
	latest_ = !latest_;
	arenas_[latest_] = nullptr;
	try {
		arenas_[latest_] = std::make_shared<Buffer>(size_);
	} catch (const std::bad_alloc &) {
		if (size_ == least_)
			throw;
		size_ = least_;
		return take_arena();
	}
	return arenas_[latest_];
}

Chunk Reader::new_chunk()
{
	size_t count = std::min(count_, paths_->size() - done_);

	ferry_file file{};

	file.room = limit_;
	return { paths_, take_arena(), done_, std::vector<ferry_file>(count, file) };
}

Chunk Reader::read()
{
	Chunk chunk = new_chunk();

	call_.run([&] {
		chunk.read(dir_, flags_, call_.options());
		return call_.go_on(0);
	});
	return chunk;
}

// A child of fork() reads the chunk itself.  What its parent's thread was using stays as it is.
void Reader::drop_lost()
{
	if (ahead_ && ahead_->is_lost())
		ahead_.release(); // NOLINT(bugprone-unused-return-value)
}

// Returns false when a signal handler or the callback raised something meanwhile.
bool Reader::wait_for(Ahead &ahead)
{
	while (!ahead.wait(Call::INTERVAL))
		if (!call_.report(ahead.done()))
			return false;
	return true;
}

Chunk Reader::wait_for_ahead()
{
	std::unique_ptr<Ahead> ahead = std::move(ahead_);

	call_.run([&] {
		if (wait_for(*ahead))
			return call_.go_on(0);
		ahead->stop();
		ahead.reset();
		return false;
	});
	return ahead->take();
}

// The size of a file; 0 where it is not known.
size_t Reader::size_of(size_t path)
{
	struct statx stat;
	int error;

	call_.run([&] {
		ferry_statx_many(dir_, paths_->from(path), 1, 0, STATX_SIZE, &stat, &error,
				 call_.options());
		return call_.go_on(0);
	});
	return error ? 0 : stat.stx_size;
}

// Makes an arena for the only file of CHUNK, which found no room.  Returns false when there is no
// memory for it: the file has that error then.
bool Reader::grow(Chunk &chunk)
{
	size_t needed = size_of(chunk.first) + 1;

	if (limit_)
		needed = std::min(needed, limit_);
	needed = needed > size_ ? needed : 2 * size_;
	size_ = needed;
	chunk.arena = arenas_[0] = arenas_[1] = nullptr;
	std::shared_ptr<Buffer> arena = take_arena();
	if (arena->size() == needed)
		return true;
	chunk.arena = arena;
	chunk.files[0].error = -ENOMEM;
	return false;
}

/*
 * Drops the files from the first on that found no room, and plans the next chunk.  Returns false
 * when none is left: the next attempt is made with that file alone, and then with a larger arena.
 */
bool Reader::fit(Chunk &chunk)
{
	auto full = std::find_if(chunk.files.begin(), chunk.files.end(),
				 [](const ferry_file &file) { return file.error == -ENOBUFS; });
	size_t fitting = static_cast<size_t>(full - chunk.files.begin());

	if (!fitting && chunk.files.size() == 1 && !grow(chunk))
		fitting = 1;
	chunk.files.resize(fitting);
	count_ = 1;
	/* As many as fill three quarters of the arena if they are like these. */
	if (fitting)
		count_ = std::clamp(fitting * (size_ - size_ / 4) /
					    std::max(chunk.used, size_t{ 1 }),
				    size_t{ 1 }, std::min(4 * fitting, MOST_AT_ONCE));
	return fitting;
}

// Without a thread, next() reads.
void Reader::start_ahead()
{
	if (done_ == paths_->size())
		return;
	try {
		ahead_.reset(new Ahead(new_chunk(), dir_, flags_, *call_.options()));
	} catch (const std::system_error &) {
		ahead_ = nullptr;
	} catch (const std::bad_alloc &) {
		ahead_ = nullptr;
	}
}

Chunk Reader::next()
{
	if (busy_)
		throw std::runtime_error("another thread is reading from this iterator");
	if (done_ == paths_->size())
		throw nb::stop_iteration();
	busy_ = true;
	try {
		Clock::duration work = Clock::now() - returned_;

		drop_lost();
		Chunk chunk = ahead_ ? wait_for_ahead() : read();

		while (!fit(chunk))
			chunk = read();
		done_ += chunk.files.size();
		call_.add(chunk.files.size());
		/* Before the first chunk there was nothing to work on. */
		if (chunk.first && !one_thread_ && work * SHORT_WORK > chunk.took)
			start_ahead();
		busy_ = false;
		returned_ = Clock::now();
		return chunk;
	} catch (...) {
		busy_ = false;
		throw;
	}
}

// A file may hang.  Where a signal handler raises something meanwhile, the thread stays behind.
void Reader::close()
{
	drop_lost();
	done_ = paths_->size();
	if (!ahead_)
		return;
	ahead_->stop();
	try {
		call_.run([&] { return wait_for(*ahead_); });
	} catch (const nb::python_error &) {
		ahead_.release(); // NOLINT(bugprone-unused-return-value)
		throw;
	}
	ahead_ = nullptr;
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
		.def("__next__", &Reader::next)
		.def("close", &Reader::close);
}
