// SPDX-License-Identifier: MIT
// prefault(): maps the memory of an object before it is used.
#include <algorithm>
#include <cerrno>
#include <optional>

#include <nanobind/stl/optional.h>

#include <ferry_prefault.h>

#include "gil.h"
#include "module.h"
#include "view.h"

namespace
{

// Between two calls of so many bytes, which take less than a second, signals are looked at.
constexpr size_t AT_ONCE = size_t{ 1 } << 30;

int map(const char *start, size_t size, unsigned int flags, ferry_prefaulted &done)
{
	WithoutGil no_gil;

	return ferry_prefault(start, size, flags, &done);
}

// The whole memory of OBJECT: (way, large_page, faults, threads).  Unless WRITE says it, memory
// that can be written will be.
nb::tuple prefault(nb::handle object, std::optional<bool> write, unsigned int flags)
{
	View view(object, PyBUF_ANY_CONTIGUOUS | (write.value_or(false) ? PyBUF_WRITABLE : 0));
	ferry_prefaulted all{}, part{};
	size_t start = 0;

	flags |= write.value_or(!view.is_read_only()) ? FERRY_PREFAULT_WRITE : FERRY_PREFAULT_READ;
	all.threads = 1;
	do {
		size_t size = std::min(view.size() - start, AT_ONCE);
		int error = map(view.as<const char>() + start, size, flags, part);

		if (error == -ENOMEM)
			throw std::bad_alloc();
		if (error) {
			errno = -error;
			PyErr_SetFromErrno(PyExc_OSError);
		}
		if (error || PyErr_CheckSignals())
			throw nb::python_error();
		all.way = std::max(all.way, part.way);
		all.large_page = std::max(all.large_page, part.large_page);
		all.threads = std::max(all.threads, part.threads);
		all.faults += part.faults;
		start += size;
	} while (start < view.size());
	return nb::make_tuple(ferry_prefault_way_name(all.way), all.large_page, all.faults,
			      all.threads);
}

} // namespace

void bind_prefault(nb::module_ &module)
{
	module.attr("PREFAULT_SMALL") = static_cast<unsigned int>(FERRY_PREFAULT_SMALL);
	module.attr("PREFAULT_ALONE") = static_cast<unsigned int>(FERRY_PREFAULT_ALONE);
	module.def("prefault", prefault, nb::arg(), nb::arg().none(), nb::arg());
}
