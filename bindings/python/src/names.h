// SPDX-License-Identifier: MIT
// Many names without a Python object for each: one after the other, as Arrow keeps them.
#ifndef NAMES_H
#define NAMES_H

#include <cstdint>
#include <memory>
#include <string_view>

#include <nanobind/nanobind.h>

#include "buffer.h"

namespace nb = nanobind;

class Names
{
      public:
	Names()
	{
		bytes_->protect();
		offsets_->protect();
		offsets_->push<int64_t>(0);
	}

	// As bytes() and offsets() were; throws unless OFFSETS fit BYTES.
	Names(std::string_view bytes, const int64_t *offsets, size_t count) : Names()
	{
		if (offsets[0] || offsets[count] != static_cast<int64_t>(bytes.size()))
			throw nb::value_error("these offsets do not belong to these bytes");
		for (size_t i = 0; i < count; i++) {
			if (offsets[i] < 0 || offsets[i] > offsets[i + 1])
				throw nb::value_error("these offsets do not rise");
			offsets_->push(offsets[i + 1]);
		}
		if (!bytes.empty())
			memcpy(bytes_->add(bytes.size()), bytes.data(), bytes.size());
	}

	void add(std::string_view name)
	{
		if (!name.empty())
			memcpy(bytes_->add(name.size()), name.data(), name.size());
		offsets_->push(static_cast<int64_t>(bytes_->size()));
	}

	// Makes the last name longer.
	void append(std::string_view more)
	{
		if (!more.empty())
			memcpy(bytes_->add(more.size()), more.data(), more.size());
		offsets_->as<int64_t>()[size()] = static_cast<int64_t>(bytes_->size());
	}

	size_t size() const
	{
		return offsets_->size() / sizeof(int64_t) - 1;
	}

	std::string_view operator[](size_t i) const
	{
		const int64_t *offset = offsets_->as<int64_t>() + i;

		return { bytes_->data() + offset[0], static_cast<size_t>(offset[1] - offset[0]) };
	}

	const std::shared_ptr<Buffer> &bytes() const
	{
		return bytes_;
	}

	const std::shared_ptr<Buffer> &offsets() const
	{
		return offsets_;
	}

      private:
	std::shared_ptr<Buffer> bytes_ = std::make_shared<Buffer>();
	std::shared_ptr<Buffer> offsets_ = std::make_shared<Buffer>();
};

// A str as os.fsdecode() makes it.
nb::object decode(std::string_view name);

// For __arrow_c_array__
nb::object arrow_names(const Names &names);

// What OBJECT, which has __arrow_c_stream__ or __arrow_c_array__, holds: strings or bytes.
Names names_from_arrow(nb::handle object);

// Buffer and Names
void bind_names(nb::module_ &module);

#endif // NAMES_H
