// SPDX-License-Identifier: MIT
// Columns for Arrow's C data interface.  Nothing is copied, and nothing of Python is kept, because
// whoever takes the columns may release them in any thread.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "arrow.h"
#include "fields.h"
#include "module.h"
#include "names.h"

namespace
{

using Shared = std::shared_ptr<Buffer>;

constexpr int64_t NULLABLE = 2; // ARROW_FLAG_NULLABLE

// What a schema or an array points to; it is freed with it.
template <typename T> struct Parts {
	std::string format, name;
	std::vector<Shared> owners;
	std::vector<const void *> buffers;
	std::vector<std::unique_ptr<T>> children;
	std::vector<T *> pointers;
};

template <typename T> void release(T *released)
{
	auto *parts = static_cast<Parts<T> *>(released->private_data);

	for (T *child : parts->pointers)
		if (child->release)
			child->release(child);
	released->release = nullptr;
	delete parts;
}

template <typename T> void take(T &owner, std::unique_ptr<Parts<T>> parts)
{
	for (auto &child : parts->children)
		parts->pointers.push_back(child.get());
	owner.n_children = static_cast<int64_t>(parts->pointers.size());
	owner.children = parts->pointers.data();
	owner.release = release<T>;
	owner.private_data = parts.release();
}

// A schema and an array that belong together.
struct Pair {
	std::unique_ptr<ArrowSchema> schema = std::make_unique<ArrowSchema>();
	std::unique_ptr<ArrowArray> array = std::make_unique<ArrowArray>();

	Pair() = default;
	Pair(Pair &&) = default;

	~Pair()
	{
		if (schema && schema->release)
			schema->release(schema.get());
		if (array && array->release)
			array->release(array.get());
	}
};

Pair make_pair(const std::string &name, const std::string &format, size_t length,
	       std::vector<Shared> owners, std::vector<Pair> children = {})
{
	auto schema_parts = std::make_unique<Parts<ArrowSchema>>();
	auto array_parts = std::make_unique<Parts<ArrowArray>>();
	Pair pair;

	schema_parts->format = format;
	schema_parts->name = name;
	for (const Shared &owner : owners)
		array_parts->buffers.push_back(owner ? owner->data() : nullptr);
	array_parts->owners = std::move(owners);
	for (Pair &child : children) {
		schema_parts->children.push_back(std::move(child.schema));
		array_parts->children.push_back(std::move(child.array));
	}
	pair.schema->format = schema_parts->format.c_str();
	pair.schema->name = schema_parts->name.c_str();
	pair.schema->flags = NULLABLE;
	pair.array->length = static_cast<int64_t>(length);
	pair.array->n_buffers = static_cast<int64_t>(array_parts->buffers.size());
	pair.array->buffers = array_parts->buffers.data();
	take(*pair.schema, std::move(schema_parts));
	take(*pair.array, std::move(array_parts));
	return pair;
}

// Whether each name is UTF-8: all are together, and none begins within a character.
bool are_utf8(const Names &names)
{
	const char *bytes = names.bytes()->data();
	size_t size = names.bytes()->size();

	if (std::none_of(bytes, bytes + size, [](signed char byte) { return byte < 0; }))
		return true;
	for (size_t i = 0; i < names.size(); i++)
		if (!names[i].empty() && (names[i][0] & 0xc0) == 0x80)
			return false;
	if (nb::steal(PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(size), nullptr)))
		return true;
	PyErr_Clear();
	return false;
}

Pair pair_of_names(const std::string &name, const Names &names)
{
	return make_pair(name, are_utf8(names) ? "U" : "Z", names.size(),
			 { nullptr, names.offsets(), names.bytes() });
}

// A bit for each element that is a time, or none when all are.
Shared which_are_times(const Buffer &times, size_t length)
{
	const int64_t *time = times.as<int64_t>();

	if (std::none_of(time, time + length, [](int64_t value) { return value == NOT_A_TIME; }))
		return nullptr;
	auto bits = std::make_shared<Buffer>((length + 7) / 8);
	memset(bits->data(), 0, bits->size());
	for (size_t i = 0; i < length; i++)
		if (time[i] != NOT_A_TIME)
			bits->data()[i / 8] |= static_cast<char>(1 << i % 8);
	return bits;
}

Pair pair_of_numbers(const std::string &name, const std::string &format, const Shared &numbers,
		     size_t length)
{
	Shared valid = format[0] == 't' ? which_are_times(*numbers, length) : nullptr;
	Pair pair = make_pair(name, format, length, { valid, numbers });

	pair.array->null_count = valid ? -1 : 0;
	return pair;
}

template <typename T> nb::object capsule(std::unique_ptr<T> &owned, const char *name)
{
	PyObject *capsule = PyCapsule_New(owned.get(), name, [](PyObject *self) {
		T *held = static_cast<T *>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));

		if (held->release)
			held->release(held);
		delete held;
	});

	if (!capsule)
		throw nb::python_error();
	owned.release();
	return nb::steal(capsule);
}

nb::object capsules(Pair pair)
{
	nb::object schema = capsule(pair.schema, "arrow_schema");

	return nb::make_tuple(schema, capsule(pair.array, "arrow_array"));
}

// COLUMNS: (name, format, Names or Buffer) each
nb::object table(nb::handle columns, size_t length)
{
	std::vector<Pair> children;

	for (nb::handle column : columns) {
		auto name = nb::cast<std::string>(column[0]),
		     format = nb::cast<std::string>(column[1]);
		nb::object values = column[2];

		children.push_back(
			nb::isinstance<Names>(values) ?
				pair_of_names(name, nb::cast<Names &>(values)) :
				pair_of_numbers(name, format, nb::cast<Shared>(values), length));
	}
	return capsules(make_pair("", "+s", length, { nullptr }, std::move(children)));
}

} // namespace

nb::object arrow_names(const Names &names)
{
	return capsules(pair_of_names("", names));
}

void bind_arrow(nb::module_ &module)
{
	module.def("arrow_table", table);
}
