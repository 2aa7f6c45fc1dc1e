// SPDX-License-Identifier: MIT
// Memory that grows, and that Python sees through the buffer protocol once it is complete.
#ifndef BUFFER_H
#define BUFFER_H

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

class Buffer
{
      public:
	Buffer() = default;

	// SIZE bytes whose contents are not set.
	explicit Buffer(size_t size) : size_(size), room_(size)
	{
		bool large = size >= 2 * LARGE_PAGE;

		if (!size)
			return;
		data_ = static_cast<char *>(large ? aligned_alloc(LARGE_PAGE, round_up(size)) :
						    malloc(size));
		if (!data_)
			throw std::bad_alloc();
		if (large)
			madvise(data_, round_up(size), MADV_HUGEPAGE);
	}

	Buffer(Buffer &&other) noexcept
	    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
	      room_(std::exchange(other.room_, 0)), protected_(other.protected_)
	{
	}

	Buffer &operator=(Buffer &&) = delete;
	Buffer(const Buffer &) = delete;
	Buffer &operator=(const Buffer &) = delete;

	~Buffer()
	{
		free(data_);
	}

	// Adds SIZE bytes at the end, whose contents are not set, and returns where they are.
	char *add(size_t size)
	{
		if (room_ - size_ < size)
			make_room(size);
		size_ += size;
		return data_ + size_ - size;
	}

	template <typename T> void push(T value)
	{
		memcpy(add(sizeof(value)), &value, sizeof(value));
	}

	// Python may look at the contents, but not change them.
	void protect()
	{
		protected_ = true;
	}

	bool is_protected() const
	{
		return protected_;
	}

	char *data() const
	{
		return data_;
	}

	size_t size() const
	{
		return size_;
	}

	template <typename T> T *as() const
	{
		return reinterpret_cast<T *>(data_);
	}

      private:
	static constexpr size_t LARGE_PAGE = size_t{ 2 } << 20;

	static size_t round_up(size_t size)
	{
		return (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	}

	void make_room(size_t size)
	{
		size_t room = 2 * room_ > size_ + size ? 2 * room_ : size_ + size + 256;
		void *larger = realloc(data_, room);

		if (!larger)
			throw std::bad_alloc();
		data_ = static_cast<char *>(larger);
		room_ = room;
	}

	char *data_ = nullptr;
	size_t size_ = 0, room_ = 0;
	bool protected_ = false;
};

#endif // BUFFER_H
