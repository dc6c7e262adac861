# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# steps.sh - how the demonstration tells how far it is: "[7/12]  2:31  fabric  ...".

STEPS=${STEPS:-12}
export MRC_DEMO_BEGAN=${MRC_DEMO_BEGAN:-$EPOCHSECONDS}
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${NO_COLOR:-}" ]; then
	export MRC_DEMO_COLOUR=1
fi

paint() {	# CODE TEXT
	if [ -n "${MRC_DEMO_COLOUR:-}" ]; then
		printf '\033[%sm%s\033[0m' "$1" "$2"
	else
		printf '%s' "$2"
	fi
}

# Since "make demo" was typed.
elapsed() {
	local s=$((EPOCHSECONDS - MRC_DEMO_BEGAN))
	printf '%d:%02d' $((s / 60)) $((s % 60))
}

# step NUMBER NAME TEXT: what has just been reached.
step() {
	printf '  %s %5s  %-9s %s\n' "$(paint '1;32' "$(printf '%7s' "[$1/$STEPS]")")" "$(elapsed)" "$2" "$3"
}

# still NAME TEXT: what is being waited for.
still() { printf '  %7s %5s  %-9s %s\n' ".." "$(elapsed)" "$1" "$2"; }
