#compdef mrcd
# SPDX-License-Identifier: GPL-2.0
# zsh completion for mrcd(8): its options from --help.

local -a known
case ${words[CURRENT-1]} in
--probe) compadd off slow normal fast;;
--probe-mode) compadd observe advise act;;
-c | --config | --check | --*-file) _files;;
*)
	known=("${(@f)$(mrcd --help 2>/dev/null | sed -nE 's/^ +(-.,)?(--[a-z-]+).*/\2/p')}")
	compadd -- "${(@)known:#}";;
esac
