// SPDX-License-Identifier: MIT
#include "names.h"

#include <nanobind/stl/shared_ptr.h>

#include "rows.h"

nb::object decode(std::string_view name)
{
	PyObject *text =
		PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));

	if (!text)
		throw nb::python_error();
	return nb::steal(text);
}

static nb::object item(const Names &names, Py_ssize_t index)
{
	Py_ssize_t size = static_cast<Py_ssize_t>(names.size());

	if (index < 0)
		index += size;
	if (index < 0 || index >= size)
		throw nb::index_error("there is no name with this number");
	return decode(names[static_cast<size_t>(index)]);
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
	nb::class_<Names>(module, "Names")
		.def("__len__", &Names::size)
		.def("__getitem__", item)
		.def("__iter__", [](const Names &names) { return nb::iter(to_list(names)); })
		.def("tolist", to_list)
		.def(
			"__arrow_c_array__",
			[](const Names &names, nb::handle) { return arrow_names(names); },
			nb::arg("requested_schema") = nb::none())
		.def("take", take, nb::arg("rows"))
		.def_prop_ro("bytes", &Names::bytes)
		.def_prop_ro("offsets", &Names::offsets);
}
