// SPDX-License-Identifier: MIT
// Parts of many files, each in a bytes object from the start.
#include <cerrno>
#include <vector>

#include <ferry_files.h>

#include "call.h"
#include "module.h"
#include "paths.h"
#include "view.h"

namespace
{

// OFFSETS and SIZES: an int64 for each of PATHS.  Returns bytes or OSError for COUNT from FIRST on.
nb::list read_ranges(int dir, const Paths &paths, nb::handle offsets, nb::handle sizes,
		     size_t first, size_t count, unsigned int flags, const Options &options)
{
	View offset_view(offsets, PyBUF_CONTIG_RO), size_view(sizes, PyBUF_CONTIG_RO);
	std::vector<ferry_file> files(count);
	Call call(options);
	nb::list made, results;

	if (first + count > paths.size() || offset_view.size() != paths.size() * sizeof(int64_t) ||
	    size_view.size() != paths.size() * sizeof(int64_t))
		throw nb::value_error("there must be an offset and a length for each path");
	for (size_t i = 0; i < count; i++) {
		int64_t size = size_view.as<int64_t>()[first + i];
		nb::object bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, size));

		if (!bytes)
			throw nb::python_error();
		files[i].buffer = PyBytes_AS_STRING(bytes.ptr());
		files[i].room = static_cast<size_t>(size);
		files[i].offset = static_cast<uint64_t>(offset_view.as<int64_t>()[first + i]);
		made.append(bytes);
	}
	call.run([&] {
		return ferry_read_files(dir, paths.from(first), count, flags | FERRY_READ_PART,
					files.data(), nullptr, call.options());
	});
	for (size_t i = 0; i < count; i++) {
		const ferry_file &file = files[i];

		if (file.error)
			results.append(os_error(-file.error, paths.original(first + i)));
		else if (file.length == file.room)
			results.append(made[i]);
		else
			results.append(nb::bytes(file.buffer, file.length));
	}
	return results;
}

} // namespace

void bind_ranges(nb::module_ &module)
{
	module.def("read_ranges", read_ranges);
}
