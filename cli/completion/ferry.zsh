#compdef ferry
# SPDX-License-Identifier: MIT
# Zsh completion for ferry(1): the command itself knows what may follow.

local -a known
known=(${(f)"$(ferry --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
if (( $#known )); then
	known=("${(@)known//:/\\:}")
	known=("${(@)known/$'\t'/:}")
	_describe 'ferry' known
else
	_files
fi
