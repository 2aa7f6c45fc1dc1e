# SPDX-License-Identifier: MIT
# What people type.  Meson does the building; every target is safe to repeat.

# The pinned tools come first.  Some commands that the lab needs are in sbin.
export PATH := $(CURDIR)/.venv/bin:$(PATH):/usr/sbin:/sbin

# What was compiled in one clone serves another.  Meson looks for ccache itself, but for $CC.
export CCACHE_NOHASHDIR := yes
CLANG = CC='$(CCACHE) clang' CXX='$(CCACHE) clang++'
CCACHE = $(notdir $(shell command -v ccache))
# ccache fails where it cannot make its directory in $HOME.
ifeq ($(CCACHE_DIR)$(shell test -w "$$HOME" && echo writable),)
export CCACHE_DISABLE := yes
endif

C_SOURCES = $(shell find calls include lib common cli compiler measure trace examples tests \( -name '*.[ch]' -o -name '*.cpp' \) -not -path '*/guest-module/*')
PYTHON_SOURCES := calls lib bindings measure report lab tests trace
# Each is checked alone: their modules have the same names.
PYTHON_FOLDERS = calls lib/text bindings/python bindings/python/ferry measure measure/servers report tests trace/bpf \
	$(patsubst %/,%,$(filter-out tests/lab/%,$(sort $(dir $(wildcard tests/*/*.py tests/*/*/*.py)))))
SHELL_SOURCES := setup release debian/build lib/after-install measure/servers/serve.sh tests/step measure/logged .ci/run lab/ferry-lab $(addprefix tests/setup/,cross exercise inside) $(addprefix lab/guests/,init enter foreign in-root initrd) tests/lib/threads/compare tests/kernel/fuzz/measured $(wildcard cli/completion/*.bash)

# Others imitate a kernel, or ask the kernel about an address that cannot be read.
VALGRIND_TESTS := check kernel_calls memory program program_limit text_assemble text_check text_copies \
	text_errors text_manual text_names text_programs

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@echo "make run         builds, measures this machine, and says what it gains"
	@echo "make run-kernel  builds the smallest patched kernel, and shows what ferry gains in it"
	@echo "make check       builds and runs all tests"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: setup-check ## install all that make check needs: packages, and Python packages in .venv

SETUPS := setup-run setup-run-kernel setup-check setup-machines setup-packages
.PHONY: $(SETUPS)
$(SETUPS):
	@./setup $(@:setup-%=%)

SIZE := run
TARGETS := all

# Meson looks for optional parts, such as LLVM's headers, only when it configures: again after
# packages were installed.
INSTALLED = /var/lib/dpkg/status
NOTICE_PACKAGES = test ! $(INSTALLED) -nt build/build.ninja || meson setup --reconfigure build

.PHONY: build
build: setup-$(SIZE) ## build the library, the command, the compiler and the examples
	@test -e build/build.ninja || meson setup build -Dtests=false
	@$(NOTICE_PACKAGES)
	@ninja -C build $(TARGETS)

.PHONY: build-tests
build-tests: setup-check ## build the tests as well
	@test -e build/build.ninja || meson setup build
	@$(NOTICE_PACKAGES)
	@meson configure build -Dtests=true -Dwerror=true
	@meson compile -C build

# clang with AddressSanitizer and UBSan, fuzzers included; char has no sign, as on arm64
build-asan/build.ninja: | setup-check
	$(CLANG) meson setup build-asan -Dwerror=true -Dfuzzers=true \
		-Dc_args=-funsigned-char -Dcpp_args=-funsigned-char \
		-Db_sanitize=address,undefined -Db_lundef=false --buildtype=debug

.PHONY: build-asan
build-asan: build-asan/build.ninja
	@meson compile -C build-asan

# clang with ThreadSanitizer, for flexsc and files; meson test builds there what its tests need
build-tsan/build.ninja: | setup-check
	$(CLANG) meson setup build-tsan -Dwerror=true -Db_sanitize=thread -Db_lundef=false

.PHONY: run
run: ## measure this machine, say what it gains, and make a page of it
	@measure/logged build/set-up.log 'set-up and compilation' $(MAKE) --no-print-directory build TARGETS=run
	@python3 measure/show.py build

.PHONY: run-kernel
run-kernel: ## the same work call by call and with ferry, in the smallest user-mode kernel with the series
	@measure/logged build/set-up.log 'set-up and compilation' $(MAKE) --no-print-directory build SIZE=run-kernel
	@lab/ferry-lab show

.PHONY: python
python: setup-check ## build a wheel and a source distribution of the Python package, in build/wheel
	@rm -rf build/wheel
	@pip wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheel/local ./bindings/python
	@auditwheel repair --wheel-dir build/wheel build/wheel/local/*.whl 2> build/wheel/log
	@cd bindings/python && python3 -c 'import mesonpy; mesonpy.build_sdist("../../build/wheel")' > ../../build/wheel/log
	@rm -r build/wheel/local build/wheel/log
	@ls build/wheel/*

.PHONY: wheels
wheels: python ## wheels also for arm64 and musl, in build/wheels
	@rm -rf build/wheels
	@python3 -m pip install --quiet --disable-pip-version-check ziglang==0.17.1
	@python3 bindings/python/wheels.py build/wheel/*.whl build/wheels

.PHONY: check-wheels
check-wheels: wheels ## run the tests of the Python package with the wheels: in a Python for musl that it builds, and for arm64 in emulation
	@PYTHONPATH=. python3 tests/bindings/wheels.py build/wheels

.PHONY: rust
rust: setup-check ## lay out the Rust crate as it is published, in build/crate
	@bindings/rust/lay-out build/crate
	@cd build/crate && cargo package --quiet --allow-dirty --no-verify --list

.PHONY: kernel
kernel: setup-check ## build the kernels with the patch series: x86-64 6.12 and 7.3, user-mode 7.3
	@lab/ferry-lab build

.PHONY: check-fast
check-fast: build-tests ## the tests that take under a minute
	@meson test -C build --suite fast --print-errorlogs

# What make check takes the time of.  Many tests wait more than they compute: two a CPU.  On a
# busy machine tests take longer than they say, without failing.
STEP = @tests/step build/times
MESON_TEST = meson test --print-errorlogs --timeout-multiplier 4 --num-processes $(shell expr 2 \* $$(nproc))
GUESTS := uml-7.3 x86-6.12 debian-6.12 uml-7.3-tiny

.PHONY: check
check: build-tests ## what CI runs: linters, all tests, sanitizers, a patched kernel
	@rm -f build/times build*/meson-logs/testlog.json build/guest-*.json
	@# Set-up mostly waits for downloads.
	$(STEP) 'set-up in minimal roots, lint, build with sanitizers' \
		$(MAKE) --no-print-directory --jobs=3 --output-sync=line \
		check-setup-12 check-setup-13 lint build-asan build-tsan/build.ninja
	$(STEP) 'tests on this machine' $(MESON_TEST) -C build --suite fast --suite check
	$(STEP) 'tests with AddressSanitizer' $(MESON_TEST) -C build-asan --suite fast --suite check --suite fuzz
	@# Without a name, which is '*' here, meson test would build all of it.
	$(STEP) 'tests with ThreadSanitizer' $(MESON_TEST) -C build-tsan --suite flexsc --suite files '*'
	@# The longest first; and as many as there are CPUs: a guest without one takes long.
	$(STEP) 'guests $(GUESTS), tutorials, style of the series' \
		$(MAKE) --no-print-directory --jobs=$$(nproc) $(GUESTS:%=check-guest-%) check-tutorials check-show check-style
	@python3 tests/summary.py build/times build build-asan build-tsan \
		$(GUESTS:%=build/guest-%.json)

.PHONY: check-tutorials check-show check-style
check-guest-%: build-tests
	@lab/ferry-lab test $* --json build/guest-$*.json

check-tutorials: build-tests
	@FERRY_GUESTS=yes FERRY_BUILD=build python3 -m pytest -q -p no:cacheprovider tests/docs/test_tutorials.py

check-show: build-tests
	@lab/ferry-lab show

check-style: setup-check
	@lab/ferry-lab style
	@FERRY_SOURCES=yes python3 -m pytest -q -p no:cacheprovider tests/calls/test_sources.py

.PHONY: check-machines
check-machines: setup-machines ## the tests of kernels for other machines, in emulation
	@lab/ferry-lab test arm64-7.3 debian-arm64-6.12 riscv64-7.3

REPEAT := 100

.PHONY: check-races
check-races: build-tsan/build.ninja ## the tests of many files and of prefault with ThreadSanitizer, REPEAT=100 times each
	@$(MESON_TEST) -C build-tsan --suite files --repeat $(REPEAT) '*'

.PHONY: check-full
check-full: check check-races check-packages check-wheels check-machines ## long random runs, races, long fuzzing, valgrind, the Debian packages, the wheels
	@meson test -C build --suite full --print-errorlogs
	@meson test -C build --wrapper 'valgrind --error-exitcode=9 --leak-check=full -q' \
		--timeout-multiplier 20 --print-errorlogs $(VALGRIND_TESTS)
	@meson test -C build-asan --suite full --print-errorlogs
	@lab/ferry-lab test --full x86-6.12 x86-7.3 uml-7.3 debian-6.1 debian-6.12 uml-7.3-debug x86-6.12-debug x86-6.12-kcsan \
		uml-7.3-kcov x86-7.3-kcov

RELEASE := 12 13
STEPS := run check

.PHONY: check-fresh
check-fresh: setup-check ## make run and make check in minimal roots; RELEASE="12 13" STEPS="run check"
	@PYTHONPATH=. python3 tests/setup/fresh.py --release $(RELEASE) --steps $(STEPS)

.PHONY: check-setup check-setup-12 check-setup-13
check-setup: check-setup-12 check-setup-13 ## check set-up itself: its packages exist, and suffice to build in a minimal root
check-setup-12: SETUP_STEPS := names install module
check-setup-13: SETUP_STEPS := names install compilers
check-setup-12 check-setup-13: setup-check
ifdef FERRY_FRESH
	@echo "$@: skipped, because this is such a root"
else ifneq ($(shell id -u),0)
	@echo "$@: skipped, because it needs root"
else ifneq ($(shell unshare --mount --pid --fork true 2>/dev/null && echo possible),possible)
	@echo "$@: skipped, because this machine allows no mount namespaces"
else
	@PYTHONPATH=. python3 tests/setup/fresh.py --release $(@:check-setup-%=%) --steps $(SETUP_STEPS)
endif

.PHONY: check-packages
check-packages: packages packages-arm64 setup-check ## check the packages: install and use them in minimal roots; RELEASE="12 13"
	@PYTHONPATH=. python3 tests/setup/packages.py --release $(RELEASE)

.PHONY: lint
lint: build-tests ## formatting, clang-tidy, ruff, mypy, shellcheck, manual pages
	@clang-format --dry-run -Werror $(C_SOURCES)
	ruff check --quiet $(PYTHON_SOURCES)
	ruff format --check --quiet $(PYTHON_SOURCES)
	mypy --no-error-summary lab
	mypy --no-error-summary $(wildcard tests/lab/*.py tests/lab/*/*.py)
	@echo "mypy in each folder ..."
	@printf '%s\n' $(PYTHON_FOLDERS) | xargs -P 2 -I FOLDER sh -c 'mypy --no-error-summary FOLDER/*.py'
	shellcheck $(SHELL_SOURCES)
	mandoc -Tlint -Wwarning man/*.[1-9] > /dev/null
	@echo "clang-tidy ..."
	@PYTHONPATH=. python3 tests/tidy.py build

.PHONY: format
format: setup-check ## rewrite the sources in the project's format
	@clang-format -i $(C_SOURCES)
	ruff check --fix --quiet $(PYTHON_SOURCES)
	ruff format --quiet $(PYTHON_SOURCES)

.PHONY: bench
bench: build ## the loop's cost, io_uring beside the loop, and mdu against du
	@build/cli/ferry bench dispatch
	@build/cli/ferry bench batch --engine loop --beside uring,uring-linked --call write,read,pread,pread_page --sizes 16,32,64,128,256,1024
	@build/cli/ferry bench apps --app mdu --engine loop --directory /usr

.PHONY: packages
packages: setup-packages ## build the Debian packages, in build/packages
	@debian/build

.PHONY: packages-arm64
packages-arm64: setup-packages setup-check ## the same for arm64, in build/packages-arm64; needs root
	@PYTHONPATH=. python3 tests/setup/cross.py

.PHONY: release
release: setup-check ## check version, changelog and tests, and make archives with checksums in build/release; RESULTS=DIR: also of documents
	@./release $(RESULTS)

PREFIX := /usr/local
# Meson asks dpkg-dev, which a build does not need, where the loader looks.  The compiler knows it,
# too, but may be installed only by ./setup: ask late.
LIBDIR = $(patsubst %,lib/%,$(shell $(CC) -print-multiarch 2>/dev/null))

.PHONY: install
install: build ## install under PREFIX, /usr/local unless given, within DESTDIR if that is given
	@meson configure build -Dprefix=$(abspath $(PREFIX)) $(LIBDIR:%=-Dlibdir=%)
	@meson compile -C build
	meson install -C build --no-rebuild --quiet

.PHONY: clean
clean: ## remove what was built; .venv stays
	rm -rf build build-asan build-tsan
