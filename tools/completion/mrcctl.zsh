#compdef mrcctl
# SPDX-License-Identifier: GPL-2.0
# zsh completion for mrcctl(8): the program knows its own words.

local -a candidates
candidates=("${(@f)$(mrcctl __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
compadd -- "${(@)candidates:#}"
