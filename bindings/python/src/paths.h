// SPDX-License-Identifier: MIT
// What Python passes for paths, as the strings that C wants.
#ifndef PATHS_H
#define PATHS_H

#include <cstring>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "names.h"

class Paths
{
      public:
	// PATHS: Names, an array of Arrow, or any iterable of str, bytes and os.PathLike.
	explicit Paths(nb::handle paths);

	size_t size() const
	{
		return pointers_.size();
	}

	const char *const *from(size_t first) const
	{
		return pointers_.data() + first;
	}

	// Path I for the message of an error.
	nb::object original(size_t i) const;

      private:
	void collect_names(nb::handle paths);
	void collect_items(nb::handle paths);
	const char *bytes_of(PyObject *item);
	PyObject *keep(PyObject *item);

	std::vector<const char *> pointers_;
	std::vector<nb::object> encoded_; // where an item has no bytes of its own
	std::unique_ptr<char[]> copies_;  // of Names, which end with no zero
	nb::object items_;		  // Names, or a tuple, which other threads cannot change
};

// The bytes of ITEM, if it is bytes, or a str in ASCII, and without a null byte; else null.
inline const char *plain_bytes(PyObject *item)
{
	const char *bytes;
	Py_ssize_t size;

	if (PyUnicode_Check(item) && PyUnicode_IS_ASCII(item)) {
		bytes = reinterpret_cast<const char *>(PyUnicode_1BYTE_DATA(item));
		size = PyUnicode_GET_LENGTH(item);
	} else if (PyBytes_Check(item)) {
		bytes = PyBytes_AS_STRING(item);
		size = PyBytes_GET_SIZE(item);
	} else {
		return nullptr;
	}
	return memchr(bytes, '\0', static_cast<size_t>(size)) ? nullptr : bytes;
}

// OSError, or the one of its classes that ERROR, a positive number, stands for.
nb::object os_error(int error, nb::handle path);

#endif // PATHS_H
