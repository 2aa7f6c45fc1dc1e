# SPDX-License-Identifier: MIT
# Bash completion for ferry(1).

# Completes the last of a list with commas.
_ferry_list() {
	local word=$1 before=""

	[[ $word == *,* ]] && before=${word%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "${word##*,}")
}

_ferry() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local options="--help"

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "probe run check bench report --help --version" -- "$word")
		return
	fi
	case $previous in
	-e | --engine)
		_ferry_list "$word" "auto loop uring device syscall"
		return
		;;
	-c | --call)
		_ferry_list "$word" "unimplemented getppid read write fstat lstat statx"
		return
		;;
	esac
	case ${COMP_WORDS[1]} in
	probe | check) options+=" --json" ;;
	run) options+=" --engine --data --json" ;;
	bench)
		options+=" --trials --warmup --calls --engine --call --program --sizes --slots --pairs"
		options+=" --threads --runners --work --memory --directory --examples --cpu --seed --json --csv --against"
		;;
	report) options+=" --output" ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
	elif [[ ${COMP_WORDS[1]} == bench ]] && ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "crossing batch dispatch chain apps flexsc pagefault" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _ferry ferry
