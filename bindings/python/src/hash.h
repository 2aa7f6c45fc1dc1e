// SPDX-License-Identifier: MIT
// Hash functions of shared libraries, or of Python packages.
#ifndef HASH_H
#define HASH_H

#include <cstddef>
#include <memory>
#include <string>

// The state of a hash of one file after the other.  Used by one thread at a time, without the GIL.
class Hash
{
      public:
	virtual ~Hash() = default;
	virtual void begin() = 0;
	virtual void add(const void *data, size_t size) = 0;

	// The digest of all that was added since begin().
	virtual std::string end() = 0;
};

// Makes states of one function.
class HashFunction
{
      public:
	virtual ~HashFunction() = default;
	virtual std::unique_ptr<Hash> make() const = 0;
};

// NAME is sha256, xxh3 or blake3.  With the GIL; raises ImportError for one that this machine
// lacks.
std::unique_ptr<HashFunction> find_hash(const std::string &name);

#endif // HASH_H
