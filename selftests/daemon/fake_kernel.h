// SPDX-License-Identifier: GPL-2.0
// fake_kernel.h - a kernel that is only a struct, with the real one's rules for what mrcd asks
// of it: what it refuses, what goes with what, how planes get their numbers. It notes what
// nobody may do (broken), and loses messages when told to (faults).
#pragma once

#include <linux/mrc.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "kernel.h"

namespace mrcd {

enum class Fault { kRefused, kDoneUnheard };   // ENOBUFS before, ETIMEDOUT after it was done

class FakeKernel : public Kernel {
public:
    Observed state;
    std::vector<std::string> broken;           // what was done and must not be
    std::set<int> shut_by_hand;                // indices of links
    std::deque<std::optional<Fault>> faults;   // of the next operations
    unsigned blind = 0;                        // so many looks fail
    std::function<void()> meanwhile;           // once, before an operation,
    unsigned meanwhile_in = 0;                 // after so many others
    std::set<std::string> default_routers;     // advertised, by their interfaces
    bool has_module = true, has_dummy = true, hides_max_mtu = false;
    unsigned done = 0;                         // operations that succeeded
    unsigned looks = 0;

    FakeKernel();

    // ------------------------------------------------- what others do with it
    Link &add_link(const std::string &name, const std::string &kind = "veth",
                   std::uint32_t max_mtu = 65535);
    void del_link(const std::string &name);
    void rename(const std::string &name, const std::string &to);   // all of it stays with it
    void shut(const std::string &name);   // by hand
    void open(const std::string &name);
    void set_down(Link &link);            // its routes and IPv6 addresses go
    void enslave(Link &link, int master);
    void unload();                        // the module goes, and its device
    Link *find(const std::string &name);
    Link &link(const std::string &name) { return *find(name); }

    // ----------------------------------------------------------------- Kernel
    mrcnl::error look(const Desired &want, Observed &have) override;
    mrcnl::error apply(const Op &op) override;

private:
    struct Doer;
    std::uint8_t number_for(const std::string &port) const;
    void release(Link &link);

    // state.device is the one that is looked at; others there may be wait here.
    void focus(const Link *device);

    using Kept = std::map<std::uint8_t, std::string>;
    Kept kept_;
    std::map<int, std::pair<MrcDevice, Kept>> others_;
    int next_ = 2;
};

}   // namespace mrcd
