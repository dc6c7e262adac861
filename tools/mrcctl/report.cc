// SPDX-License-Identifier: GPL-2.0
// report.cc - see report.h.
//
// Each part is the output of a command, or a file; all of them pass through scrub(). A part that is
// not available is named as such, and the others are complete nevertheless.
#include "report.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../lib/fabric/fabric.h"
#include "child.h"
#include "names.h"
#include "scrub.h"
#include "tar.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::error;
namespace fs = std::filesystem;

constexpr size_t part_bytes = 8 << 20;
constexpr unsigned part_seconds = 120; // emulated machines are slow
constexpr const char *parameters = "/sys/module/mrc/parameters";

struct command_part {
    const char *file, *what;
    std::vector<std::string> words;
};

const std::vector<command_part> &commands()
{
    static const std::vector<command_part> all = {
        {"version.txt", "versions of tool and module", {"-V"}},
        {"status.txt", "status", {"-d", "status"}},
        {"doctor.txt", "what the doctor finds", {"doctor"}},
        {"devices.json", "devices and settings", {"-j", "-p", "-d", "dev", "show"}},
        {"planes.json", "planes", {"-j", "-p", "-d", "plane", "show"}},
        {"profiles.json", "EV profiles", {"-j", "-p", "profile", "show"}},
        {"cc.json", "congestion control", {"-j", "-p", "cc", "show"}},
        {"peers.json", "peers", {"-j", "-p", "-d", "peer", "show"}},
        {"evs.json", "EVs", {"-j", "ev", "show"}},
        {"qps.json", "queue pairs", {"-j", "-p", "-d", "qp", "show"}},
        {"counters.json", "counters", {"-j", "-p", "-d", "stats", "show"}},
        {"selfprobes.json", "self-probes", {"-j", "-p", "-d", "selfprobe", "show"}},
        {"events.jsonl", "event log", {"-j", "log"}},
    };
    return all;
}

std::string contents(const std::string &path)
{
    std::ifstream f(path, std::ios::binary);
    std::string s(part_bytes, '\0');
    f.read(s.data(), static_cast<std::streamsize>(s.size()));
    s.resize(static_cast<size_t>(f.gcount()));
    return s;
}

std::string system_text()
{
    utsname u;
    uname(&u);
    auto s = fmt::format("{} {} {} {}\n", u.sysname, u.release, u.version, u.machine);
    return s + contents("/etc/os-release") + contents("/proc/cmdline");
}

std::string parameters_text()
{
    std::map<std::string, std::string> sorted;
    std::error_code ignored;
    for (auto &entry : fs::directory_iterator(parameters, ignored))
        sorted[entry.path().filename()] = contents(entry.path());
    std::string s;
    for (auto &[name, value] : sorted)
        s += fmt::format("{} = {}", name, value.empty() ? "\n" : value);
    return s;
}

// Lines of the kernel log, with their priority in front.
std::string kernel_lines(std::string &why)
{
    constexpr int read_all = 3, size_of = 10;
    int size = klogctl(size_of, nullptr, 0);
    std::string all(static_cast<size_t>(std::max(size, 0)), '\0'), s;
    int got = klogctl(read_all, all.data(), static_cast<int>(all.size()));
    if (got < 0) {
        why = errno == EPERM ? "needs CAP_SYSLOG, use sudo" : std::generic_category().message(errno);
        return {};
    }
    all.resize(static_cast<size_t>(got));
    for (size_t at = 0; at < all.size();) {
        auto end = std::min(all.find('\n', at), all.size());
        auto line = std::string_view(all).substr(at, end - at);
        if (line.find("mrc") != line.npos || line.find("MRC") != line.npos)
            s.append(line).append("\n");
        at = end + 1;
    }
    return s;
}

// Replaces names of hosts; switches and ports keep theirs.
class hosts {
  public:
    explicit hosts(const std::string &file)
    {
        utsname u;
        uname(&u);
        own_ = u.nodename;
        try {
            fabric_ = std::make_unique<mrcfab::Fabric>(mrcfab::load_fabric(file));
        } catch (const mrcfab::FabricError &) {
        }
        if (!fabric_)
            return;
        unsigned n = 0;
        if (fabric_->flat)
            for (auto &name : fabric_->flat->hosts)
                names_.emplace(name, fmt::format("host-{}", ++n));
        for (auto &h : fabric_->hosts)
            names_.emplace(h.name, fmt::format("host-{}", ++n));
    }

