# SPDX-License-Identifier: GPL-2.0
# fish completion for mrcd(8): its options from --help.

function __mrcd_options
    mrcd --help 2>/dev/null | string replace -rf '^ +(?:-.,)?(--[a-z-]+).*' '$1'
end
complete -c mrcd -f -a '(__mrcd_options)'
complete -c mrcd -l probe -x -a 'off slow normal fast'
complete -c mrcd -l probe-mode -x -a 'observe advise act'
for file in config check event-file probe-file ready-file
    complete -c mrcd -l $file -rF
end
