// SPDX-License-Identifier: GPL-2.0
// tracer.cc - see tracer.h.
#include "tracer.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout.h"

extern "C" const char mrc_watch_object[], mrc_watch_object_end[];

namespace mrcctl {

namespace {

using mrcnl::error;

// The latest message of libbpf, whose return values say less.
std::string last_words;

int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
    char text[512];
    if (level != LIBBPF_WARN)
        return 0;
    int n = vsnprintf(text, sizeof(text), format, args);
    std::string said(text, std::min<size_t>(n < 0 ? 0 : n, sizeof(text) - 1));
    last_words = said.substr(0, said.find('\n'));
    return 0;
}

error refused(int code, std::string_view what)
{
    if (code == EPERM || code == EACCES)
        return {code, fmt::format("{}: refused: this needs root, or CAP_BPF, CAP_PERFMON and a readable "
                                  "tracefs, and a kernel that is not locked down", what)};
    if (code == ENOSYS)
        return {code, fmt::format("{}: this kernel has no BPF (CONFIG_BPF_SYSCALL)", what)};
    return {code, fmt::format("{}: {}{}{}", what, strerror(code), last_words.empty() ? "" : ": ",
                              last_words)};
}

bool exists(const std::string &path)
{
    struct stat st;
    return !stat(path.c_str(), &st);
}

// Finds the directory that describes the events, or an error that says why there is none.
error find_events(std::string &dir)
{
    int code = ENOENT;
    for (const char *at : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        dir = std::string(at) + "/events";
        if (!access(dir.c_str(), R_OK | X_OK))
            return {};
        if (errno == EACCES)
            code = EACCES;
    }
    if (code == EACCES)
        return refused(code, "/sys/kernel/tracing");
    return {code, "tracefs is not mounted (mount -t tracefs tracefs /sys/kernel/tracing), or this "
                  "kernel has no tracing (CONFIG_EVENT_TRACING)"};
}

// Does the event exist, with the layout that the programs assume?
error check_event(const std::string &dir, const char *event)
{
    std::ifstream f(fmt::format("{}/mrc/{}/format", dir, event));
    std::string format{std::istreambuf_iterator<char>(f), {}};
    if (format.empty() && !exists("/sys/module/mrc"))
        return {ENOENT, "the module mrc is not loaded: modprobe mrc"};
    if (format.empty())
        return {ENOENT, fmt::format("the module has no tracepoint mrc:{}: it is older than this "
                                    "mrcctl, or the kernel has no tracepoints", event)};
    std::string differs = layout_differs(event, format);
    if (!differs.empty())
        return {EPROTO, "module and mrcctl have different versions of the tracepoints: " + differs};
    return {};
}

} // namespace

struct tracer::loaded {
    bpf_object *obj = nullptr;
    std::vector<bpf_link *> links;

    ~loaded()
    {
        for (auto *l : links)
            bpf_link__destroy(l);
        bpf_object__close(obj);
    }
    error open();
    error set_qpn(uint32_t qpn);
    error attach(const char *program);
    template <class T> std::vector<T> rows(const char *map) const;
};

error tracer::loaded::open()
{
    size_t size = static_cast<size_t>(mrc_watch_object_end - mrc_watch_object);
    LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "mrcctl");
    obj = bpf_object__open_mem(mrc_watch_object, size, &opts);
    if (!obj)
        return refused(errno, "BPF programs of mrcctl");
    bpf_program *p;
    bpf_object__for_each_program(p, obj)
        bpf_program__set_autoload(p, false);
    return {};
}

// Sets the only constant of the programs.
error tracer::loaded::set_qpn(uint32_t qpn)
{
    bpf_map *m;
    bpf_object__for_each_map(m, obj) {
        if (!bpf_map__is_internal(m) || bpf_map__value_size(m) < sizeof(qpn) ||
            !std::string_view(bpf_map__name(m)).ends_with(".rodata"))
            continue;
        if (int r = bpf_map__set_initial_value(m, &qpn, sizeof(qpn)))
            return refused(-r, "the QPN for the programs");
        return {};
    }
    return {EPROTO, "BPF programs of mrcctl: no constant to set"};
}

error tracer::loaded::attach(const char *program)
{
    bpf_program *p = bpf_object__find_program_by_name(obj, program);
    bpf_link *l = p ? bpf_program__attach(p) : nullptr;
    if (!l)
        return refused(p ? errno : ENOENT, fmt::format("attaching {}", program));
    links.push_back(l);
    return {};
}

// All rows of a map, each with the values of all CPUs, one behind the other.
template <class T> std::vector<T> tracer::loaded::rows(const char *map) const
{
    bpf_map *m = bpf_object__find_map_by_name(obj, map);
    int cpus = libbpf_num_possible_cpus();
    std::vector<T> all;
    if (!m || cpus < 1)
        return all;
    static_assert(sizeof(T) % 8 == 0);
    std::vector<T> parts(static_cast<size_t>(cpus));
    for (uint32_t row = 0; row < bpf_map__max_entries(m); row++) {
        parts.assign(parts.size(), T{});
        bpf_map_lookup_elem(bpf_map__fd(m), &row, parts.data());
        all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
}

tracer::tracer() = default;
tracer::~tracer() = default;

error tracer::start(const std::vector<program> &programs, uint32_t qpn)
{
    std::string dir;
    auto e = find_events(dir);
    for (auto &p : programs)
        e = e ? e : check_event(dir, p.event);
    if (e)
        return e;
    libbpf_set_print(keep_words);
    auto it = std::make_unique<loaded>();
    e = it->open();
    e = e ? e : it->set_qpn(qpn);
    if (e)
        return e;
    for (auto &p : programs)
        if (auto *prog = bpf_object__find_program_by_name(it->obj, p.name))
            bpf_program__set_autoload(prog, true);
    if (int r = bpf_object__load(it->obj); r == -EACCES) // a missing privilege would be EPERM
        return {EACCES, "loading BPF programs: the kernel's verifier refuses them: " + last_words};
    else if (r)
        return refused(-r, "loading BPF programs");
    for (auto &p : programs)
        if ((e = it->attach(p.name)))
            return e;
    it_ = std::move(it);
    return {};
}

std::vector<histogram> tracer::histograms(const char *map) const
{
    auto parts = it_->rows<mrc_hist>(map);
    std::vector<histogram> out(MRC_HIST_ROWS);
    size_t cpus = parts.size() / MRC_HIST_ROWS;
    for (size_t i = 0; i < parts.size(); i++)
        out[i / cpus].add(parts[i]);
    return out;
}

std::vector<mrc_recovery> tracer::recoveries() const
{
    auto parts = it_->rows<mrc_recovery>("recovery");
    std::vector<mrc_recovery> out(MRC_CAUSES);
    size_t cpus = parts.size() / MRC_CAUSES;
    for (size_t i = 0; i < parts.size(); i++) {
        out[i / cpus].lost += parts[i].lost;
        out[i / cpus].resent += parts[i].resent;
        out[i / cpus].early += parts[i].early;
    }
    return out;
}

} // namespace mrcctl
