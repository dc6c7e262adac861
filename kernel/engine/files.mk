# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The engine's object list: included by Kbuild, the tests and the simulator.
MRC_ENGINE_OBJS := mrc_wire.o mrc_deth.o mrc_ev.o mrc_plane.o mrc_share.o mrc_suspect.o mrc_blame.o mrc_credit.o \
	mrc_rot.o mrc_flowlet.o mrc_probe.o mrc_verify.o mrc_miss.o mrc_updown.o mrc_evgen.o mrc_entropy.o mrc_udp.o mrc_crc.o mrc_rcv.o \
	mrc_rx.o mrc_defer.o mrc_mpr.o mrc_exec.o mrc_msg.o mrc_tx.o mrc_snd.o mrc_rtt.o mrc_latest.o \
	mrc_resent.o mrc_room.o mrc_rack.o mrc_pto.o mrc_budget.o mrc_rnr.o mrc_sleek.o mrc_ack.o mrc_sack.o mrc_ctl.o mrc_cc.o \
	mrc_cc_fixed.o mrc_nscc_cfg.o mrc_nscc.o mrc_incast.o mrc_ask.o mrc_port.o mrc_damp.o mrc_conn.o
