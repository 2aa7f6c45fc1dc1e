// SPDX-License-Identifier: MIT
#include "entries.h"

#include <dirent.h>

#include <nanobind/stl/shared_ptr.h>

namespace nb = nanobind;

nb::dict Entries::columns(const Layout &layout, const char *place) const
{
	nb::dict columns;

	columns["name"] = nb::cast(names);
	columns[place] = nb::cast(places);
	columns["depth"] = nb::cast(depths);
	columns["type"] = nb::cast(types);
	columns["error"] = nb::cast(errors);
	for (size_t i = 0; i < fields.size(); i++)
		columns[layout.places()[i].field->name] = nb::cast(fields[i]);
	return columns;
}

void Walk::add(Entries &entries, ferry_block &block, int64_t place)
{
	stats_.clear();
	for (size_t i = 0; i < block.count; i++) {
		ferry_walk_entry &entry = block.entries[i];

		entry.prune = !block.depth && filter.is_root_alone();
		stats_.push_back(entry.stat);
		// A directory's context is its row and 1; the root's block has none.
		entry.context = reinterpret_cast<void *>(entries.size() + 1);
		entries.names->add(entry.name);
		entries.places->push(place);
		entries.depths->push(static_cast<uint32_t>(block.depth));
		entries.types->push(static_cast<uint8_t>(entry.type));
		entries.errors->push(static_cast<int32_t>(-entry.error));
	}
	for (size_t i = 0; i < entries.fields.size(); i++) {
		const Field &field = *layout.places()[i].field;

		field.store(stats_.data(), stats_.size(),
			    entries.fields[i]->add(stats_.size() * field.size), field.size);
	}
}

bool Walk::ask(Call &call, ferry_block &block)
{
	if (prune.is_none())
		return true;
	return call.with_gil([&] {
		for (size_t i = 0; i < block.count; i++) {
			ferry_walk_entry &entry = block.entries[i];

			if (entry.type == DT_DIR && !entry.prune)
				entry.prune = nb::cast<bool>(nb::bool_(prune(decode(
					join({ block.path, block.path_length }, entry.name)))));
		}
	});
}
