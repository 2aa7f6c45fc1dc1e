# SPDX-License-Identifier: MIT
# Bash completion for ferry(1).

_ferry() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local options="--help"

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "probe run check asm dis --help --version" -- "$word")
		return
	fi
	case $previous in
	-e | --engine)
		mapfile -t COMPREPLY < <(compgen -W "auto loop uring device syscall" -- "$word")
		return
		;;
	esac
	case ${COMP_WORDS[1]} in
	probe | check) options+=" --json" ;;
	run) options+=" --engine --data --json" ;;
	asm | dis) options+=" --output" ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _ferry ferry
