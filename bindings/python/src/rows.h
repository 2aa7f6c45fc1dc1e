// SPDX-License-Identifier: MIT
// The numbers of some rows: an int64 array that Python passes.
#ifndef ROWS_H
#define ROWS_H

#include <cstdint>
#include <stdexcept>

#include <nanobind/nanobind.h>

#include "view.h"

class Rows
{
      public:
	// Each is checked to be below COUNT.
	Rows(nanobind::handle array, size_t count) : view_(array, PyBUF_CONTIG_RO | PyBUF_FORMAT)
	{
		if (!view_.has_format("l") && !view_.has_format("q"))
			throw nanobind::type_error("the rows must be an array of int64");
		for (size_t row : *this)
			if (row >= count)
				throw nanobind::index_error("there is no row with this number");
	}

	const int64_t *begin() const
	{
		return view_.as<int64_t>();
	}

	const int64_t *end() const
	{
		return begin() + view_.size() / sizeof(int64_t);
	}

      private:
	View view_;
};

#endif // ROWS_H
