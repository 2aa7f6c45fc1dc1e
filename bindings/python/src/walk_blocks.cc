// SPDX-License-Identifier: MIT
// A walk that hands over its entries, some thousand at a time, while it goes on in another thread.
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <unistd.h>

#include "entries.h"
#include "module.h"
#include "paths.h"
#include "thread.h"

namespace
{

constexpr size_t ENOUGH = 4096;	   // entries of a piece
constexpr size_t MOST_WAITING = 8; // pieces that nobody has taken yet

// Entries whose places are numbers in folders.
struct Piece {
	explicit Piece(const Layout &layout) : entries(layout)
	{
	}

	Entries entries;
	std::shared_ptr<Names> folders = std::make_shared<Names>();
	std::shared_ptr<Names> failed = std::make_shared<Names>(); // directories
	Column failures = new_column();				   // int32, of each of these
};

class Stream
{
      public:
	Stream(int dir, std::shared_ptr<const Paths> root, unsigned int flags, nb::object layout,
	       const Filter &filter, nb::object prune, const Options &options)
	    : dir_(dir), root_(std::move(root)), flags_(flags), kept_layout_(std::move(layout)),
	      layout_(nb::cast<const Layout &>(kept_layout_)),
	      walk_(layout_, filter, std::move(prune)), call_(options), process_(getpid())
	{
	}

	~Stream()
	{
		close();
	}

	Stream(const Stream &) = delete;
	Stream &operator=(const Stream &) = delete;

	// (columns, folders, failed, failures) of the next piece; None at the end.
	nb::object next();

	// Ends the walk.
	void close();

      private:
	static int on_block(void *context, ferry_block *block) noexcept;
	static int on_progress(void *context, size_t done);
	int add(ferry_block &block);
	bool hand_over();
	void work(ferry_files_options how);
	void start();
	bool wait();

	int dir_;
	std::shared_ptr<const Paths> root_;
	unsigned int flags_;
	nb::object kept_layout_;
	const Layout &layout_;
	Walk walk_;
	Call call_; // of the thread that takes; prune stores what it raises here
	pid_t process_;

	// Of the walking threads
	std::unique_ptr<Piece> piece_;
	std::atomic<size_t> done_{ 0 };
	int result_ = 0;

	int cancel_ = 0; // what the library looks at
	std::mutex lock_;
	std::condition_variable changed_;
	std::deque<std::unique_ptr<Piece>> waiting_;
	bool ended_ = false, busy_ = false;
	bool alone_ = false; // there can be no thread: the caller walks, and takes all at its end
	std::unique_ptr<Thread> thread_;
};

// Waits until there is room for the piece.  Returns false when it is not wanted any more.
bool Stream::hand_over()
{
	std::unique_lock<std::mutex> lock(lock_);

	changed_.wait(lock, [this] {
		return alone_ || waiting_.size() < MOST_WAITING ||
		       __atomic_load_n(&cancel_, __ATOMIC_RELAXED);
	});
	waiting_.push_back(std::move(piece_));
	changed_.notify_all();
	return !__atomic_load_n(&cancel_, __ATOMIC_RELAXED);
}

int Stream::add(ferry_block &block)
{
	if (!piece_)
		piece_ = std::make_unique<Piece>(layout_);
	if (block.error) {
		piece_->failed->add({ block.path, block.path_length });
		piece_->failures->push(static_cast<int32_t>(-block.error));
		return 0;
	}
	walk_.add(piece_->entries, block, static_cast<int64_t>(piece_->folders->size()));
	piece_->folders->add({ block.path, block.path_length });
	if (!walk_.ask(call_, block))
		return -ECANCELED;
	return piece_->entries.size() < ENOUGH || hand_over() ? 0 : -ECANCELED;
}

int Stream::on_block(void *context, ferry_block *block) noexcept
{
	try {
		return static_cast<Stream *>(context)->add(*block);
	} catch (const std::bad_alloc &) {
		return -ENOMEM;
	}
}

int Stream::on_progress(void *context, size_t done)
{
	auto *stream = static_cast<Stream *>(context);

	stream->done_ = done;
	return stream->alone_ && !stream->call_.report(done);
}

void Stream::work(ferry_files_options how)
{
	how.cancel = &cancel_;
	how.progress = on_progress;
	how.context = this;
	result_ = walk_.filter.walk(dir_, *root_->from(0), flags_, layout_.mask(), on_block, this,
				    &how);
	if (piece_)
		hand_over();
	std::lock_guard<std::mutex> lock(lock_);
	ended_ = true;
	changed_.notify_all();
}

void Stream::start()
{
	try {
		thread_ = std::make_unique<Thread>([this, how = *call_.options()] { work(how); });
	} catch (const std::system_error &) {
		alone_ = true;
	}
}

// Without the GIL.  Returns false when a signal handler or a callback raised something.
bool Stream::wait()
{
	std::unique_lock<std::mutex> lock(lock_);

	while (waiting_.empty() && !ended_) {
		if (changed_.wait_for(lock, Call::INTERVAL) == std::cv_status::no_timeout)
			continue;
		lock.unlock();
		if (!call_.report(done_))
			return false;
		lock.lock();
	}
	lock.unlock();
	return call_.go_on(0);
}

nb::object Stream::next()
{
	std::unique_ptr<Piece> piece;

	if (process_ != getpid())
		throw std::runtime_error(
			"a child of fork() cannot go on with a walk of its parent");
	if (busy_)
		throw std::runtime_error("another thread is reading from this iterator");
	if (!thread_ && !alone_)
		start();
	busy_ = true;
	try {
		call_.run([this] {
			if (alone_ && !ended_)
				work(*call_.options());
			return wait();
		});
	} catch (...) {
		busy_ = false;
		throw;
	}
	busy_ = false;
	std::lock_guard<std::mutex> lock(lock_);
	if (waiting_.empty()) {
		if (result_ == -ENOMEM)
			throw std::bad_alloc();
		return nb::none();
	}
	piece = std::move(waiting_.front());
	waiting_.pop_front();
	changed_.notify_all();
	return nb::make_tuple(piece->entries.columns(layout_, "folder"), piece->folders,
			      piece->failed, piece->failures);
}

void Stream::close()
{
	if (!thread_ || process_ != getpid()) // a child of fork() has no such thread
		return;
	{
		std::lock_guard<std::mutex> lock(lock_);

		__atomic_store_n(&cancel_, 1, __ATOMIC_RELAXED);
		changed_.notify_all();
	}
	WithoutGil no_gil;

	thread_->join();
	thread_ = nullptr;
}

} // namespace

void bind_walk_blocks(nb::module_ &module)
{
	nb::class_<Stream>(module, "Stream")
		.def(nb::init<int, std::shared_ptr<const Paths>, unsigned int, nb::object,
			      const Filter &, nb::object, const Options &>(),
		     nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
		     nb::arg())
		.def("next", &Stream::next)
		.def("close", &Stream::close);
}
