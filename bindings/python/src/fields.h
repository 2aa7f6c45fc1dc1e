// SPDX-License-Identifier: MIT
// The fields of a file's attributes, as columns of numbers.
#ifndef FIELDS_H
#define FIELDS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>
#include <sys/stat.h>

inline constexpr int64_t NOT_A_TIME = INT64_MIN; // NumPy's

struct Field {
	const char *name;
	const char *dtype; // NumPy's
	size_t size;
	unsigned int mask; // of statx(2)
	// Stores the field of each of COUNT files at TO, STRIDE bytes apart; 0 or
	// no time for a null pointer.
	void (*store)(const struct statx *const files[], size_t count, char *to, size_t stride);
};

// The fields of a record, and where they lie in it.
class Layout
{
      public:
	struct Place {
		const Field *field;
		size_t offset;
	};

	// From names and offsets.
	Layout(nanobind::handle places, size_t size);

	// Stores the fields of COUNT files at TO.
	void store(const struct statx *const files[], size_t count, char *to) const
	{
		for (const Place &place : places_)
			place.field->store(files, count, to + place.offset, size_);
	}

	const std::vector<Place> &places() const
	{
		return places_;
	}

	// Bytes of a record
	size_t size() const
	{
		return size_;
	}

	// Of all fields
	unsigned int mask() const
	{
		return mask_;
	}

      private:
	std::vector<Place> places_;
	size_t size_;
	unsigned int mask_ = 0;
};

// {name: dtype} of all fields
nanobind::dict field_types();

#endif // FIELDS_H
