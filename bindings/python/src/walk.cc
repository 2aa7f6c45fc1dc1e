// SPDX-License-Identifier: MIT
// walk(): the entries of a tree as columns.
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/stl/shared_ptr.h>

#include "call.h"
#include "fields.h"
#include "module.h"
#include "paths.h"
#include "rows.h"

namespace
{

using Column = std::shared_ptr<Buffer>;

Column column()
{
	return std::make_shared<Buffer>();
}

// Rows are the entries; each has the number of its directory's row.
struct Tree {
	std::shared_ptr<Names> names = std::make_shared<Names>();
	Column parents = column(); // int64, -1 for the root
	Column depths = column();  // uint32
	Column types = column();   // uint8
	Column errors = column();  // int32: of the entry, or of its directory
	std::vector<Column> fields;
};

struct Walk {
	Tree tree;
	const Layout &layout;
	nb::object prune;
	Call call;
	std::vector<const struct statx *> stats; // of a block
};

nb::dict columns_of(const Tree &tree, const Layout &layout)
{
	nb::dict columns;

	columns["name"] = nb::cast(tree.names);
	columns["parent"] = nb::cast(tree.parents);
	columns["depth"] = nb::cast(tree.depths);
	columns["type"] = nb::cast(tree.types);
	columns["error"] = nb::cast(tree.errors);
	for (size_t i = 0; i < tree.fields.size(); i++)
		columns[layout.places()[i].field->name] = nb::cast(tree.fields[i]);
	return columns;
}

void add_entry(Tree &tree, const ferry_block &block, const ferry_walk_entry &entry, int64_t parent)
{
	tree.names->add(entry.name);
	tree.parents->push(parent);
	tree.depths->push(static_cast<uint32_t>(block.depth));
	tree.types->push(static_cast<uint8_t>(entry.type));
	tree.errors->push(static_cast<int32_t>(-entry.error));
}

void add_fields(Walk &walk, const ferry_block &block)
{
	const auto &places = walk.layout.places();

	walk.stats.clear();
	for (size_t i = 0; i < block.count; i++)
		walk.stats.push_back(block.entries[i].stat);
	for (size_t i = 0; i < places.size(); i++) {
		size_t size = places[i].field->size;

		places[i].field->store(walk.stats.data(), block.count,
				       walk.tree.fields[i]->add(block.count * size), size);
	}
}

std::string join(std::string_view directory, std::string_view name)
{
	std::string path(directory);

	if (!path.empty() && path.back() != '/')
		path += '/';
	return path.append(name);
}

// Asks about each directory in BLOCK.  Returns false if that raised something.
bool prune(Walk &walk, ferry_block &block)
{
	return walk.call.with_gil([&] {
		for (size_t i = 0; i < block.count; i++) {
			ferry_walk_entry &entry = block.entries[i];

			if (entry.type == DT_DIR)
				entry.prune = nb::cast<bool>(nb::bool_(walk.prune(decode(
					join({ block.path, block.path_length }, entry.name)))));
		}
	});
}

// A directory's context is its row and 1; the root's block has none.
void add_block(Walk &walk, ferry_block &block)
{
	int64_t parent = reinterpret_cast<intptr_t>(block.context) - 1;
	size_t first = walk.tree.names->size();

	if (block.error) {
		walk.tree.errors->as<int32_t>()[parent] = -block.error;
		return;
	}
	for (size_t i = 0; i < block.count; i++) {
		add_entry(walk.tree, block, block.entries[i], parent);
		block.entries[i].context = reinterpret_cast<void *>(first + i + 1);
	}
	add_fields(walk, block);
}

int on_block(void *context, ferry_block *block) noexcept
{
	Walk &walk = *static_cast<Walk *>(context);

	try {
		add_block(walk, *block);
	} catch (const std::bad_alloc &) {
		return -ENOMEM;
	}
	return walk.prune.is_none() || prune(walk, *block) ? 0 : -ECANCELED;
}

nb::dict run(int dir, const Paths &root, unsigned int flags, const Layout &layout, nb::object prune,
	     const Options &options)
{
	Walk walk = { {}, layout, std::move(prune), Call(options), {} };
	int result;

	for (size_t i = 0; i < layout.places().size(); i++)
		walk.tree.fields.push_back(column());
	result = walk.call.run([&] {
		return ferry_walk(dir, *root.from(0), flags, layout.mask(), on_block, &walk,
				  walk.call.options());
	});
	if (result == -ENOMEM)
		throw std::bad_alloc();
	if (result)
		throw nb::python_error();
	return columns_of(walk.tree, layout);
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

} // namespace

void bind_walk(nb::module_ &module)
{
	module.def("walk", run, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
		   nb::arg());
	module.def("paths", paths);
}
