// SPDX-License-Identifier: MIT
// Which entries of a walk are left out: the library's filter, with its patterns.
#ifndef FILTER_H
#define FILTER_H

#include <climits>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <ferry_files.h>

class Filter
{
      public:
	// INCLUDE and EXCLUDE are sequences of bytes; IGNORE_FILE is bytes or None.
	Filter(unsigned int max_depth, bool hide, nanobind::handle include,
	       nanobind::handle exclude, nanobind::handle ignore_file)
	    : max_depth_(max_depth), hide_(hide), include_(texts_of(include)),
	      exclude_(texts_of(exclude))
	{
		if (!ignore_file.is_none())
			ignore_file_ = nanobind::cast<nanobind::bytes>(ignore_file).c_str();
	}

	// To the library 0 is no limit.
	bool is_root_alone() const
	{
		return !max_depth_;
	}

	// ferry_walk_filtered() with this filter
	int walk(int dir, const char *path, unsigned int flags, unsigned int mask,
		 int (*block)(void *, ferry_block *), void *context,
		 const ferry_files_options *options) const
	{
		std::vector<const char *> include = pointers_to(include_),
					  exclude = pointers_to(exclude_);
		ferry_walk_filter filter = {};

		filter.max_depth = max_depth_ == UINT_MAX ? 0 : max_depth_;
		filter.hide = hide_;
		filter.include = include_.empty() ? nullptr : include.data();
		filter.exclude = exclude_.empty() ? nullptr : exclude.data();
		filter.ignore_file = ignore_file_.empty() ? nullptr : ignore_file_.c_str();
		return ferry_walk_filtered(dir, path, flags, mask, &filter, block, context,
					   options);
	}

      private:
	static std::vector<std::string> texts_of(nanobind::handle patterns)
	{
		std::vector<std::string> texts;

		for (nanobind::handle pattern : patterns)
			texts.emplace_back(nanobind::cast<nanobind::bytes>(pattern).c_str());
		return texts;
	}

	static std::vector<const char *> pointers_to(const std::vector<std::string> &texts)
	{
		std::vector<const char *> pointers;

		for (const std::string &text : texts)
			pointers.push_back(text.c_str());
		pointers.push_back(nullptr);
		return pointers;
	}

	unsigned int max_depth_;
	bool hide_;
	std::vector<std::string> include_, exclude_;
	std::string ignore_file_;
};

#endif // FILTER_H
