// SPDX-License-Identifier: GPL-2.0
// test_mrcctl_host.cc - what mrcctl finds on a host that is a folder: module, doctor, words.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../tools/mrcctl/doctor.h"
#include "../../tools/mrcctl/module.h"
#include "../../tools/mrcctl/words.h"
#include "test_mrcctl.h"

using namespace mrcctl;

namespace {

// A host that is a folder, and what the doctor finds on it: names of checks that fail.
struct patient {
    std::string root;
    host h;

    patient()
    {
        char dir[] = "/tmp/mrcctl.XXXXXX";
        root = mkdtemp(dir);
        h = {root, "6.12.9-amd64", "2.0.1", true, 0};
    }
    ~patient() { std::filesystem::remove_all(root); }
    void put(const std::string &path, const std::string &text)
    {
        std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
        std::ofstream(root + path) << text << "\n";
    }
    void drop(const std::string &path) { std::filesystem::remove_all(root + path); }
    std::string fails() const
    {
        std::string names;
        for (auto &c : checks())
            if (c.look(h))
                names += std::string(names.empty() ? "" : " ") + c.name;
        return names;
    }
    finding found(std::string_view name) const
    {
        for (auto &c : checks())
            if (c.name == name)
                return c.look(h).value_or(finding{});
        return {};
    }
};

} // namespace

// The module of a sysfs that is a folder: absent, of this version, of another, of none.
void test_module()
{
    char dir[] = "/tmp/mrcctl.XXXXXX";
    const std::string sys = mkdtemp(dir), tool = "mrcctl 2.0.1, netlink family mrc version 1\n";
    auto says = [&] { return version_text("2.0.1", loaded_module(sys)); };
    equal("no module", says(), tool + "module mrc: not loaded (modprobe mrc)\n");
    std::filesystem::create_directories(sys + "/module/mrc");
    const std::string other = "the loaded module has another version than mrcctl: see mrcctl doctor\n";
    equal("a module without a version", says(), tool + "module mrc of unknown version\n" + other);
    std::ofstream(sys + "/module/mrc/version") << "2.0.1\n";
    equal("of the same version", says(), tool + "module mrc 2.0.1\n");
    std::ofstream(sys + "/module/mrc/version") << "2.0.2\n";
    equal("of another", says(), tool + "module mrc 2.0.2\n" + other);
    std::filesystem::remove_all(sys);
}

void test_doctor()
{
    patient p;
    const std::string modules = "/lib/modules/6.12.9-amd64/";
    equal("doctor: nothing is installed", p.fails(), "installed plug-in");
    equal("with what installs it", p.found("installed").paste, "apt install mrc-dkms linux-headers-6.12.9-amd64");
    p.put("/var/lib/dkms/mrc/2.0.1/source/x", "");
    equal("doctor: no headers", p.found("installed").paste,
          "apt install linux-headers-6.12.9-amd64 && dkms autoinstall -k 6.12.9-amd64");
    p.put("/lib/modules/6.12.8-amd64/updates/dkms/mrc.ko", "");
    equal("doctor: a module of another kernel", p.fails(), "installed plug-in");
    p.put(modules + "updates/dkms/mrc.ko.xz", "");
    p.put("/etc/libibverbs.d/mrc.driver", "driver mrc");
    equal("doctor: half a plug-in, a module that is not loaded", p.fails(), "loaded plug-in");
    p.put("/usr/lib/x86_64-linux-gnu/libibverbs/libmrc-rdmav34.so", "");
    equal("doctor: not loaded", p.found("loaded").paste, "modprobe mrc");
    p.put("/sys/module/module/parameters/sig_enforce", "N");
    p.put("/sys/kernel/security/lockdown", "[none] integrity confidentiality");
    equal("doctor: signatures that need not be", p.fails(), "loaded");
    p.put("/sys/kernel/security/lockdown", "none [integrity] confidentiality");
    equal("doctor: Secure Boot", p.fails(), "signature");
    for (auto *message : {"Key was rejected by service", "Operation not permitted"})
        ::check("names modprobe's message", p.found("signature").cause.find(message) != std::string::npos);
    p.put("/sys/module/mrc/version", "2.0.1");
    equal("doctor: all is well", p.fails(), "");
    p.put(modules + "updates/mrc.ko", "");
    equal("doctor: another module from a checkout", p.fails(), "twice");
    p.drop(modules + "updates/mrc.ko");
    p.put("/sys/module/mrc/version", "2.0.2");
    equal("doctor: another version is loaded", p.fails(), "version");
    p.put("/sys/module/mrc/version", "2.0.1");
    p.put("/sys/class/infiniband/mrc1/mrc_abi", "9999");
    equal("doctor: an ABI that no plug-in knows", p.fails(), "abi");
    p.put("/sys/class/infiniband/mrc1/mrc_abi", "3");
    p.put("/sys/module/rdma_rxe/refcnt", "0");
    equal("doctor: rdma_rxe", p.fails(), "rxe");
    p.h.release = "6.13.0";
    p.put("/lib/modules/6.13.0/extra/mrc.ko", "");
    equal("doctor: rdma_rxe of a kernel where it is in nobody's way", p.fails(), "");
    p.h.privileged = false;
    p.h.memlock = 8 << 20;
    equal("doctor: memory that may be pinned", p.fails(), "memlock");
    p.h.memlock = 64 << 20;
    equal("doctor: enough of it", p.fails(), "");
}

void test_words()
{
    for (auto name : stray_advice())
        ::check(fmt::format("advice on {}, which the module does not count", name), false);
    for (auto &w : all_words())
        if (w.name.empty() || w.meaning.empty())
            ::check(fmt::format("{} has a meaning", w.name), false);
    ::check("advice is on counters that there are", stray_advice().empty());
}
