#compdef ferry ferry-lab
# SPDX-License-Identifier: MIT
# Zsh completion for ferry(1) and ferry-lab(1): the commands themselves know what may follow.

local -a known
known=(${(f)"$($words[1] --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
if (( $#known )); then
	known=("${(@)known//:/\\:}")
	known=("${(@)known/$'\t'/:}")
	_describe $words[1] known
else
	_files
fi
