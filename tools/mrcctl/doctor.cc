// SPDX-License-Identifier: GPL-2.0
// doctor.cc - see doctor.h.
#include "doctor.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <rdma/mrc-abi.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"

namespace mrcctl {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t enough_memlock = 64 << 20; // perftest and MPI easily pin this much

bool exists(const host &h, const std::string &path)
{
    std::error_code none;
    return fs::exists(h.root + path, none);
}

std::string first_line(const host &h, const std::string &path)
{
    std::ifstream f(h.root + path);
    std::string line;
    std::getline(f, line);
    return line;
}

bool is_loaded(const host &h)
{
    return loaded_module(h.root + "/sys").loaded;
}

// The files mrc.ko of the running kernel, compressed ones too.
std::vector<std::string> module_files(const host &h)
{
    std::vector<std::string> found;
    for (auto *folder : {"updates", "updates/dkms", "updates/mrc-kept", "extra"})
        for (auto *suffix : {"", ".xz", ".zst", ".gz"}) {
            auto path = fmt::format("/lib/modules/{}/{}/mrc.ko{}", h.release, folder, suffix);
            if (exists(h, path))
                found.push_back(path);
        }
    return found;
}

std::optional<finding> look_installed(const host &h)
{
    if (is_loaded(h) || !module_files(h).empty())
        return {};
    if (exists(h, "/var/lib/dkms/mrc"))
        return finding{fmt::format("DKMS has built no module for Linux {}, which runs here", h.release),
                       fmt::format("apt install linux-headers-{0} && dkms autoinstall -k {0}", h.release)};
    return finding{fmt::format("no mrc.ko is installed for Linux {}, which runs here", h.release),
                   fmt::format("apt install mrc-dkms linux-headers-{}", h.release)};
}

// Secure Boot: modprobe fails with one of two errors.
std::optional<finding> look_signature(const host &h)
{
    auto lockdown = first_line(h, "/sys/kernel/security/lockdown");
    bool insists = first_line(h, "/sys/module/module/parameters/sig_enforce") == "Y" ||
                   (!lockdown.empty() && lockdown.find("[none]") == std::string::npos);
    if (is_loaded(h) || module_files(h).empty() || !insists)
        return {};
    return finding{"this kernel loads signed modules only; \"Key was rejected by service\" and \"Operation not "
                   "permitted\" of modprobe mean that it does not know the key of DKMS",
                   "mokutil --import /var/lib/dkms/mok.pub && reboot"};
}

std::optional<finding> look_loaded(const host &h)
{
    if (is_loaded(h) || module_files(h).empty() || look_signature(h))
        return {};
    return finding{"the module is installed, but not loaded", "modprobe mrc"};
}

std::optional<finding> look_version(const host &h)
{
    auto m = loaded_module(h.root + "/sys");
    if (!m.loaded || m.version == h.version)
        return {};
    return finding{fmt::format("the loaded module has version {}, mrcctl has {}",
                               m.version.empty() ? "unknown" : m.version, h.version),
                   "systemctl stop mrcd; modprobe -r mrc && modprobe mrc; systemctl start mrcd"};
}

std::optional<finding> look_twice(const host &h)
{
    auto files = module_files(h);
    if (files.size() < 2)
        return {};
    return finding{fmt::format("two modules are installed, {} and {}", files[0], files[1]),
                   fmt::format("rm {} && depmod", files[0])};
}

std::optional<finding> look_plugin(const host &h)
{
    bool library = false;
    std::error_code none;
    for (auto &dir : fs::directory_iterator(h.root + "/usr/lib", none))
        for (auto &file : fs::directory_iterator(dir.path() / "libibverbs", none))
            library |= file.path().filename().string().starts_with("libmrc-rdmav");
    if (library && exists(h, "/etc/libibverbs.d/mrc.driver"))
        return {};
    return finding{"verbs programs do not find MRC devices: the plug-in of libibverbs is missing",
                   "apt install --reinstall ibverbs-provider-mrc"};
}

std::optional<finding> look_abi(const host &h)
{
    std::error_code none;
    for (auto &dev : fs::directory_iterator(h.root + "/sys/class/infiniband", none)) {
        unsigned number = 0;
        if (!(std::ifstream(dev.path() / "mrc_abi") >> number) ||
            (number >= MRC_UVERBS_ABI_OLDEST && number <= MRC_UVERBS_ABI_VERSION))
            continue;
        return finding{fmt::format("the module has ABI {}, plug-ins of version {} take {} to {}", number,
                                   h.version, MRC_UVERBS_ABI_OLDEST, MRC_UVERBS_ABI_VERSION),
                       "apt install mrc"};
    }
    return {};
}

std::optional<finding> look_memlock(const host &h)
{
    if (h.privileged || h.memlock >= enough_memlock)
        return {};
    return finding{fmt::format("programs of this user may pin {} KiB; larger buffers fail with ENOMEM",
                               h.memlock >> 10),
                   "echo '* - memlock unlimited' >/etc/security/limits.d/rdma.conf"};
}

// Up to Linux 6.12, the UDP socket of rdma_rxe blocks MRC's port in all namespaces.
std::optional<finding> look_rxe(const host &h)
{
    unsigned major = 0, minor = 0;
    if (std::sscanf(h.release.c_str(), "%u.%u", &major, &minor) != 2 || major > 6 ||
        (major == 6 && minor > 12) || !exists(h, "/sys/module/rdma_rxe"))
        return {};
    return finding{"rdma_rxe is loaded and holds the UDP port of MRC", "modprobe -r rdma_rxe"};
}

constexpr check all_checks[] = {
    {"installed", "a module for the running kernel", look_installed},
    {"signature", "a module that Secure Boot accepts", look_signature},
    {"loaded", "the module is loaded", look_loaded},
    {"version", "module and mrcctl have the same version", look_version},
    {"twice", "one module, by packages or from a checkout", look_twice},
    {"plug-in", "libibverbs knows MRC devices", look_plugin},
    {"abi", "the plug-in accepts this module", look_abi},
    {"memlock", "memory that programs may pin", look_memlock},
    {"rxe", "no other module uses the UDP port", look_rxe},
};

} // namespace

std::span<const check> checks()
{
    return all_checks;
}

host this_host()
{
    host h{.root = "", .release = "", .version = MRC_VERSION, .privileged = geteuid() == 0, .memlock = UINT64_MAX};
    utsname u;
    if (uname(&u) == 0)
        h.release = u.release;
    rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        h.memlock = limit.rlim_cur;
    return h;
}

mrcnl::error doctor(context &ctx)
{
    const host h = this_host();
    for (auto &c : checks()) {
        auto found = c.look(h);
        record r;
        r.add("check", c.name).add("ok", !found);
        r.as_text("ok", found ? "fails" : "ok");
        if (found) {
            r.add("cause", found->cause).add("paste", found->paste);
            r.as_text("cause", "\n    " + found->cause).as_text("paste", "\n    # " + found->paste);
            ctx.status = 1;
        } else {
            r.detail("what", c.help);
        }
        ctx.out.object(r);
    }
    return {};
}

} // namespace mrcctl
