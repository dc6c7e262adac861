// SPDX-License-Identifier: GPL-2.0
#include "script.h"

#include <algorithm>
#include <random>

namespace mrcd {

namespace {

constexpr const char *kNames[] = {
    "edit", "run", "restart", "gone", "back", "rename", "shut", "open", "wrong-kind", "right-kind",
    "foreign-addr", "foreign-route", "foreign-gone", "lose", "sysctl", "unload", "refuse",
    "unheard", "blind", "meanwhile", "plane-off", "small", "bridged", "unbridged", "swapped"};
static_assert(std::size(kNames) == static_cast<std::size_t>(What::kCount));

constexpr unsigned kRuns = 4;   // to come to rest

template <typename C> auto *nth(C &list, unsigned n)
{
    return list.empty() ? nullptr : &list[n % list.size()];
}

}   // namespace

std::string Step::text() const
{
    return fmt::format("{} {} {}", kNames[static_cast<unsigned>(what)], a, b);
}

Script random_script(unsigned seed)
{
    std::mt19937 rng(seed);
    Script s(4 + rng() % 12);

    for (Step &step : s) {
        // Edits and runs are half of all that happens.
        const unsigned dice = rng() % 4;
        const auto any = static_cast<What>(rng() % static_cast<unsigned>(What::kCount));
        step = {dice == 0 ? What::kEdit : dice == 1 ? What::kRun : any, unsigned(rng() % 64),
                unsigned(rng() % 64)};
    }
    return s;
}

Fabric Text::fabric() const
{
    // Each but the first leaves every node there that lives are of.
    static constexpr const char *kExceptions[] = {
        "",
        "[topology.missing]\nnodes = [\"h2-1\"]\n",
        "[topology.missing]\nports = [\"p1-t0-1:t1-1\"]\n",
        "[[topology.differs]]\nnode = \"h2-1\"\naddresses = [\"fd00:6d72:63::77:1/64\"]\n",
        "[[topology.differs]]\nnode = \"h1-1\"\nports = {eth1 = \"eth4\"}\n",
        "[[topology.differs]]\nnode = \"p1-t0-1\"\nports = {t1-1 = \"t1-3x\"}\n",
    };
    if (!by_rule)
        return make_fabric(size);
    return make_rule({.planes = size.planes, .t0s = 2, .t1s = size.t1s,
                      .hosts_per_t0 = size.hosts, .evs_per_plane = size.evs_per_plane,
                      .profile_id = size.profile_id,
                      .ipv4 = size.net ? "10.77.0.0/16" : "10.0.0.0/8",
                      .more = kExceptions[exception % std::size(kExceptions)]});
}

Life::Life(const std::string &node, bool by_rule) : node_(node), by_rule_(by_rule)
{
    text_.by_rule = by_rule;
    if (by_rule)
        text_.size.suffix = "-1";
    kernel_.add_link("mgmt").up = true;
    kernel_.default_routers.insert("mgmt");
    kernel_.add_link("br-ops", "bridge");
    for (const char *name : {"eth1", "eth2", "eth3", "eth4", "h1", "h2", "h3", "h4", "t1-1", "t1-2",
                             "t1-3", "t0-1", "t0-2"})
        kernel_.add_link(name);
    want_ = desired();
    restart();
}

const Desired &Life::desired() const
{
    static std::map<std::pair<std::string, Text>, Desired> known;   // words of Text are literals
    const std::pair key{node_, text_};
    const auto it = known.find(key);

    return it != known.end() ? it->second
                             : known.emplace(key, *desired_for(text_.fabric(), node_)).first->second;
}

// An edit is meant: what asks for confirmation gets it.
void Life::edit(unsigned a, unsigned b)
{
    if (by_rule_ && b >= 32)
        edit_rule(a);
    else
        edit_size(a, b);
    want_ = desired();
    mrcd_->want(want_);
    mrcd_->confirm();
}

void Life::edit_rule(unsigned a)
{
    if (a % 4)
        text_.exception = a / 4;
    else
        text_.by_rule = !text_.by_rule;
}

void Life::edit_size(unsigned a, unsigned b)
{
    Size &z = text_.size;

    switch (a % 8) {
    case 0: z.hosts = 1 + b % 4; break;
    case 1: z.planes = 1 + b % 3; break;
    case 2: z.t1s = 1 + b % 3; break;
    case 3: z.evs_per_plane = 1 + b % 2 * 3; break;
    case 4: z.profile_id = 1 + b % 2; break;
    case 5: z.net = b % 2; break;
    case 6: z.first_port = 1 + b % 4; break;
    case 7: b % 2 ? z.len = b % 4 ? 64 : 80 : z.planes = 2;
            z.device = b % 3 ? "mrc0" : "mrc1"; break;
    }
}

// By what a new process knows that mrcd had this interface up.
bool Life::marked(const Link &l) const
{
    const Observed &k = kernel_.state;
    const auto is = [&](const char *key, const char *value) {
        return k.sysctls.at(l.name + key) == value;
    };
    if (!want_.device)
        return is("/seg6_enabled", "1") && is("/accept_dad", "0");
    const Link *master = k.link(l.master);
    if (l.kind == "mrc")
        return (k.device && k.device->profile_id) ||
               std::any_of(k.links.begin(), k.links.end(),
                           [&](const Link &p) { return p.master == l.ifindex; });
    return master && master->kind == "mrc";
}

// Of an interface that mrcd never had up nobody can say that it was shut.
void Life::shut(const std::string &name)
{
    Link *l = kernel_.find(name);

    if (!l || !l->up)
        return;
    if (marked(*l))
        kernel_.shut(name);
    else
        kernel_.set_down(*l), lowered_.insert(l->ifindex);
}

// A new process cannot know what was shut when the mark went before its first look.
void Life::forget_unmarked()
{
    std::erase_if(kernel_.shut_by_hand, [&](int index) {
        const Link *l = kernel_.state.link(index);
        if (l && marked(*l))
            return false;
        lowered_.insert(index);
        return true;
    });
}

void Life::restart()
{
    looked_ = false;
    mrcd_ = std::make_unique<Reconciler>(kernel_, log_);
    mrcd_->want(want_);
    mrcd_->confirm();
}

std::string Life::port(unsigned a) const
{
    std::vector<std::string> ports;
    for (const WantedLink &w : want_.links)
        if (w.physical)
            ports.push_back(w.name);
    return ports[a % ports.size()];
}

void Life::play(const Script &script)
{
    for (const Step &s : script) {
        step(s);
        if (!looked_)
            forget_unmarked();
    }
}

void Life::step(const Step &s)
{
    const auto name = port(s.a);
    Link *l = kernel_.find(name);

    switch (s.what) {
    case What::kEdit: return edit(s.a, s.b);
    case What::kRun: looked_ |= kernel_.blind == 0; mrcd_->run(); return;
    case What::kRestart: return restart();
    case What::kGone: return kernel_.del_link(name);
    case What::kBack:
        if (!l)
            kernel_.add_link(name);
        return;
    case What::kRename:
        if (l && !kernel_.find("x" + name))
            kernel_.rename(name, "x" + name);
        return;
    case What::kShut: return shut(s.b % 4 || !want_.device ? name : want_.device->name);
    case What::kOpen: return kernel_.open(s.b % 4 || !want_.device ? name : want_.device->name);
    case What::kWrongKind: {
        const auto which = want_.device && s.b % 2 ? want_.device->name : name;
        kernel_.del_link(which);
        kernel_.add_link(which, "bridge");
        return;
    }
    case What::kRightKind:
        for (const auto &which : {name, std::string("mrc0"), std::string("mrc1")})
            if (Link *wrong = kernel_.find(which); wrong && wrong->kind == "bridge") {
                kernel_.del_link(which);
                if (!which.starts_with("mrc"))
                    kernel_.add_link(which);
            }
        return;
    case What::kForeignAddr: return foreign_addr(s.a);
    case What::kForeignRoute: return foreign_route(s.a);
    case What::kForeignGone:
        std::erase_if(kernel_.state.addrs, [](const Addr &a) { return a.protocol != kProtocol; });
        std::erase_if(kernel_.state.routes, [](const Route &r) { return r.protocol != kProtocol; });
        return;
    case What::kLose: return lose(s.a, s.b);
    case What::kSysctl:
        if (!want_.sysctls.empty() && (s.b % 2 || !l || l->up))
            kernel_.apply(SysctlSet{s.b % 2 ? "all/forwarding" : name + "/seg6_enabled", "0"});
        return;
    case What::kUnload: return kernel_.unload();
    case What::kRefuse: kernel_.faults.assign(s.a % 4, std::nullopt);
        return kernel_.faults.push_back(Fault::kRefused);
    case What::kUnheard: kernel_.faults.assign(s.a % 4, std::nullopt);
        return kernel_.faults.push_back(Fault::kDoneUnheard);
    case What::kBlind: kernel_.blind = 1 + s.a % 3; return;
    case What::kMeanwhile:   // between a look and what is done then
        kernel_.meanwhile_in = s.b % 6;
        kernel_.meanwhile = [this, s] {
            static constexpr What kWhat[] = {What::kGone, What::kShut, What::kLose, What::kUnload,
                                             What::kForeignAddr};
            step({kWhat[s.a % std::size(kWhat)], s.a / 5, s.b});
        };
        return;
    case What::kPlaneOff:
        if (kernel_.state.device)
            if (Plane *p = nth(kernel_.state.device->planes, s.a))
                p->admin = false;
        return;
    case What::kSmall:
        if (l)
            l->max_mtu = 1500 + s.b;
        return;
    case What::kBridged:
        if (l && l->kind != "bridge")
            kernel_.enslave(*l, kernel_.link("br-ops").ifindex);
        return;
    case What::kUnbridged:
        if (l && l->master == kernel_.link("br-ops").ifindex)
            l->master = 0;
        return;
    case What::kSwapped:
        if (kernel_.state.device && kernel_.state.device->planes.size() > 1)
            std::swap(kernel_.state.device->planes[0].ifindex,
                      kernel_.state.device->planes[1].ifindex);
        return;
    case What::kCount: return;
    }
}

void Life::lose(unsigned a, unsigned b)
{
    auto &k = kernel_.state;
    const auto drop = [&](auto &list, auto &&ours) {
        std::vector<std::size_t> which;
        for (std::size_t i = 0; i < list.size(); i++)
            if (ours(list[i]))
                which.push_back(i);
        if (!which.empty())
            list.erase(list.begin() + which[a % which.size()]);
    };
    switch (b % 5) {
    case 0: return drop(k.routes, [](const Route &r) { return r.protocol == kProtocol; });
    case 1: return drop(k.addrs, [](const Addr &x) { return x.protocol == kProtocol; });
    case 2: if (k.device) drop(k.device->profiles, [](auto &) { return true; }); return;
    case 3: if (k.device) k.device->profile_id = 0; return;
    case 4: if (Link *l = kernel_.find(port(a)); l && l->kind != "bridge") kernel_.enslave(*l, 0); return;
    }
}

void Life::foreign_addr(unsigned a)
{
    const WantedAddr *w = nth(want_.addrs, a);
    const Link *l = w ? kernel_.find(w->link) : nullptr;
    if (!l || !l->up)
        return;
    IfAddr other = w->addr;
    other.len = other.addr.v4 ? 16 : 10;
    for (const Addr &there : kernel_.state.addrs)
        if (there.ifindex == l->ifindex && there.addr.addr == other.addr)
            return;   // EEXIST
    kernel_.state.addrs.push_back({l->ifindex, other, 0});
}

void Life::foreign_route(unsigned a)
{
    const WantedRoute *w = nth(want_.routes, a);
    const Link *l = w ? kernel_.find(w->links.front()) : nullptr;
    const std::uint32_t metric = a % 2 ? kRouteMetric : 1024;
    if (!l || !l->up)
        return;
    for (const Route &there : kernel_.state.routes)
        if (there.dst == w->dst && there.metric == metric)
            return;
    kernel_.state.routes.push_back({.dst = w->dst, .metric = metric, .protocol = 4,
                                    .oif = l->ifindex, .via = w->via});
}

// ------------------------------------------------------------------- verdict

// Independent of the planner: what the file wants and is not so, each with a word by which a
// line about it is known.
std::vector<std::string> Life::unmet() const
{
    const Observed &have = kernel_.state;
    std::vector<std::string> list;
    const auto miss = [&](const std::string &word) { list.push_back(word); };
    const auto good = [&](const std::string &name) {
        const Link *l = have.link(name);
        return l && l->kind != "bridge" &&
               (!l->master || have.link(l->master)->kind == "mrc");
    };
    const auto up = [&](const std::string &name) { return good(name) && have.link(name)->up; };

    for (const WantedLink &w : want_.links) {
        const Link *l = have.link(w.name);
        if (!good(w.name))
            miss(w.name);
        else if (!l->up && !kernel_.shut_by_hand.count(l->ifindex) && !lowered_.count(l->ifindex))
            miss(w.name);
        else if (l->mtu < std::min(w.mtu, l->max_mtu))
            miss(w.name);
    }
    for (const WantedSysctl &w : want_.sysctls) {
        const auto scope = w.key.substr(0, w.key.find('/'));
        if ((scope == "all" || up(scope)) && have.sysctls.at(w.key) != w.value)
            miss(w.key);
    }
    for (const WantedAddr &w : want_.addrs)
        if (up(w.link) && std::none_of(have.addrs.begin(), have.addrs.end(), [&](const Addr &a) {
                return a.ifindex == have.link(w.link)->ifindex && a.addr == w.addr;
            }))
            miss(to_string(w.addr));
    for (const WantedRoute &w : want_.routes) {
        const auto link = std::find_if(w.links.begin(), w.links.end(), up);
        const auto ours = std::count_if(have.routes.begin(), have.routes.end(), [&](const Route &r) {
            return r.dst == w.dst && r.protocol == kProtocol;
        });
        if (link == w.links.end() ? ours != 0 : ours != 1 ||
            std::none_of(have.routes.begin(), have.routes.end(), [&](const Route &r) {
                return r.dst == w.dst && r.protocol == kProtocol && r.metric == kRouteMetric &&
                       r.oif == have.link(*link)->ifindex && r.via == w.via;
            }))
            miss(to_string(w.dst));
    }
    if (!want_.device || !good(want_.device->name))
        return list;
    const MrcDevice &d = *have.device;
    for (const WantedPlane &w : want_.device->planes)
        if (good(w.link) && std::none_of(d.planes.begin(), d.planes.end(), [&](const Plane &p) {
                return p.number == w.number && p.ifindex == have.link(w.link)->ifindex &&
                       p.sid == w.sid;
            }))
            miss(w.link);
    for (const Profile &w : want_.device->profiles)
        if (std::none_of(d.profiles.begin(), d.profiles.end(),
                         [&](const ObservedProfile &p) { return p.profile == w; }))
            miss(to_string(w.key.dst));
    if (!want_.device->profiles.empty() && d.profile_id != want_.device->profile_id)
        miss("profile");
    return list;
}

// What is ours in the kernel and no longer in the file.
std::string Life::strays() const
{
    const Observed &have = kernel_.state;

    for (const Addr &a : have.addrs)
        if (a.protocol == kProtocol &&
            std::none_of(want_.addrs.begin(), want_.addrs.end(), [&](const WantedAddr &w) {
                return w.addr == a.addr && have.link(a.ifindex) &&
                       w.link == have.link(a.ifindex)->name;
            }))
            return "stray address " + to_string(a.addr);
    for (const Route &r : have.routes)
        if (r.protocol == kProtocol &&
            std::none_of(want_.routes.begin(), want_.routes.end(),
                         [&](const WantedRoute &w) { return w.dst == r.dst; }))
            return "stray route " + to_string(r.dst);
    const Link *device = want_.device ? have.link(want_.device->name) : nullptr;
    for (const Link &l : have.links)
        if (device && device->kind == "mrc" && l.master == device->ifindex &&
            std::none_of(want_.device->planes.begin(), want_.device->planes.end(),
                         [&](const WantedPlane &w) { return w.link == l.name; }))
            return "stray plane " + l.name;
    return "";
}

std::string Life::verdict()
{
    kernel_.faults.clear();
    kernel_.blind = 0;
    kernel_.meanwhile = nullptr;
    for (unsigned i = 0; i < kRuns; i++)
        mrcd_->run();
    const unsigned before = kernel_.done;
    const auto outcome = mrcd_->run();
    if (kernel_.done != before)
        return fmt::format("{} operations at rest", kernel_.done - before);
    if (!kernel_.broken.empty())
        return kernel_.broken.front();
    const auto &sysctls = kernel_.state.sysctls;
    if (sysctls.at("mgmt/forwarding") != "0" || sysctls.at("mgmt/accept_ra") != "1" ||
        !kernel_.default_routers.count("mgmt"))
        return "the management port is no host as it was";
    const auto open = fmt::format("{}", fmt::join(mrcd_->open_items(), "\n"));
    const auto list = unmet();
    for (const auto &word : list)
        if (open.find(word) == open.npos)
            return fmt::format("unmet and not said: {}\nsaid:\n{}", word, open);
    if (list.empty() && outcome != Reconciler::Outcome::kComplete)
        return "all is there, but it waits: " + open;
    if (!list.empty() && outcome == Reconciler::Outcome::kComplete)
        return "complete, without " + list.front();
    return strays();
}

}   // namespace mrcd
