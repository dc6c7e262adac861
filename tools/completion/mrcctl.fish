# SPDX-License-Identifier: GPL-2.0
# fish completion for mrcctl(8): the program knows its own words.

function __mrcctl_words
    set -l words (commandline -opc)
    mrcctl __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c mrcctl -f -a '(__mrcctl_words)'
