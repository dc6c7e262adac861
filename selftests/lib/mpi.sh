# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# mpi.sh - runs MPI jobs whose ranks are in the namespaces h1, h2 ... of a fabric.
#
#	. "$here/../lib/progs.sh"
#	. "$here/../lib/mpi.sh"
#	mpi_setup 2                        # when the fabric is there
#	openmpi_ucx 60 mrc_mpi.openmpi 3   # SECS PROGRAM ARG...
#
# The agent that starts a rank takes its host's name for the namespace's. Every host name is
# resolved to the address of the device, so that launchers use it, too. Each rank is told its
# device, because namespaces see the devices of all.

# shellcheck disable=SC2034  # for tests
MPI_PROGS=$MRC_TOP/build/mpi

# Called like ssh: options, a host, a command. MPI would take hosts with the same name for one.
mpi__agent() {
	cat <<-'AGENT'
		#!/bin/bash
		while [[ $1 = -* ]]; do shift; done
		host=$1
		shift
		exec unshare --uts sh -c \
			'hostname "$0"; exec nsenter --net="/run/netns/$0" -- sh -c "$1"' "$host" "$*"
	AGENT
}

# Starts a rank with the device of its host.
mpi__rank() {
	cat <<-RANK
		#!/bin/bash
		read -r dev <"$MRC_DIR/dev.\$(hostname)"
		export UCX_NET_DEVICES=\$dev:1 FI_VERBS_DEVICE_NAME=\$dev
		exec "\$@"
	RANK
}

# mpi_setup HOSTS
mpi_setup() {
	local i
	mpi__agent >"$MRC_DIR/agent"
	mpi__rank >"$MRC_DIR/rank"
	chmod +x "$MRC_DIR/agent" "$MRC_DIR/rank"
	MPI_HOSTS=
	for ((i = 1; i <= $1; i++)); do
		mrc_ibdev h$i || return
		echo "$REPLY" >"$MRC_DIR/dev.h$i"
		echo "10.77.0.$i h$i" >>/etc/hosts
		MPI_HOSTS+=${MPI_HOSTS:+,}h$i
	done
}

# mpi__run SECS COMMAND...: in h1.
mpi__run() {
	local secs=$1 rc=0
	shift
	mrc_start client h1 "$MRC_DIR/agent" h1 "$*"
	"${MRC_MEANWHILE:-:}" || rc=1
	mrc_wait client "$secs" || rc=$?
	[ $rc -eq 0 ] || echo "status $rc: $(mrc_out client 20)"
	return $rc
}

MPI_OPENMPI="mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent $MRC_DIR/agent \
	--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include mrc0 --mca btl self"

# openmpi_ucx SECS PROGRAM [ARG...] / openmpi_ofi: over UCX, over libfabric.
openmpi_ucx() {
	local secs=$1
	shift
	mpi__run "$secs" "$MPI_OPENMPI" --host "$MPI_HOSTS" --mca pml ucx --mca osc ucx \
		-x UCX_TLS=rc,ud,self "$MRC_DIR/rank" "$@"
}

openmpi_ofi() {
	local secs=$1
	shift
	mpi__run "$secs" "$MPI_OPENMPI" --host "$MPI_HOSTS" --mca pml cm --mca mtl ofi --mca osc pt2pt \
		--mca mtl_ofi_provider_include "'verbs;ofi_rxm'" "$MRC_DIR/rank" "$@"
}

# mpich SECS PROGRAM [ARG...]
mpich() {
	local secs=$1
	shift
	mpi__run "$secs" mpirun.mpich -launcher ssh -launcher-exec "$MRC_DIR/agent" -hosts "$MPI_HOSTS" \
		-genv UCX_TLS rc,ud,self "$MRC_DIR/rank" "$@"
}

# mpi_checked COMMAND...: succeeds if the command does, and every rank has checked its results.
mpi_checked() {
	"$@" || return
	grep "all checked" "$MRC_DIR/client.out" || { echo "no verdict: $(mrc_out client)"; return 1; }
}
