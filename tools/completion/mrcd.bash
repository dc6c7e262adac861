# SPDX-License-Identifier: GPL-2.0
# bash completion for mrcd(8): its options from --help.

_mrcd()
{
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	case $before in
	--probe) mapfile -t COMPREPLY < <(compgen -W "off slow normal fast" -- "$cur");;
	--probe-mode) mapfile -t COMPREPLY < <(compgen -W "observe advise act" -- "$cur");;
	-c | --config | --check | --*-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(mrcd --help 2>/dev/null | sed -nE 's/^ +(-.,)?(--[a-z-]+).*/\2/p')" -- "$cur");;
	esac
}
complete -F _mrcd mrcd
