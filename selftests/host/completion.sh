#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion of mrcctl and mrcd, as bash, zsh and fish ask for it. A shell that is not here is skipped.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$here/../..
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
PATH=$top/build/tools:$top/build/daemon:$PATH
files=$top/tools/completion
make -s -C "$top" tools/mrcctl daemon >/dev/null 2>&1 || ksft_fail "mrcctl and mrcd build" "see make"

# Each prints the candidates for the last word of LINE.
ask_bash() {
	local program=${1%% *}
	# shellcheck disable=SC2016
	bash -c '. "$1"; COMP_LINE=$2; COMP_POINT=${#2}; read -ra COMP_WORDS <<<"$2"; [[ $2 != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; "_$3"; printf "%s\n" "${COMPREPLY[@]}"' _ "$files/$program.bash" "$1" "$program"
}
ask_zsh() {
	# shellcheck disable=SC2016
	zsh -fc 'words=("${(@s: :)2}"); CURRENT=$#words; _files() { ls }; compadd() { [[ $1 != -- ]] || shift; print -l -- "${(@M)@:#${words[CURRENT]}*}" }
		. "$1"' _ "$files/${1%% *}.zsh" "$1"
}
ask_fish() {
	# shellcheck disable=SC2016
	fish --no-config -c 'source $argv[1]; complete -C$argv[2]' "$files/${1%% *}.fish" "$1" | cut -f 1
}

# offers SHELL LINE WORD...: among the candidates.
offers() {
	local shell=$1 line=$2 word out
	shift 2
	out=$("ask_$shell" "$line")
	for word; do
		grep -qxF -- "$word" <<<"$out" || { echo "$line: no $word in: $out"; return 1; }
	done
}
# only SHELL LINE WORD: the one candidate.
only() { [ "$("ask_$1" "$2")" = "$3" ] || { "ask_$1" "$2"; return 1; }; }

for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		ksft_skip "$shell" "is not installed"
		continue
	fi
	ksft_test "$shell: a command begun" only $shell "mrcctl fabric dra" drain
	ksft_test "$shell: all verbs" offers $shell "mrcctl fabric " check drain export precheck
	ksft_test "$shell: values" offers $shell "mrcctl fabric show as " svg text
	ksft_test "$shell: options of mrcd" offers $shell "mrcd --probe" --probe --probe-mode --probe-file
	ksft_test "$shell: their values" only $shell "mrcd --probe-mode adv" advise
	ksft_test "$shell: all of them" offers $shell "mrcd --probe " off slow normal fast
done
ksft_finish
