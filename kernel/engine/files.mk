# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The engine's objects, lowest first: included by Kbuild, the tests and the simulator. The order is the law:
# a folder calls folders above it in this list, a file calls files before it (selftests/engine/test_arrows.py).
# Headers without a .c lie below the files of their folder.
MRC_ENGINE_ROOMS := base wire peer probe cc clock paths sent loss stream control conn
MRC_ENGINE_OBJS :=
MRC_ENGINE_OBJS += $(addprefix wire/,mrc_wire.o mrc_deth.o mrc_entropy.o mrc_evgen.o mrc_selfmsg.o)
MRC_ENGINE_OBJS += $(addprefix peer/,mrc_ep_req.o mrc_down_check.o mrc_port.o mrc_damp.o mrc_incast.o mrc_udp.o mrc_crc.o mrc_dup.o mrc_history.o)
MRC_ENGINE_OBJS += $(addprefix probe/,mrc_selfprobe.o mrc_prober.o)
MRC_ENGINE_OBJS += $(addprefix cc/,mrc_cc.o mrc_cc_fixed.o mrc_nscc_cfg.o mrc_nscc_base.o mrc_nscc.o)
MRC_ENGINE_OBJS += $(addprefix clock/,mrc_clock.o)
MRC_ENGINE_OBJS += $(addprefix paths/,mrc_credit.o mrc_ecf.o mrc_evchanges.o mrc_ev.o mrc_avoid.o mrc_spray.o mrc_share.o mrc_plane.o mrc_correlate.o mrc_suspect.o mrc_blame.o mrc_verify.o mrc_no_acks.o mrc_probe.o mrc_updown.o mrc_flowlet.o)
MRC_ENGINE_OBJS += $(addprefix sent/,mrc_rtt.o mrc_report.o mrc_last_delivered.o mrc_resent.o mrc_rec_mem.o mrc_snd.o)
MRC_ENGINE_OBJS += $(addprefix loss/,mrc_rack.o mrc_sleek.o mrc_budget.o mrc_rnr.o mrc_pto.o)
MRC_ENGINE_OBJS += $(addprefix stream/,mrc_rcv.o mrc_msg.o mrc_mpr.o mrc_exec.o mrc_defer.o)
MRC_ENGINE_OBJS += $(addprefix control/,mrc_confirm.o mrc_sack.o mrc_ctl.o)
MRC_ENGINE_OBJS += $(addprefix conn/,mrc_tx.o mrc_ack.o mrc_rx.o mrc_conn.o)
