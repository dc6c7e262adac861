// SPDX-License-Identifier: GPL-2.0
// packet.cc - converts the engine's decision into a packet, and back (packet.h).
#include "packet.h"

namespace sim {

namespace {

enum { UDP_HDR = 8 };

void pack_sack(const mrc_sack &s, packet &p)
{
    p.len = static_cast<u16>(s.mpr | s.m << 6 | (s.pr ? 1 : 0) << 8 | s.cc_fl << 9);
    p.sack.bitmap = s.bitmap;
    p.sack.ev = s.ev;
    p.sack.rcvd_pen = s.rcvd_bytes << 8 | static_cast<u32>(s.rcv_cwnd_pen & 127) << 1 |
                      (s.restore_cwnd ? 1u : 0u);
    p.sack.sack_offset = s.sack_offset;
    p.sack.ack_or_probe = s.pr ? static_cast<s16>(s.probe_id) : s.ack_psn_offset;
    p.sack.tx_ts = s.tx_ts;
    p.sack.ooo = s.ooo_count;
}

void unpack_sack(const packet &p, mrc_sack &s)
{
    s.mpr = p.len & 63;
    s.m = p.len >> 6 & 3;
    s.pr = p.len >> 8 & 1;
    s.cc_fl = static_cast<u8>(p.len >> 9);
    s.cc_type = MRC_CC_TYPE_SACK;
    s.bitmap = p.sack.bitmap;
    s.ev = p.sack.ev;
    s.rcvd_bytes = p.sack.rcvd_pen >> 8;
    s.rcv_cwnd_pen = p.sack.rcvd_pen >> 1 & 127;
    s.restore_cwnd = p.sack.rcvd_pen & 1;
    s.sack_offset = p.sack.sack_offset;
    if (s.pr)
        s.probe_id = static_cast<u16>(p.sack.ack_or_probe);
    else
        s.ack_psn_offset = p.sack.ack_or_probe;
    s.tx_ts = p.sack.tx_ts;
    s.ooo_count = p.sack.ooo;
    s.cack = p.psn();
}

void unpack_data(const packet &p, mrc_pkt &out)
{
    out.rtx = p.flags & PKT_RTX;
    out.ackreq = p.flags & PKT_ACKREQ;
    out.has_ts = p.flags & PKT_TS;
    out.pad = static_cast<u8>(-p.len & 3);
    out.va = p.data.va;
    out.dmalen = p.data.dmalen;
    out.rkey = p.data.key;
    if (mrc_opc_has_imm(out.opcode))
        out.imm = p.data.key;
    out.rqmsn = p.data.rqmsn;
    out.msn = p.data.msn;
    out.tx_ts = p.data.tx_ts;
    out.tsr = p.data.tsr;
    out.hdr_len = static_cast<u16>(mrc_wire_hdr_len(out.opcode, out.has_ts));
    // A trimmed packet still tells its size in the UDP header.
    out.udp_len = static_cast<u16>(UDP_HDR + out.hdr_len + p.len + out.pad + MRC_ICRC_LEN);
    if (p.flags & PKT_TRIMMED)
        out.trimmed = p.flags & PKT_LASTHOP ? MRC_NACK_TRIMMED_LASTHOP : MRC_NACK_TRIMMED;
    else
        out.payload_len = p.len;
}

} // namespace

void pack(const mrc_txop &op, packet &p)
{
    const mrc_pkt &h = op.hdr;

    p.psn_op = h.psn << 8 | h.opcode;
    p.ev = h.ev;
    p.plane = h.plane;
    p.len = 0;
    p.flags = op.tclass == MRC_TC_CONTROL ? PKT_CONTROL
              : op.tclass == MRC_TC_NO_TRIM ? PKT_NO_TRIM : 0;
    switch (h.opcode) {
    case MRC_OPC_SACK:
        pack_sack(h.u.sack, p);
        break;
    case MRC_OPC_NACK:
        p.nack = {h.u.nack.ev, h.u.nack.tx_ts, h.u.nack.reason, h.u.nack.vendor_info,
                  h.u.nack.cc_fl};
        break;
    case MRC_OPC_ACK:
        p.ack = {h.u.aeth.msn, h.u.aeth.syndrome};
        break;
    case MRC_OPC_PROBE:
        p.probe = {h.u.probe.probe_id, h.u.probe.tx_ts, h.u.probe.vendor_info, h.u.probe.tsr};
        break;
    case MRC_OPC_EP_REQ:
    case MRC_OPC_EP_RSP:
        p.ep = {h.u.ep.port_status_mask, h.u.ep.tx_ts, h.u.ep.op, h.u.ep.vendor_info,
                h.u.ep.tsr};
        break;
    default:
        p.len = static_cast<u16>(op.len);
        p.flags |= static_cast<u8>((h.rtx ? PKT_RTX : 0) | (h.ackreq ? PKT_ACKREQ : 0) |
                                   (h.has_ts ? PKT_TS : 0));
        p.data = {static_cast<u32>(h.va), h.dmalen, h.rkey, h.rqmsn, h.msn, h.tx_ts, h.tsr};
        break;
    }
}

void unpack(const packet &p, mrc_pkt &out)
{
    std::memset(&out, 0, sizeof(out));
    out.opcode = p.opcode();
    out.pkey = 0xffff;
    out.psn = p.psn();
    out.dqpn = p.conn;
    out.ev = p.ev;
    out.plane = p.plane;
    out.ecn_ce = p.flags & PKT_ECN;
    switch (out.opcode) {
    case MRC_OPC_SACK:
        unpack_sack(p, out.u.sack);
        break;
    case MRC_OPC_NACK:
        out.u.nack.reason = p.nack.reason;
        out.u.nack.vendor_info = p.nack.vendor;
        out.u.nack.ev = p.nack.ev;
        out.u.nack.psn = out.psn;
        out.u.nack.cc_type = MRC_CC_TYPE_NACK;
        out.u.nack.cc_fl = p.nack.cc_fl;
        out.u.nack.tx_ts = p.nack.tx_ts;
        break;
    case MRC_OPC_ACK:
        out.u.aeth.msn = p.ack.msn;
        out.u.aeth.syndrome = p.ack.syndrome;
        break;
    case MRC_OPC_PROBE:
        out.u.probe.probe_id = p.probe.id;
        out.u.probe.tx_ts = p.probe.tx_ts;
        out.u.probe.vendor_info = p.probe.vendor;
        out.u.probe.tsr = p.probe.tsr;
        break;
    case MRC_OPC_EP_REQ:
    case MRC_OPC_EP_RSP:
        out.u.ep.op = p.ep.op;
        out.u.ep.vendor_info = p.ep.vendor;
        out.u.ep.port_status_mask = p.ep.mask;
        out.u.ep.tx_ts = p.ep.tx_ts;
        out.u.ep.tsr = p.ep.tsr;
        break;
    default:
        unpack_data(p, out);
        break;
    }
}

} // namespace sim
