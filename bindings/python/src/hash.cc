// SPDX-License-Identifier: MIT
#include "hash.h"

#include <stdexcept>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "gil.h"

namespace nb = nanobind;

namespace
{

// A shared library that stays open, or none.
void *open_library(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

// Returns false where LIBRARY has no such function.
template <typename F> bool find(void *library, const char *name, F *&function)
{
	function = library ? reinterpret_cast<F *>(dlsym(library, name)) : nullptr;
	return function;
}

// ---- SHA-256 of OpenSSL ----

// The declarations are OpenSSL's, from 1.1 to 3.
struct OpenSsl {
	void *(*new_context)();
	void (*free_context)(void *context);
	const void *(*sha256)();
	int (*init)(void *context, const void *type, void *engine);
	int (*update)(void *context, const void *data, size_t size);
	int (*final)(void *context, unsigned char *digest, unsigned int *size);
};

class Sha256 : public Hash
{
      public:
	explicit Sha256(const OpenSsl &openssl) : openssl_(openssl), context_(openssl.new_context())
	{
		if (!context_)
			throw std::bad_alloc();
	}

	Sha256(const Sha256 &) = delete;
	Sha256 &operator=(const Sha256 &) = delete;

	~Sha256() override
	{
		openssl_.free_context(context_);
	}

	// The type is looked up once: a context that has one begins again for less.
	void begin() override
	{
		must(openssl_.init(context_, known_ ? nullptr : openssl_.sha256(), nullptr));
		known_ = true;
	}

	void add(const void *data, size_t size) override
	{
		must(openssl_.update(context_, data, size));
	}

	std::string end() override
	{
		unsigned char digest[64]; // EVP_MAX_MD_SIZE
		unsigned int size;

		must(openssl_.final(context_, digest, &size));
		return { reinterpret_cast<char *>(digest), size };
	}

      private:
	static void must(int succeeded)
	{
		if (!succeeded)
			throw std::runtime_error("OpenSSL cannot compute SHA-256");
	}

	const OpenSsl &openssl_;
	void *context_;
	bool known_ = false;
};

class Sha256Function : public HashFunction
{
      public:
	bool load(void *library)
	{
		return find(library, "EVP_MD_CTX_new", openssl_.new_context) &&
		       find(library, "EVP_MD_CTX_free", openssl_.free_context) &&
		       find(library, "EVP_sha256", openssl_.sha256) &&
		       find(library, "EVP_DigestInit_ex", openssl_.init) &&
		       find(library, "EVP_DigestUpdate", openssl_.update) &&
		       find(library, "EVP_DigestFinal_ex", openssl_.final);
	}

	std::unique_ptr<Hash> make() const override
	{
		return std::make_unique<Sha256>(openssl_);
	}

      private:
	OpenSsl openssl_;
};

// The library that hashlib uses, or another of the system.
std::unique_ptr<HashFunction> find_sha256()
{
	auto function = std::make_unique<Sha256Function>();
	nb::object hashlib = nb::steal(PyImport_ImportModule("_hashlib"));

	PyErr_Clear();
	if (hashlib && nb::hasattr(hashlib, "__file__")) {
		auto file = nb::cast<std::string>(hashlib.attr("__file__"));

		if (function->load(open_library(file.c_str())))
			return function;
	}
	for (const char *name : { "libcrypto.so.3", "libcrypto.so.1.1" })
		if (function->load(open_library(name)))
			return function;
	return nullptr;
}

// ---- XXH3, 64 bits, of libxxhash ----

struct XxHash {
	void *(*new_state)();
	int (*free_state)(void *state);
	int (*reset)(void *state);
	int (*update)(void *state, const void *data, size_t size);
	uint64_t (*digest)(const void *state);
};

class Xxh3 : public Hash
{
      public:
	explicit Xxh3(const XxHash &xxhash) : xxhash_(xxhash), state_(xxhash.new_state())
	{
		if (!state_)
			throw std::bad_alloc();
	}

	Xxh3(const Xxh3 &) = delete;
	Xxh3 &operator=(const Xxh3 &) = delete;

	~Xxh3() override
	{
		xxhash_.free_state(state_);
	}

	void begin() override
	{
		xxhash_.reset(state_);
	}

	void add(const void *data, size_t size) override
	{
		xxhash_.update(state_, data, size);
	}

	// In the order of bytes that xxhash defines
	std::string end() override
	{
		uint64_t value = __builtin_bswap64(xxhash_.digest(state_));

		return { reinterpret_cast<char *>(&value), sizeof(value) };
	}

      private:
	const XxHash &xxhash_;
	void *state_;
};

class Xxh3Function : public HashFunction
{
      public:
	bool load(void *library)
	{
		return find(library, "XXH3_createState", xxhash_.new_state) &&
		       find(library, "XXH3_freeState", xxhash_.free_state) &&
		       find(library, "XXH3_64bits_reset", xxhash_.reset) &&
		       find(library, "XXH3_64bits_update", xxhash_.update) &&
		       find(library, "XXH3_64bits_digest", xxhash_.digest);
	}

	std::unique_ptr<Hash> make() const override
	{
		return std::make_unique<Xxh3>(xxhash_);
	}

      private:
	XxHash xxhash_;
};

std::unique_ptr<HashFunction> find_xxh3()
{
	auto function = std::make_unique<Xxh3Function>();

	return function->load(open_library("libxxhash.so.0")) ? std::move(function) : nullptr;
}

// ---- a Python package ----

// Takes the GIL for each piece.  The packages let go of it for all but short ones.
class PythonHash : public Hash
{
      public:
	explicit PythonHash(nb::handle factory) : factory_(factory)
	{
	}

	PythonHash(const PythonHash &) = delete;
	PythonHash &operator=(const PythonHash &) = delete;

	~PythonHash() override
	{
		WithGil gil;

		hash_.reset();
	}

	void begin() override
	{
		run([this] { hash_ = factory_(); });
	}

	void add(const void *data, size_t size) override
	{
		run([&] {
			hash_.attr("update")(nb::steal(PyMemoryView_FromMemory(
				const_cast<char *>(static_cast<const char *>(data)),
				static_cast<Py_ssize_t>(size), PyBUF_READ)));
		});
	}

	std::string end() override
	{
		std::string digest;

		run([&] {
			nb::bytes bytes(hash_.attr("digest")());
			digest.assign(bytes.c_str(), bytes.size());
		});
		return digest;
	}

      private:
	// An exception must not leave the GIL's scope as Python's.
	template <typename F> static void run(F function)
	{
		WithGil gil;
		std::string failure;

		stay_at_the_end([&] {
			try {
				function();
			} catch (const nb::python_error &error) {
				failure = error.what();
			}
		});
		if (!failure.empty())
			throw std::runtime_error(failure);
	}

	nb::handle factory_;
	nb::object hash_;
};

class PythonFunction : public HashFunction
{
      public:
	explicit PythonFunction(nb::object factory) : factory_(std::move(factory))
	{
	}

	std::unique_ptr<Hash> make() const override
	{
		return std::make_unique<PythonHash>(factory_);
	}

      private:
	nb::object factory_;
};

std::unique_ptr<HashFunction> find_in_python(const char *module, const char *factory)
{
	nb::object found = nb::steal(PyImport_ImportModule(module));

	if (found)
		return std::make_unique<PythonFunction>(found.attr(factory));
	if (!PyErr_ExceptionMatches(PyExc_ImportError))
		throw nb::python_error();
	PyErr_Clear();
	return nullptr;
}

struct Known {
	const char *name;
	std::unique_ptr<HashFunction> (*in_library)();
	const char *module, *factory; // of a Python package
	const char *needs;
};

std::unique_ptr<HashFunction> nowhere()
{
	return nullptr;
}

const Known KNOWN[] = {
	{ "sha256", find_sha256, "hashlib", "sha256", "hashlib" },
	{ "xxh3", find_xxh3, "xxhash", "xxh3_64",
	  "libxxhash.so.0, or the Python package xxhash: pip install xxhash" },
	{ "blake3", nowhere, "blake3", "blake3", "the Python package blake3: pip install blake3" },
};

} // namespace

std::unique_ptr<HashFunction> find_hash(const std::string &name)
{
	std::string names;

	for (const Known &known : KNOWN) {
		names += (names.empty() ? "" : ", ") + std::string(known.name);
		if (name != known.name)
			continue;
		auto function = known.in_library();
		if (!function)
			function = find_in_python(known.module, known.factory);
		if (!function)
			throw nb::import_error((name + " needs " + known.needs).c_str());
		return function;
	}
	throw nb::value_error(("there is no hash " + name + "; there are " + names).c_str());
}
