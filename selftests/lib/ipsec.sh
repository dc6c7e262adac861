# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ipsec.sh - IPsec policies and keys for MRC packets between h1 and h2, a plane on top of MACsec, and captures of a cable.

ipsec_addr() {	# HOST v6|v4: REPLY
	case $2 in
	v6) fabric_host_addr "${1#h}";;
	v4) REPLY=10.77.0.${1#h};;
	esac
}

# ipsec_way HOST out|in v6|v4: REPLY is "src ADDRESS dst ADDRESS" of such packets.
ipsec_way() {
	local own peer
	ipsec_addr "$1" "$3" && own=$REPLY
	ipsec_addr "h$((3 - ${1#h}))" "$3" && peer=$REPLY
	case $2 in
	out) REPLY="src $own dst $peer";;
	in) REPLY="src $peer dst $own";;
	esac
}

# ipsec_policy HOST out|in v6|v4 [WORDS...]: for MRC packets; by default that ESP protects them.
ipsec_policy() {
	local host=$1 dir=$2 words=("${@:4}") REPLY
	ipsec_way "$host" "$dir" "$3"
	[ ${#words[@]} -gt 0 ] || words=(tmpl proto esp mode transport)
	# shellcheck disable=SC2086
	ip -n "$host" xfrm policy add dir "$dir" $REPLY proto udp dport 4791 "${words[@]}"
}

# ipsec_key HOST out|in v6|v4 [MODE]: adds the key, which is the same at both ends.
ipsec_key() {
	local REPLY
	ipsec_way "$1" "$2" "$3"
	# shellcheck disable=SC2086
	ip -n "$1" xfrm state add $REPLY proto esp spi 0x1234 mode "${4:-transport}" \
		aead "rfc4106(gcm(aes))" 0x0102030405060708090a0b0c0d0e0f1011121314 128
}

# ipsec_on HOST v6|v4...
ipsec_on() {
	local family dir
	for family in "${@:2}"; do
		for dir in out in; do
			ipsec_key "$1" $dir "$family" && ipsec_policy "$1" $dir "$family" || return
		done
	done
}

ipsec_off() { ip -n "$1" xfrm policy flush && ip -n "$1" xfrm state flush; }

# ipsec_watch HOST PORT: counts the packets received there: MRC in clear, ESP and MACsec.
ipsec_watch() {
	fabric_in "$1" nft -f - <<-RULES
		table netdev watch {
			counter seen_clear { }
			counter seen_esp { }
			counter seen_macsec { }
			chain in {
				type filter hook ingress device "$2" priority 0; policy accept;
				meta l4proto udp udp dport 4791 counter name seen_clear
				meta l4proto esp counter name seen_esp
				ether type 0x88e5 counter name seen_macsec
			}
		}
	RULES
}
# ipsec_seen HOST clear|esp|macsec: REPLY packets.
ipsec_seen() { REPLY=$(fabric_in "$1" nft -j list counter netdev watch "seen_$2" | jq '.nftables[] | .counter? // empty | .packets'); }
ipsec_seen_more() { ipsec_seen "$1" "$2" && echo "$2: $REPLY, was $3" && [ "$REPLY" -gt "$3" ]; }

# ------------------------------------------------------------------ MACsec

macsec_mac() { ip -n "$1" -j link show eth1 | jq -r ".[0].address"; }	# HOST

# macsec_host HOST PEER: a MACsec device on top of eth1, with a key for each direction, becomes its plane.
macsec_host() {
	local mac i=${1#h} j=${2#h} key=00112233445566778899aabbccddee0
	mac=$(macsec_mac "$2")
	ip -n "$1" -b - <<-BATCH || return
		link set lo up
		link set eth1 up
		link add link eth1 macsec0 type macsec port 1 encrypt on validate strict replay on window 64
		macsec add macsec0 tx sa 0 pn 1 on key 0$i $key$i
		macsec add macsec0 rx port 1 address $mac
		macsec add macsec0 rx port 1 address $mac sa 0 pn 1 on key 0$j $key$j
		link set macsec0 up
		address add fd00:6d72:63::$i/64 dev macsec0 nodad
		address add 10.77.0.$i/24 dev macsec0
	BATCH
	fabric_in "$1" rdma link add "mrc$i" type mrc netdev macsec0
}
# macsec_plane: as mrc_one_plane, on top of MACsec.
macsec_plane() { mrc_cable && macsec_host h1 h2 && macsec_host h2 h1 && mrc_wait_devices && mrc_neighbours; }
