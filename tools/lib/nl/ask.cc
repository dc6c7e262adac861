// SPDX-License-Identifier: GPL-2.0
// ask.cc - see ask.h.
#include "ask.h"

#include <linux/mrc.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>

namespace mrcnl {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr size_t most_waiting = 512; // answers that the socket has room for
constexpr auto busy_pause = std::chrono::milliseconds(5);

class round {
  public:
    round(genl_socket &nl, uint32_t ifindex, uint16_t first, const std::vector<question> &qs, answers &out)
        : nl_(nl), ifindex_(ifindex), first_(first), qs_(qs), out_(out), waits_(qs.size())
    {
        for (size_t i = 0; i < qs.size(); i++)
            todo_.push_back(i);
        out_ = {};
        out_.errors.resize(qs.size());
        nl_.own([this](const message &m) { heard(m); });
    }
    ~round() { nl_.own({}); }
    round(const round &) = delete;
    round &operator=(const round &) = delete;

    error run(nanoseconds timeout)
    {
        auto end = clock::now() + timeout;
        for (;;) {
            busy_ = false;
            while (!todo_.empty() && !busy_ && waiting_ + MRC_EP_MAX <= most_waiting)
                if (auto e = send())
                    return e;
            nanoseconds left = end - clock::now();
            if ((todo_.empty() && !waiting_) || left <= nanoseconds(0))
                break;
            auto e = nl_.wait_own(busy_ ? std::min<nanoseconds>(left, busy_pause) : left);
            if (e && e.code != EAGAIN && e.code != ENOBUFS && e.code != EINTR)
                return e;
        }
        while (waiting_ && !nl_.wait_own(nanoseconds(0))) {
        }
        for (size_t i : todo_)
            out_.errors[i] = EBUSY;
        return {};
    }

  private:
    uint16_t id_of(size_t i) const { return static_cast<uint16_t>(first_ + i); }

    void put(request &n, size_t i) const
    {
        const question &q = qs_[i];

        n.u16(MRC_A_EP_ID, id_of(i)).put(MRC_A_EP_GID, q.gid).u32(MRC_A_EP_OP, q.op);
        n.u32(MRC_A_EP_FMT, q.fmt).put(MRC_A_EP_VALUE, q.value).u8(MRC_A_EP_PORT, q.port);
        if (q.src != decltype(q.src){})
            n.put(MRC_A_EP_SRC, q.src);
        if (q.tc)
            n.u8(MRC_A_EP_TC, *q.tc);
        if (q.op == MRC_NL_EP_PORT_STATUS)
            n.u32(MRC_A_EP_PORTS_UP, q.ports_up);
        if (q.via)
            n.u16(MRC_A_EP_VIA, q.via);
    }

    // Answers may come before the kernel's verdict.
    error send()
    {
        request rq(MRC_CMD_EP_SEND);
        size_t n = std::min<size_t>(todo_.size(), MRC_EP_MAX);

        rq.u32(MRC_A_DEV_IFINDEX, ifindex_);
        for (size_t k = 0; k < n; k++) {
            rq.nest(MRC_A_EP, [&](auto &nest) { put(nest, todo_[k]); });
            waits_[todo_[k]] = true;
        }
        waiting_ += n;
        todo_.erase(todo_.begin(), todo_.begin() + static_cast<std::ptrdiff_t>(n));
        return nl_.call(rq, [this](const message &m) { refused(m); });
    }

    bool place(const table &ep, size_t &i) const
    {
        i = static_cast<uint16_t>(ep[MRC_A_EP_ID].num() - first_);
        return i < qs_.size() && waits_[i];
    }

    void refused(const message &m)
    {
        for (auto a : m.attrs) {
            if (a.type() != MRC_A_EP)
                continue;
            table ep(a);
            size_t i;
            if (!place(ep, i))
                continue;
            waits_[i] = false;
            waiting_--;
            int code = static_cast<int>(ep[MRC_A_EP_ERROR].num());
            if (code == EBUSY) {
                busy_ = true;
                todo_.push_back(i);
            } else {
                out_.errors[i] = code ? code : EIO;
            }
        }
    }

    void heard(const message &m)
    {
        if (m.cmd != MRC_CMD_EP_ANSWER)
            return;
        table t(m.attrs), ep(t[MRC_A_EP]);
        auto gid = ep[MRC_A_EP_GID].bytes();
        size_t i;

        if (t[MRC_A_DEV_IFINDEX].num() != ifindex_ || !place(ep, i) ||
            !std::equal(gid.begin(), gid.end(), qs_[i].gid.begin(), qs_[i].gid.end()))
            return;
        waits_[i] = false;
        waiting_--;
        out_.came.push_back({i, static_cast<uint8_t>(ep[MRC_A_EP_PORT].num()), ep[MRC_A_EP_RTT].num(),
                             qs_[i].via && ep[MRC_A_EP_VIA].num() == qs_[i].via});
    }

    genl_socket &nl_;
    uint32_t ifindex_;
    uint16_t first_;
    const std::vector<question> &qs_;
    answers &out_;
    std::vector<bool> waits_; // sent, and neither answered nor refused
    size_t waiting_ = 0;
    std::deque<size_t> todo_;
    bool busy_ = false;
};

} // namespace

error ask(genl_socket &nl, uint32_t ifindex, uint16_t &next_id, const std::vector<question> &qs,
          nanoseconds timeout, answers &out)
{
    if (qs.size() > asks_max)
        return {E2BIG, std::to_string(qs.size()) + " questions at once, the most is " + std::to_string(asks_max),
                false};
    uint16_t first = next_id;
    next_id = static_cast<uint16_t>(next_id + qs.size());
    return round(nl, ifindex, first, qs, out).run(timeout);
}

} // namespace mrcnl
