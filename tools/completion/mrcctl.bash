# SPDX-License-Identifier: GPL-2.0
# bash completion for mrcctl(8): the program knows its own words.

_mrcctl()
{
	local line=${COMP_LINE:0:COMP_POINT} cur='' words
	# Not COMP_WORDS: it breaks IPv6 addresses at each colon.
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	cur=${words[-1]}
	mapfile -t COMPREPLY < <(mrcctl __complete "${words[@]:1}" 2>/dev/null)
	# readline replaces only what stands behind the last colon
	if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${cur%:*}":}")
	fi
}
complete -F _mrcctl mrcctl
