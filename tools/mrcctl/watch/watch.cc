// SPDX-License-Identifier: GPL-2.0
// watch.cc - see watch.h.
#include "watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "../replace.h"
#include "../values.h"
#include "buckets.h"
#include "histogram.h"
#include "tracer.h"

namespace mrcctl {

namespace {

using mrcnl::error;

// The names of the counters rtx_*.
constexpr std::array<const char *, MRC_CAUSES> causes = {"rack",  "nack", "trim", "rto",
                                                         "plane", "rnr",  "sleek"};

std::string plain_number(uint64_t n)
{
    return std::to_string(n);
}

// While it exists, signals that end the program are awaited and not obeyed, so the counts are
// shown.
class patience {
  public:
    patience()
    {
        sigemptyset(&set_);
        for (int s : {SIGINT, SIGTERM, SIGHUP})
            sigaddset(&set_, s);
        sigprocmask(SIG_BLOCK, &set_, nullptr);
    }

    // True: a signal came.
    bool wait(std::optional<uint64_t> seconds)
    {
        timespec left{static_cast<time_t>(seconds.value_or(0)), 0};
        timespec now{}, end{};
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += left.tv_sec;
        while (seconds ? sigtimedwait(&set_, nullptr, &left) < 0 : sigwaitinfo(&set_, nullptr) < 0) {
            if (errno != EINTR)
                return false;
            clock_gettime(CLOCK_MONOTONIC, &now);
            left.tv_sec = std::max<time_t>(end.tv_sec - now.tv_sec, 0);
        }
        return true;
    }

  private:
    sigset_t set_;
};

std::optional<uint64_t> seconds_of(const arguments &args)
{
    auto v = args.get("seconds");
    return v ? std::optional(parse_time(*v, "s", 1, 1000000, "seconds")) : std::nullopt;
}

uint32_t qpn_of(const arguments &args)
{
    auto v = args.get("qpn");
    return v ? static_cast<uint32_t>(parse_number(*v, 1, (1u << 24) - 1, "qpn")) : 0;
}

// Counts events for the requested time.
error observe(context &ctx, const arguments &args, tracer &t,
              const std::vector<tracer::program> &programs)
{
    auto seconds = seconds_of(args);
    uint32_t qpn = qpn_of(args);
    patience p;
    if (auto e = t.start(programs, qpn))
        return e;
    if (!ctx.opt.as_json && !seconds && isatty(STDERR_FILENO))
        fmt::print(stderr, "mrcctl: counting; Ctrl-C stops and prints the result\n");
    p.wait(seconds);
    return {};
}

json steps_json(const histogram &h)
{
    json j = json::array();
    for (auto &s : h.steps())
        j.push_back({{"from", s.from}, {"to", s.to}, {"count", s.count}});
    return j;
}

using number = std::string (*)(uint64_t);

// Adds the figures of @h. Keys start with @what and end with @unit.
void add_figures(record &r, const histogram &h, const std::string &what, const char *unit, number n)
{
    const std::pair<const char *, uint64_t> figures[] = {
        {"min", h.min()},           {"mean", h.mean()}, {"median", h.quantile(0.5)},
        {"p99", h.quantile(0.99)}, {"max", h.max()},
    };
    for (auto &[name, value] : figures) {
        std::string key = what + name + unit, shown = what + name;
        std::replace(shown.begin(), shown.end(), '_', '-');
        r.add(key, value);
        r.as_text(key, fmt::format("{} {}", shown, n(value)));
    }
}

void add_steps(record &r, context &ctx, const histogram &h, const char *key, number n)
{
    r.add(key, steps_json(h));
    r.as_text(key, "\n" + draw(ctx.opt.details ? h.steps() : h.doublings(), n));
}

void add_plane(record &r, uint32_t plane)
{
    r.add("plane", plane ? json(plane) : json());
    if (!plane)
        r.as_text("plane", "plane unknown");
}

// Prints the counts of @program for each plane that it saw.
error by_plane(context &ctx, const arguments &args, const tracer::program &program,
               const std::function<void(record &, const histogram &)> &fill)
{
    tracer t;
    if (auto e = observe(ctx, args, t, {program}))
        return e;
    auto rows = t.histograms("first");
    for (uint32_t plane = 0; plane < rows.size(); plane++) {
        record r;
        if (!rows[plane].count())
            continue;
        add_plane(r, plane);
        fill(r, rows[plane]);
        ctx.out.object(r);
    }
    return {};
}

constexpr tracer::program latency_programs[] = {{"latency", "mrc_rtt"}};
constexpr tracer::program recovery_programs[] = {{"recovery_end", "mrc_recovered"},
                                                 {"recovery_loss", "mrc_loss"},
                                                 {"recovery_resend", "mrc_resend"}};

} // namespace

error watch_latency(context &ctx, const arguments &args)
{
    return by_plane(ctx, args, latency_programs[0], [&](record &r, const histogram &h) {
        r.add("samples", h.count());
        add_figures(r, h, "", "_ns", format_ns);
        add_steps(r, ctx, h, "histogram", format_ns);
    });
}

error watch_reorder(context &ctx, const arguments &args)
{
    return by_plane(ctx, args, {"reorder", "mrc_rx"}, [&](record &r, const histogram &h) {
        r.add("packets", h.count());
        r.add("in_order", h.exactly(0));
        add_figures(r, h, "", "", plain_number);
        add_steps(r, ctx, h, "histogram", plain_number);
    });
}

error watch_recovery(context &ctx, const arguments &args)
{
    tracer t;
    if (auto e = observe(ctx, args, t, {std::begin(recovery_programs), std::end(recovery_programs)}))
        return e;
    auto found = t.histograms("first"), mended = t.histograms("second");
    auto counts = t.recoveries();
    for (uint32_t cause = 0; cause < counts.size(); cause++) {
        const mrc_recovery &n = counts[cause];
        record r;
        if (!n.lost && !n.resent && !mended[cause].count())
            continue;
        r.add("cause", causes[cause]);
        r.add("lost", n.lost).add("resent", n.resent).add("recovered", mended[cause].count());
        r.add("early", n.early);
        add_figures(r, found[cause], "found_", "_ns", format_ns);
        add_figures(r, mended[cause], "", "_ns", format_ns);
        r.add("found", steps_json(found[cause]));
        r.as_text("found", "");
        add_steps(r, ctx, mended[cause], "histogram", format_ns);
        ctx.out.object(r);
    }
    return {};
}

error watch_histograms(context &ctx, const arguments &args)
{
    if (ctx.opt.as_json)
        throw bad_value("histograms have Prometheus' text format; mrcctl -j latency and mrcctl -j recovery are JSON");
    const std::string path = *args.get("to");
    const auto each_text = args.get("interval");
    const uint64_t each = each_text ? parse_time(*each_text, "s", 1, 3600, "interval") : 10;
    auto left = seconds_of(args);
    tracer rtt, recovery;
    patience p;

    if (auto e = rtt.start({std::begin(latency_programs), std::end(latency_programs)}, 0))
        return e;
    if (auto e = recovery.start({std::begin(recovery_programs), std::end(recovery_programs)}, 0))
        return e;
    for (bool ended = false;;) {
        if (auto e = replace_file(path, buckets(rtt.histograms("first"), recovery.histograms("second"))))
            return e;
        if (ended || (left && !*left))
            return {};
        const uint64_t pause = left ? std::min(each, *left) : each;
        ended = p.wait(pause);
        if (left)
            *left -= pause;
    }
}

} // namespace mrcctl
