// SPDX-License-Identifier: MIT
// Entries of a tree as columns of numbers.
#ifndef ENTRIES_H
#define ENTRIES_H

#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "call.h"
#include "fields.h"
#include "filter.h"
#include "names.h"

// A path is DIRECTORY, a slash and NAME.
inline std::string join(std::string_view directory, std::string_view name)
{
	std::string path(directory);

	if (!path.empty() && path.back() != '/')
		path += '/';
	return path.append(name);
}

using Column = std::shared_ptr<Buffer>;

inline Column new_column()
{
	return std::make_shared<Buffer>();
}

struct Entries {
	std::shared_ptr<Names> names = std::make_shared<Names>();
	Column places = new_column(); // int64: where the directory of an entry is found
	Column depths = new_column(); // uint32
	Column types = new_column();  // uint8
	Column errors = new_column(); // int32: of the entry, or of its directory
	std::vector<Column> fields;   // as the layout has them

	explicit Entries(const Layout &layout)
	{
		for (size_t i = 0; i < layout.places().size(); i++)
			fields.push_back(new_column());
	}

	size_t size() const
	{
		return names->size();
	}

	// A dict of the columns; PLACE is the name of places.
	nanobind::dict columns(const Layout &layout, const char *place) const;
};

// How a walk is done, and what it needs from block to block.
struct Walk {
	Walk(const Layout &layout_, const Filter &filter_, nanobind::object prune_)
	    : layout(layout_), filter(filter_), prune(std::move(prune_))
	{
	}

	// Adds the entries of BLOCK, whose directory is at PLACE.
	void add(Entries &entries, ferry_block &block, int64_t place);

	// Asks Python about each directory in BLOCK.  Returns false if that raised something.
	bool ask(Call &call, ferry_block &block);

	const Layout &layout;
	Filter filter;
	nanobind::object prune;

      private:
	std::vector<const struct statx *> stats_; // of a block
};

#endif // ENTRIES_H
