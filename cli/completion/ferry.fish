# SPDX-License-Identifier: MIT
# Fish completion for ferry(1) and ferry-lab(1): the commands themselves know what may follow.

function __ferry_known
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l known ($before[1] --complete $before[2..-1] "$word" 2>/dev/null)
    if set -q known[1]
        printf '%s\n' $known
    else
        __fish_complete_path "$word"
    end
end

complete -c ferry -c ferry-lab -f -a '(__ferry_known)'
