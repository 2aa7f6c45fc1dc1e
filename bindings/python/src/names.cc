// SPDX-License-Identifier: MIT
#include "names.h"

#include <algorithm>

#include <nanobind/stl/shared_ptr.h>

#include "paths.h"
#include "rows.h"

nb::object decode(std::string_view name)
{
	PyObject *text =
		PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));

	if (!text)
		throw nb::python_error();
	return nb::steal(text);
}

static nb::object item(const Names &names, nb::handle index)
{
	Py_ssize_t size = static_cast<Py_ssize_t>(names.size());
	Py_ssize_t i = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);

	if (i == -1 && PyErr_Occurred())
		throw nb::python_error();
	if (i < 0)
		i += size;
	if (i < 0 || i >= size)
		throw nb::index_error("there is no name with this number");
	return decode(names[static_cast<size_t>(i)]);
}

static nb::list to_list(const Names &names)
{
	nb::list list;

	for (size_t i = 0; i < names.size(); i++)
		list.append(decode(names[i]));
	return list;
}

static Names take(const Names &names, nb::handle wanted)
{
	Rows rows(wanted, names.size());
	Names taken;

	for (size_t row : rows)
		taken.add(names[row]);
	return taken;
}

// The functions of Python that go on with what is not done here.
static nb::object in_python(const char *function)
{
	return nb::module_::import_("ferry.rows").attr(function);
}

static nb::object get(const Names &names, nb::handle index)
{
	if (PyIndex_Check(index.ptr()) && !PySequence_Check(index.ptr()))
		return item(names, index);
	return nb::cast(take(names, in_python("rows_of")(index, names.size())));
}

static bool contains(const Names &names, nb::handle name)
{
	if (!PyUnicode_Check(name.ptr()) && !PyBytes_Check(name.ptr()))
		return false;
	Paths wanted(nb::make_tuple(name));
	std::string_view bytes(*wanted.from(0));

	for (size_t i = 0; i < names.size(); i++)
		if (names[i] == bytes)
			return true;
	return false;
}

static bool are_equal(const Buffer &a, const Buffer &b)
{
	return a.size() == b.size() && (!a.size() || !memcmp(a.data(), b.data(), a.size()));
}

static nb::object equal(const Names &names, nb::handle other)
{
	if (PyList_Check(other.ptr()) || PyTuple_Check(other.ptr()))
		return nb::bool_(to_list(names).equal(nb::list(other)));
	if (!nb::isinstance<Names>(other))
		return nb::borrow(Py_NotImplemented);
	const Names &others = nb::cast<const Names &>(other);

	return nb::bool_(are_equal(*names.bytes(), *others.bytes()) &&
			 are_equal(*names.offsets(), *others.offsets()));
}

static nb::object represent(const Names &names)
{
	constexpr size_t SHOWN = 6;
	nb::list some;

	for (size_t i = 0; i < std::min(names.size(), SHOWN); i++)
		some.append(decode(names[i]));
	nb::object text = nb::repr(some);
	if (names.size() <= SHOWN)
		return nb::steal(PyUnicode_FromFormat("Names(%U)", text.ptr()));
	nb::object start = text[nb::slice(0, -1, 1)];

	return nb::steal(
		PyUnicode_FromFormat("Names(%U, ...], %zu names)", start.ptr(), names.size()));
}

static Names restore(nb::handle bytes, nb::handle offsets)
{
	View text(bytes, PyBUF_CONTIG_RO), numbers(offsets, PyBUF_CONTIG_RO | PyBUF_FORMAT);

	if (!numbers.has_format("l") || !numbers.size())
		throw nb::value_error("there are no offsets");
	return { { text.as<char>(), text.size() },
		 numbers.as<int64_t>(),
		 numbers.size() / sizeof(int64_t) - 1 };
}

static Names names_of(nb::handle paths)
{
	Paths given(paths);
	Names names;

	for (size_t i = 0; i < given.size(); i++)
		names.add(*given.from(i));
	return names;
}

static std::shared_ptr<Buffer> copy_of(nb::handle object)
{
	View view(object, PyBUF_CONTIG_RO);
	auto buffer = std::make_shared<Buffer>(view.size());

	if (view.size())
		memcpy(buffer->data(), view.as<char>(), view.size());
	return buffer;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
	Buffer *buffer = nb::inst_ptr<Buffer>(self);

	return PyBuffer_FillInfo(view, self, buffer->data(),
				 static_cast<Py_ssize_t>(buffer->size()), buffer->is_protected(),
				 flags);
}

void bind_names(nb::module_ &module)
{
	static PyType_Slot slots[] = {
		{ Py_bf_getbuffer, reinterpret_cast<void *>(get_buffer) },
		{ 0, nullptr },
	};

	nb::class_<Buffer>(module, "Buffer", nb::type_slots(slots)).def("__len__", &Buffer::size);
	module.def("copy_of", copy_of);
	module.def("restore_names", restore);
	nb::class_<Names> names(module, "Names");
	names.attr("__module__") = "ferry";
	names.attr("__hash__") = nb::none();
	names.doc() =
		"Names or paths without a Python object for each.\n\n"
		"Names(paths) makes them of any iterable of paths.  Other functions of ferry take\n"
		"them where they take paths, and pyarrow takes them as an array.";
	names.def(
		     "__init__",
		     [](Names *self, nb::handle paths) { new (self) Names(names_of(paths)); },
		     nb::arg("paths"))
		.def("__len__", &Names::size)
		.def("__getitem__", get,
		     "A name as a str; or, for a slice, a list or an array of numbers or of a "
		     "boolean\n"
		     "for each, Names.")
		.def("__iter__", [](const Names &all) { return nb::iter(to_list(all)); })
		.def("__contains__", contains)
		.def("__eq__", equal)
		.def("__repr__", represent)
		.def("__reduce__", [](nb::handle self) { return in_python("reduce_names")(self); })
		.def("tolist", to_list, "All names, each a str.")
		.def(
			"__arrow_c_array__",
			[](const Names &all, nb::handle) { return arrow_names(all); },
			nb::arg("requested_schema") = nb::none())
		.def("take", take, nb::arg("rows"), "The names with these numbers, an int64 array.")
		.def_prop_ro("bytes", &Names::bytes, "The bytes of all names, one after the other.")
		.def_prop_ro(
			"offsets", &Names::offsets,
			"Where each name begins in bytes, and where the last one ends: int64.");
}
