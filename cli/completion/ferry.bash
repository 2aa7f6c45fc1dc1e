# SPDX-License-Identifier: MIT
# Bash completion for ferry(1) and ferry-lab(1): the commands themselves know what may follow.

_ferry() {
	local word=${COMP_WORDS[COMP_CWORD]} known

	known=$("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
	if [[ $known ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$known" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _ferry ferry ferry-lab
