# SPDX-License-Identifier: MIT
# Bash completion for ferry(1).

# Completes the last of a list with commas.
_ferry_list() {
	local word=$1 before=""

	[[ $word == *,* ]] && before=${word%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "${word##*,}")
}

# The command itself knows its benches, their options, and what these may be.
_ferry_bench() {
	local word=$1 previous=$2 bench=${COMP_WORDS[2]} values=""

	if ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "$(ferry bench --complete)" -- "$word")
		return
	fi
	[[ $bench == -* ]] && bench=any
	[[ $previous == --* ]] && values=$(ferry bench --complete "$bench" "$previous")
	if [[ -n $values ]]; then
		_ferry_list "$word" "$values"
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(ferry bench --complete "$bench")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

_ferry() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local options="--help"

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "probe run check bench report du trace --help --version" -- "$word")
		return
	fi
	if [[ ${COMP_WORDS[1]} == bench ]]; then
		_ferry_bench "$word" "$previous"
		return
	fi
	case $previous in
	-e | --engine)
		_ferry_list "$word" "auto loop uring device syscall"
		return
		;;
	--sort)
		_ferry_list "$word" "name size"
		return
		;;
	esac
	case ${COMP_WORDS[1]} in
	probe | check) options+=" --json" ;;
	run) options+=" --engine --data --json" ;;
	report) options+=" --output" ;;
	trace) options+=" --pid --once --output --json --program --c" ;;
	du)
		options+=" --all --apparent-size --bytes --max-depth --human-readable --json"
		options+=" --count-links --summarize --one-file-system --null --exclude --sort"
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _ferry ferry
