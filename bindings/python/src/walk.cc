// SPDX-License-Identifier: MIT
// walk(): the entries of a tree as columns.
#include <cerrno>
#include <vector>

#include <nanobind/stl/shared_ptr.h>

#include "entries.h"
#include "module.h"
#include "paths.h"
#include "rows.h"

namespace
{

// Rows are the entries; places are the rows of their directories.
struct Whole {
	Walk walk;
	Entries entries;
	Call call;
};

void add_block(Whole &whole, ferry_block &block)
{
	int64_t parent = reinterpret_cast<intptr_t>(block.context) - 1;

	if (block.error)
		whole.entries.errors->as<int32_t>()[parent] = -block.error;
	else
		whole.walk.add(whole.entries, block, parent);
}

int on_block(void *context, ferry_block *block) noexcept
{
	Whole &whole = *static_cast<Whole *>(context);

	try {
		add_block(whole, *block);
	} catch (const std::bad_alloc &) {
		return -ENOMEM;
	}
	if (block->error)
		return 0;
	return whole.walk.ask(whole.call, *block) ? 0 : -ECANCELED;
}

nb::dict run(int dir, const Paths &root, unsigned int flags, const Layout &layout,
	     const Filter &filter, nb::object prune, const Options &options)
{
	const char *path = *root.from(0);
	Whole whole = { { layout, filter, std::move(prune) }, Entries(layout), Call(options) };
	int result;

	result = whole.call.run([&] {
		return filter.walk(dir, path, flags, layout.mask(), on_block, &whole,
				   whole.call.options());
	});
	if (result == -ENOMEM)
		throw std::bad_alloc();
	// Another error is the root's, which is in its row.
	return whole.entries.columns(layout, "parent");
}

// ---- paths ----

// The row of ROW's directory, which comes before it: Python may have changed the parents.
int64_t parent_of(const int64_t parents[], int64_t row)
{
	if (parents[row] >= row)
		throw nb::value_error("the parent of a row must be a row before it");
	return parents[row];
}

// The path of a row is the names on the way to it.
void add_path(const Names &names, const int64_t parents[], int64_t row, std::vector<int64_t> &way,
	      Names &paths)
{
	way.clear();
	for (; row >= 0; row = parent_of(parents, row))
		way.push_back(row);
	paths.add({});
	for (size_t i = way.size(); i--;) {
		std::string_view name = names[static_cast<size_t>(way[i])];

		paths.append(name);
		if (i && (name.empty() || name.back() != '/'))
			paths.append("/");
	}
}

Names paths(const Names &names, nb::handle parents, nb::handle rows)
{
	Rows of(rows, names.size());
	View parent_view(parents, PyBUF_SIMPLE);
	std::vector<int64_t> way;
	Names paths;

	if (parent_view.size() != names.size() * sizeof(int64_t))
		throw nb::value_error("there must be a parent for each name");
	for (int64_t row : of)
		add_path(names, parent_view.as<int64_t>(), row, way, paths);
	return paths;
}

// The paths of rows whose directories are in FOLDERS, each at its place.
Names joined(const Names &names, nb::handle places, const Names &folders, nb::handle rows)
{
	Rows of(rows, names.size()), folder(places, folders.size());
	Names paths;

	if (static_cast<size_t>(folder.end() - folder.begin()) != names.size())
		throw nb::value_error("there must be a directory for each name");
	for (int64_t row : of) {
		std::string_view directory = folders[static_cast<size_t>(folder.begin()[row])];

		paths.add(directory);
		if (!directory.empty() && directory.back() != '/')
			paths.append("/");
		paths.append(names[static_cast<size_t>(row)]);
	}
	return paths;
}

} // namespace

void bind_walk(nb::module_ &module)
{
	nb::class_<Filter>(module, "Filter")
		.def(nb::init<unsigned int, bool, nb::handle, nb::handle, nb::handle>(), nb::arg(),
		     nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
	module.def("walk", run, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
		   nb::arg().none(), nb::arg());
	module.def("paths", paths);
	module.def("join", joined);
}
