// SPDX-License-Identifier: MIT
// Memory of another Python object, such as an array.  Needs the GIL at both ends of its life.
#ifndef VIEW_H
#define VIEW_H

#include <cstring>

#include <nanobind/nanobind.h>

class View
{
      public:
	// FLAGS as PyObject_GetBuffer() takes them.
	View(nanobind::handle object, int flags)
	{
		if (PyObject_GetBuffer(object.ptr(), &view_, flags))
			throw nanobind::python_error();
	}

	View(View &&other) noexcept : view_(other.view_)
	{
		other.view_.obj = nullptr;
	}

	View &operator=(View &&) = delete;
	View(const View &) = delete;
	View &operator=(const View &) = delete;

	~View()
	{
		PyBuffer_Release(&view_);
	}

	// Whether its items have this FORMAT of Python's module struct.
	bool has_format(const char *format) const
	{
		return view_.format && !strcmp(view_.format, format);
	}

	bool is_read_only() const
	{
		return view_.readonly;
	}

	size_t size() const
	{
		return static_cast<size_t>(view_.len);
	}

	template <typename T> T *as() const
	{
		return static_cast<T *>(view_.buf);
	}

      private:
	Py_buffer view_;
};

#endif // VIEW_H
