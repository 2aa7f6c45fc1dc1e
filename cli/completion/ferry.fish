# SPDX-License-Identifier: MIT
# Fish completion for ferry(1): the command itself knows what may follow.

function __ferry_known
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l known (ferry --complete $before[2..-1] "$word" 2>/dev/null)
    if set -q known[1]
        printf '%s\n' $known
    else
        __fish_complete_path "$word"
    end
end

complete -c ferry -f -a '(__ferry_known)'
