// SPDX-License-Identifier: GPL-2.0
// prober.h - configures the self-probes of this host, reads their results, and concludes what this
// host alone can know.
//
// It changes nothing else: avoider.h does, in mode act.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../tools/lib/verdict/probes.h"
#include "../tools/lib/verdict/tracker.h"
#include "event_file.h"
#include "log.h"
#include "probe_kernel.h"
#include "traffic.h"

namespace mrcd {

class Prober {
public:
    struct Verdict {
        std::string text;     // a sentence about the fault, or about its end
        bool bad = false, fault = false;
        unsigned plane = 0;   // 0: all
        double when = 0;
    };
    using OnVerdict = std::function<void(const Verdict &)>;

    struct Setup {
        std::string node, dev;
        mrcver::Rate rate = mrcver::Rate::kOff;
        bool advise = false;
        std::string file;     // file for result lines; "": none
        unsigned timeout_ms = 10;   // of a probe
    };

    // Throws std::runtime_error if the node is not a host.
    Prober(const mrcfab::Fabric &fabric, const Setup &setup, ProbeKernel &kernel, const Log &log, OnVerdict told);

    // @now: seconds of the Epoch. To be called every kEach; later calls do no harm.
    void tick(double now);
    // The module was loaded.
    void renew() { next_set_ = 0; }

    std::vector<Verdict> verdicts() const;   // in effect now
    // Metrics for Prometheus, in at most @room series: by plane and kind, or by plane only.
    std::string metrics(std::size_t room) const;
    std::vector<mrcver::Part> sick() const;  // parts that verdicts name now as faults
    const mrcver::Layout &layout() const { return layout_; }

    static constexpr double kEach = 0.2;     // seconds

private:
    struct Test {
        mrcver::Probe probe;
        bool control = false, host = false;
        ProbeCount seen;
        bool known = false;
    };
    struct Sum {
        std::uint64_t sent = 0, failed = 0, back = 0, rtt = 0;
    };

    void plan();
    ProbeTimes times() const;
    bool set(double now);
    mrcver::Evidence difference(const ProbeState &state, double now);
    void add(mrcver::Evidence &e, Test &t, const ProbeCount &now);
    void judge(const mrcver::Evidence &slice);
    void write(double now);
    void complain(const mrcnl::error &e);
    std::string said(const mrcver::Finding &f) const;

    mrcver::Layout layout_;
    Setup setup_;
    ProbeKernel &kernel_;
    const Log &log_;
    OnVerdict told_;
    unsigned host_;
    std::vector<ProbeTest> tests_;
    std::map<std::uint32_t, Test> by_id_;
    mrcver::Tracker tracker_;
    TrafficReader traffic_;
    mrcver::Evidence pending_;                 // not written yet
    std::map<std::pair<unsigned, unsigned>, Sum> sums_, shown_;   // plane, kind
    std::optional<std::uint8_t> dscp_;
    EventFile file_;
    std::string complaint_;
    std::uint64_t stalls_ = 0, strays_ = 0;
    bool counted_ = false;
    double next_set_ = 0, last_ = 0, written_ = 0, shown_at_ = 0;
};

// A line of the event file, as JSON.
std::string verdict_json(const Prober::Verdict &verdict);

}   // namespace mrcd
