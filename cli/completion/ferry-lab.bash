# SPDX-License-Identifier: MIT
# Bash completion for ferry-lab(1).

_ferry_lab() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local options="--help" words="" kernel
	local targets="debian-6.1 debian-6.12"

	for kernel in x86-6.12 x86-7.3 uml-7.3; do
		targets+=" $kernel $kernel-base $kernel-debug"
	done
	if ((COMP_CWORD == 1)); then
		words="fetch build boot shell test bench series new-call style clean"
		mapfile -t COMPREPLY < <(compgen -W "$words --help" -- "$word")
		return
	fi
	case $previous in
	-w | --writable | -o | --output | --build | -p | --patch)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return
		;;
	--json)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac
	case ${COMP_WORDS[1]} in
	fetch) words="6.12 7.3" options+=" --list" ;;
	series) words="6.12 7.3" options+=" --output --author --draft" ;;
	build) words=$targets options+=" --patch --no-series --jobs" ;;
	boot)
		words="$targets --"
		options+=" --patch --no-series --cpus --memory --timeout --icount --writable --kernel --qemu"
		;;
	shell) words=$targets options+=" --patch --no-series --cpus --memory" ;;
	test) words=$targets options+=" --patch --no-series --full --only --record --json --build" ;;
	bench) options+=" --json --build" ;;
	new-call) options+=" --number --output" ;;
	style) options+=" --patch" ;;
	esac
	if [[ $word == -* ]]; then
		words=$options
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o filenames -F _ferry_lab ferry-lab
