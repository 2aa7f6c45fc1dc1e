// SPDX-License-Identifier: MIT
#include "paths.h"

#include <cstring>
#include <string>

// Some milliseconds' worth.
constexpr Py_ssize_t NAMES_BETWEEN_SIGNALS = 65536;

// Otherwise only names in ASCII have the same bytes in a str as in the file system.
static bool file_names_are_utf8()
{
	static const bool utf8 = [] {
		nb::object name = nb::module_::import_("sys").attr("getfilesystemencoding")();

		return strcmp(nb::borrow<nb::str>(name).c_str(), "utf-8") == 0;
	}();

	return utf8;
}

static void refuse_null_byte(std::string_view path, size_t number)
{
	if (path.find('\0') != path.npos)
		throw nb::value_error(
			("path number " + std::to_string(number) + " has a null byte").c_str());
}

static bool is_of_arrow(nb::handle paths)
{
	return nb::hasattr(paths, "__arrow_c_array__") || nb::hasattr(paths, "__arrow_c_stream__");
}

// Nothing where pandas has the attribute, but lacks pyarrow for it.
static nb::object names_of_arrow(nb::handle paths)
{
	try {
		return nb::cast(names_from_arrow(paths));
	} catch (const nb::python_error &error) {
		if (!error.matches(PyExc_ImportError))
			throw;
		return nb::object();
	}
}

Paths::Paths(nb::handle paths)
{
	nb::object names;

	if (nb::isinstance<Names>(paths))
		names = nb::borrow(paths);
	else if (!PyList_CheckExact(paths.ptr()) && is_of_arrow(paths))
		names = names_of_arrow(paths);
	if (names)
		collect_names(names);
	else
		collect_items(paths);
}

// Each gets the zero that C wants at its end.
void Paths::collect_names(nb::handle paths)
{
	const Names &names = nb::cast<const Names &>(paths);
	char *to;

	items_ = nb::borrow(paths);
	copies_.reset(new char[names.bytes()->size() + names.size()]);
	to = copies_.get();
	pointers_.reserve(names.size());
	for (size_t i = 0; i < names.size(); i++) {
		pointers_.push_back(to);
		refuse_null_byte(names[i], i);
		memcpy(to, names[i].data(), names[i].size());
		to += names[i].size();
		*to++ = '\0';
	}
}

static nb::object tuple_of(nb::handle paths)
{
	PyObject *tuple;

	if (PyUnicode_Check(paths.ptr()) || PyBytes_Check(paths.ptr()))
		throw nb::type_error("paths is a single path; pass a list of paths");
	tuple = PySequence_Tuple(paths.ptr());
	if (!tuple)
		throw nb::python_error();
	return nb::steal(tuple);
}

void Paths::collect_items(nb::handle paths)
{
	Py_ssize_t count, i;

	items_ = tuple_of(paths);
	count = PyTuple_GET_SIZE(items_.ptr());
	pointers_.reserve(static_cast<size_t>(count));
	for (i = 0; i < count; i++) {
		if (i % NAMES_BETWEEN_SIGNALS == 0 && PyErr_CheckSignals())
			throw nb::python_error();
		pointers_.push_back(bytes_of(PyTuple_GET_ITEM(items_.ptr(), i)));
	}
}

// The bytes of ITEM, which live as long as items_ and encoded_ do.
const char *Paths::bytes_of(PyObject *item)
{
	const char *bytes = plain_bytes(item);
	Py_ssize_t size = 0;

	if (bytes)
		return bytes;
	if (PyUnicode_Check(item)) {
		if (file_names_are_utf8()) {
			bytes = PyUnicode_AsUTF8AndSize(item, &size);
			if (!bytes)
				PyErr_Clear(); /* it has surrogate escapes */
		}
		if (!bytes)
			return bytes_of(keep(PyUnicode_EncodeFSDefault(item)));
	} else if (PyBytes_Check(item)) {
		bytes = PyBytes_AS_STRING(item);
		size = PyBytes_GET_SIZE(item);
	} else {
		return bytes_of(keep(PyOS_FSPath(item)));
	}
	refuse_null_byte({ bytes, static_cast<size_t>(size) }, pointers_.size());
	return bytes;
}

// A new object, which may be none because of an error.
PyObject *Paths::keep(PyObject *item)
{
	if (!item)
		throw nb::python_error();
	encoded_.push_back(nb::steal(item));
	return item;
}

nb::object Paths::original(size_t i) const
{
	if (copies_)
		return decode(pointers_[i]);
	return nb::borrow(PyTuple_GET_ITEM(items_.ptr(), static_cast<Py_ssize_t>(i)));
}

nb::object os_error(int error, nb::handle path)
{
	PyObject *name = PyOS_FSPath(path.ptr());

	if (!name)
		throw nb::python_error();
	return nb::borrow(PyExc_OSError)(error, strerror(error), nb::steal(name));
}
