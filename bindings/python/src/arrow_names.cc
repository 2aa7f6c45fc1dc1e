// SPDX-License-Identifier: MIT
// Names from Arrow's C data interface: an array of strings or bytes, or a stream of such arrays.
#include <cstring>
#include <string>
#include <string_view>

#include "arrow.h"
#include "names.h"

namespace
{

// What Arrow's structures point to until it is released.
template <typename T> struct Owned : T {
	Owned() : T{}
	{
	}

	Owned(const Owned &) = delete;
	Owned &operator=(const Owned &) = delete;

	~Owned()
	{
		if (this->release)
			this->release(this);
	}
};

bool is_null(const ArrowArray &array, int64_t i)
{
	const auto *valid = static_cast<const uint8_t *>(array.buffers[0]);

	return valid && !(valid[i / 8] >> i % 8 & 1);
}

template <typename Offset> void add_all(const ArrowArray &array, Names &names)
{
	const auto *offsets = static_cast<const Offset *>(array.buffers[1]);
	const auto *bytes = static_cast<const char *>(array.buffers[2]);

	for (int64_t i = array.offset; i < array.offset + array.length; i++) {
		if (is_null(array, i))
			throw nb::value_error(
				("path number " + std::to_string(names.size()) + " is null")
					.c_str());
		names.add({ bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i]) });
	}
}

// A string of the kind that is short or lies in one of several buffers.
struct StringView {
	int32_t length;
	union {
		char here[12];
		struct {
			char start[4];
			int32_t buffer, offset;
		} there;
	};
};

void add_views(const ArrowArray &array, Names &names)
{
	const auto *views = static_cast<const StringView *>(array.buffers[1]);

	for (int64_t i = array.offset; i < array.offset + array.length; i++) {
		const StringView &view = views[i];

		if (is_null(array, i))
			throw nb::value_error(
				("path number " + std::to_string(names.size()) + " is null")
					.c_str());
		const char *bytes = view.here;
		if (view.length > 12)
			bytes = static_cast<const char *>(array.buffers[2 + view.there.buffer]) +
				view.there.offset;
		names.add({ bytes, static_cast<size_t>(view.length) });
	}
}

// FORMAT is Arrow's name of the type.
void add(const char *format, const ArrowArray &array, Names &names)
{
	if (!array.length)
		return;
	if (!strcmp(format, "u") || !strcmp(format, "z"))
		add_all<int32_t>(array, names);
	else if (!strcmp(format, "U") || !strcmp(format, "Z"))
		add_all<int64_t>(array, names);
	else if (!strcmp(format, "vu") || !strcmp(format, "vz"))
		add_views(array, names);
	else
		throw nb::type_error("paths in Arrow are strings or bytes");
}

template <typename T> T *pointer_in(nb::handle capsule, const char *name)
{
	void *pointer = PyCapsule_GetPointer(capsule.ptr(), name);

	if (!pointer)
		throw nb::python_error();
	return static_cast<T *>(pointer);
}

void check(int error, ArrowArrayStream &stream)
{
	if (!error)
		return;
	const char *reason = stream.get_last_error(&stream);

	throw std::runtime_error(reason ? reason : strerror(error));
}

void add_stream(nb::handle capsule, Names &names)
{
	auto *stream = pointer_in<ArrowArrayStream>(capsule, "arrow_array_stream");
	Owned<ArrowSchema> schema;

	check(stream->get_schema(stream, &schema), *stream);
	for (;;) {
		Owned<ArrowArray> array;

		check(stream->get_next(stream, &array), *stream);
		if (!array.release)
			return;
		if (!schema.dictionary)
			add(schema.format, array, names);
		else
			throw nb::type_error("paths in Arrow are strings, not a dictionary");
	}
}

} // namespace

Names names_from_arrow(nb::handle object)
{
	Names names;

	if (nb::hasattr(object, "__arrow_c_stream__")) {
		add_stream(object.attr("__arrow_c_stream__")(), names);
		return names;
	}
	nb::object pair = object.attr("__arrow_c_array__")();
	const auto *schema = pointer_in<ArrowSchema>(pair[0], "arrow_schema");

	if (schema->dictionary)
		throw nb::type_error("paths in Arrow are strings, not a dictionary");
	add(schema->format, *pointer_in<ArrowArray>(pair[1], "arrow_array"), names);
	return names;
}
