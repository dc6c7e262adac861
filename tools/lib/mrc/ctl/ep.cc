// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ep.cc - endpoint operations: EV probes and Port Status Updates, in batches.
//
// A request that the kernel could not send by its EV (plane down, no route) counts as unanswered,
// like one that was lost. Any other error ends the call.
#include <linux/mrc.h>

#include <cstring>

#include "controller.h"
#include "nl/ask.h"
#include "profile.h"

namespace {

constexpr unsigned int longest_rtt = ~0u;

uint32_t fmt_of(mrc_ctl_ev_fmt_mode mode)
{
    switch (static_cast<int>(mode)) {
    case MRC_CTL_EV_FMT_MODE_STEV: return MRC_FMT_STEV;
    case MRC_CTL_EV_FMT_MODE_SRV6: return MRC_FMT_SRV6;
    case MRC_CTL_EV_FMT_MODE_UDP: return MRC_FMT_UDP;
    }
    throw refused{EINVAL, "unknown EV format " + std::to_string(mode)};
}

mrcnl::question question_of(const mrc_ctl_ep_req &r, mrc_ctl_ep_op_type op, uint8_t tc, uint32_t ports)
{
    mrcnl::question q;

    if (r.req_ev.port < 1 || r.req_ev.port > 32 || !(ports >> (r.req_ev.port - 1) & 1))
        throw refused{EINVAL, "there is no port " + std::to_string(r.req_ev.port)};
    std::memcpy(q.gid.data(), r.dgid.raw, q.gid.size());
    std::memcpy(q.src.data(), r.sgid.raw, q.src.size());
    std::memcpy(q.value.data(), r.req_ev.val, q.value.size());
    q.fmt = fmt_of(r.ev_fmt_mode);
    q.port = r.req_ev.port;
    q.tc = tc;
    q.op = op == MRC_CTL_EP_OP_EV_PROBE ? MRC_NL_EP_EV_PROBE : MRC_NL_EP_PORT_STATUS;
    if (q.op == MRC_NL_EP_PORT_STATUS) {
        if (r.op.port_status_update.port_status & 1)
            throw refused{EINVAL, "port_status: bit 0 is no port, bit 1 is port 1"};
        q.ports_up = ports_meant(r.op.port_status_update.port_status) | (ports & port_without_bit);
    }
    return q;
}

// Throws errors that are not the fault of a path.
void judge(const std::vector<int> &errors)
{
    for (size_t i = 0; i < errors.size(); i++) {
        std::string which = "request " + std::to_string(i) + ": ";

        switch (errors[i]) {
        case ENOENT:
            throw refused{ENOENT, which + "this host has no peer dgid: talk to it first"};
        case EADDRNOTAVAIL:
            throw refused{EINVAL, which + "sgid is no address of the device"};
        case ENOTCONN:
            throw refused{EINVAL, which + "no QP talks to dgid, so its ports are no matter"};
        case EINVAL:
            throw refused{EINVAL, which + "dgid is this host or a group, or the port has gone"};
        }
    }
}

void ask_all(mrc_ctl &c, const std::vector<mrcnl::question> &qs, const mrc_ctl_ep_req *req,
             uint32_t timeout, mrc_ctl_ep_rsp *rsp, int &num_rsp)
{
    mrcnl::answers got;

    c.check(mrcnl::ask(c.nl, c.ifindex, c.next_question, qs, std::chrono::nanoseconds(timeout), got));
    judge(got.errors);
    for (const auto &a : got.came) {
        mrc_ctl_ep_rsp r = {};
        r.req_id = req[a.question].req_id;
        r.port = a.port;
        r.rtt = a.rtt_ns < longest_rtt ? static_cast<unsigned int>(a.rtt_ns) : longest_rtt;
        rsp[num_rsp++] = r;
    }
    if (got.came.size() < qs.size())
        throw refused{ETIMEDOUT, std::to_string(qs.size() - got.came.size()) + " of " +
                                     std::to_string(qs.size()) + " did not answer"};
}

} // namespace

extern "C" int mrc_ctl_ep_batch_send_wait(struct mrc_context *ctx, uint8_t req_tc,
                                          enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req *req,
                                          int num_req, uint32_t rsp_timeout,
                                          struct mrc_ctl_ep_rsp *rsp, int *num_rsp)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        std::vector<mrcnl::question> qs;

        if (!req || num_req < 1 || !rsp || !num_rsp)
            throw refused{EINVAL, "no requests, or no room for responses"};
        *num_rsp = 0;
        if (op_type != MRC_CTL_EP_OP_EV_PROBE && op_type != MRC_CTL_EP_OP_PORT_STATUS_UPDATE)
            throw refused{EINVAL, "unknown operation " + std::to_string(op_type)};
        if (static_cast<size_t>(num_req) > mrcnl::asks_max)
            throw refused{E2BIG, std::to_string(num_req) + " requests, the most is " +
                                     std::to_string(mrcnl::asks_max)};
        need_admin();
        uint32_t ports = ports_of(c);
        for (int i = 0; i < num_req; i++)
            qs.push_back(question_of(req[i], op_type, req_tc, ports));
        ask_all(c, qs, req, rsp_timeout, rsp, *num_rsp);
    });
}
