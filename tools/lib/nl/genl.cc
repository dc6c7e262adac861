// SPDX-License-Identifier: GPL-2.0
// genl.cc - see genl.h.
#include "genl.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

#include <cerrno>

namespace mrcnl {

error find_family(socket &s, const std::string &name, family &f)
{
    request rq(GENL_ID_CTRL, NLM_F_REQUEST, genlmsghdr{CTRL_CMD_GETFAMILY, 2, 0});
    f = {};
    rq.str(CTRL_ATTR_FAMILY_NAME, name);
    auto e = s.call(rq, [&](const nlmsghdr &, bytes payload) {
        table t(attrs_after<genlmsghdr>(payload));
        f.id = static_cast<uint16_t>(t[CTRL_ATTR_FAMILY_ID].num());
        for (attr a : t[CTRL_ATTR_MCAST_GROUPS].nested()) {
            table g(a);
            f.groups[std::string(g[CTRL_ATTR_MCAST_GRP_NAME].str())] =
                static_cast<uint32_t>(g[CTRL_ATTR_MCAST_GRP_ID].num());
        }
    });
    if (e.code == ENOENT || (!e && f.id == 0))
        return {ENOENT, "the module " + name + " is not loaded: modprobe " + name, false};
    return e;
}

bool to_message(bytes payload, message &out)
{
    if (payload.size() < sizeof(genlmsghdr))
        return false;
    out.cmd = fixed_header<genlmsghdr>(payload).cmd;
    out.attrs = attrs_after<genlmsghdr>(payload);
    return true;
}

error genl_socket::open(const std::string &name)
{
    name_ = name;
    if (auto e = requests_.open(NETLINK_GENERIC))
        return e;
    return find_family(requests_, name, family_);
}

// A program for the kernel's packet filter: all of @only, or the message is dropped. It loads big-endian.
static std::vector<sock_filter> filter_of(const std::vector<number> &only)
{
    std::vector<sock_filter> f;

    for (auto n : only) {
        f.push_back(BPF_STMT(BPF_LDX | BPF_IMM, n.type));
        f.push_back(BPF_STMT(BPF_LD | BPF_IMM, NLMSG_HDRLEN + GENL_HDRLEN));
        f.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_NLATTR)));
        f.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0)); // it has none
        f.push_back(BPF_STMT(BPF_MISC | BPF_TAX, 0));
        f.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_IND, NLA_HDRLEN));
        f.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(n.value), 1, 0));
        f.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
    }
    f.push_back(BPF_STMT(BPF_RET | BPF_K, ~0u));
    return f;
}

// Before it is a member: then nothing else is ever in its queue, and that it is readable means news.
error genl_socket::join(const std::string &group, const std::vector<number> &only)
{
    auto it = family_.groups.find(group);
    if (it == family_.groups.end())
        return {ENOENT, "netlink family \"" + name_ + "\" has no multicast group \"" + group + "\"",
                false};
    if (auto e = events_.open_events(NETLINK_GENERIC))
        return e;
    if (!only.empty()) {
        auto f = filter_of(only);
        sock_fprog prog = {static_cast<unsigned short>(f.size()), f.data()};
        if (setsockopt(fd(), SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0)
            return error::make(errno, "netlink socket filter");
    }
    return events_.join(it->second);
}

int genl_socket::fd() const
{
    return events_.fd();
}

on_message genl_socket::of_family(const handler &h) const
{
    return [this, &h](const nlmsghdr &hdr, bytes payload) {
        message m;
        if (h && hdr.nlmsg_type == family_.id && to_message(payload, m))
            h(m);
    };
}

error genl_socket::call(request &rq, const handler &on_reply)
{
    return requests_.call(rq.set_type(family_.id), of_family(on_reply));
}

error genl_socket::dump(request &rq, const handler &on_reply)
{
    return requests_.dump(rq.set_type(family_.id), of_family(on_reply));
}

error genl_socket::receive(const handler &on_event)
{
    return events_.receive(of_family(on_event));
}

void genl_socket::own(handler h)
{
    if (!h)
        return requests_.own({});
    requests_.own([this, h = std::move(h)](const nlmsghdr &hdr, bytes payload) {
        of_family(h)(hdr, payload);
    });
}

error genl_socket::wait_own(std::chrono::nanoseconds limit)
{
    return requests_.wait_own(limit);
}

} // namespace mrcnl