    std::optional<std::string> operator()(std::string_view word) const
    {
        if (auto it = names_.find(word); it != names_.end())
            return it->second;
        if (fabric_ && fabric_->topology)
            if (auto node = fabric_->topology->find(word))
                if (auto *h = std::get_if<mrcfab::HostId>(&*node))
                    return fmt::format("host-{}-{}", h->t0, h->host);
        if (!own_.empty() && (word == own_ || word == std::string_view(own_).substr(0, own_.find('.'))))
            return "this-host";
        return {};
    }

    // The pattern from which a rule makes names is a name, too.
    std::string without_pattern(std::string text) const
    {
        if (!fabric_ || !fabric_->topology)
            return text;
        auto &pattern = fabric_->topology->host_name.text();
        for (size_t at = 0; (at = text.find(pattern, at)) != text.npos; at++)
            text.replace(at, pattern.size(), "host-{t0}-{host}");
        return text;
    }

  private:
    std::string own_;
    std::unique_ptr<mrcfab::Fabric> fabric_;
    std::map<std::string, std::string, std::less<>> names_;
};

class reporter {
  public:
    reporter(context &ctx, const std::string &fabric, bool names, uint64_t now)
        : ctx_(ctx), fabric_(fabric), named_(names), hosts_(fabric), tar_(now)
    {
        if (names)
            name_of_ = [](std::string_view) { return std::nullopt; };
        else
            name_of_ = [this](std::string_view word) { return hosts_(word); };
    }

    std::string make()
    {
        for (auto &c : commands())
            command(c);
        add("system.txt", "kernel and distribution", system_text());
        add("parameters.txt", "parameters of the module", parameters_text(), "the module is not loaded");
        auto text = contents(fabric_);
        add("fabric.toml", "fabric file", named_ ? text : hosts_.without_pattern(text), "there is none: " + fabric_);
        std::string why = "nothing of MRC in it";
        text = kernel_lines(why);
        add("kernel.log", "kernel log, lines of MRC", text, why);
        journal();
        tar_.add("contents.txt", list_);
        return tar_.whole();
    }

  private:
    void add(const char *file, const char *what, const std::string &text, const std::string &why = "empty")
    {
        auto clean = scrub(text, name_of_);
        record r;
        r.add("file", file).add("bytes", clean.size()).add("what", what);
        if (clean.empty())
            r.add("left_out", why);
        else
            tar_.add(file, clean);
        ctx_.out.object(r);
        list_ += fmt::format("{} {} {}{}\n", file, clean.size(), what, clean.empty() ? ", left out: " + why : "");
    }

    void command(const command_part &c)
    {
        std::vector<std::string> argv = {"/proc/self/exe"};
        argv.insert(argv.end(), c.words.begin(), c.words.end());
        auto r = run_child(argv, part_bytes, part_seconds);
        add(c.file, c.what, r.cut ? r.out + "\n(cut off)\n" : r.out, r.status < 0 ? r.why : "empty");
    }

    void journal()
    {
        auto r = run_child({"journalctl", "-q", "-u", "mrcd", "-b", "--no-pager", "--no-hostname", "-n", "5000", "-o", "short-iso"},
                           part_bytes, part_seconds);
        add("mrcd.log", "journal of mrcd", r.status ? "" : r.out,
            r.status > 0 ? "journalctl failed: " + r.out.substr(0, r.out.find('\n')) : r.status ? "journalctl: " + r.why
                                                                                               : "no lines of mrcd");
    }

    context &ctx_;
    std::string fabric_;
    bool named_;
    hosts hosts_;
    name_of name_of_;
    tar tar_;
    std::string list_;
};

// Writes a file that only its owner can read, and never replaces an existing one.
error write_new(const std::string &path, const std::string &bytes)
{
    int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return error::make(errno, path);
    size_t done = 0;
    while (done < bytes.size()) {
        auto n = write(fd, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            auto e = error::make(n < 0 ? errno : EIO, path);
            close(fd);
            unlink(path.c_str());
            return e;
        }
        done += static_cast<size_t>(n);
    }
    return close(fd) < 0 ? error::make(errno, path) : error();
}

} // namespace

error report(context &ctx, const arguments &args)
{
    auto names = args.get("names").value_or("off");
    if (names != "on" && names != "off")
        throw bad_value(fmt::format("names: \"{}\" is none of on, off", names));
    ctx.connect(); // enters the network namespace, also for children; these report the module's errors themselves
    auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    auto path = args.get("to").value_or(fmt::format("mrc-report-{:%Y%m%d-%H%M%S}.tar", fmt::localtime(now)));
    reporter r(ctx, args.get("fabric").value_or(default_fabric), names == "on", static_cast<uint64_t>(now));
    auto bytes = r.make();
    if (auto e = write_new(path, bytes))
        return e;
    ctx.out.object(record().add("report", path).add("bytes", bytes.size()).add("names", names));
    return {};
}

} // namespace mrcctl
