// SPDX-License-Identifier: GPL-2.0
// print.cc - prints a report as text or JSON (report.h).
#include "report.h"

namespace sim {

namespace {

void print_number(double v)
{
    if (v == static_cast<double>(static_cast<s64>(v)))
        std::printf("%lld", static_cast<long long>(v));
    else
        std::printf("%.4f", v);
}

std::string quoted(const std::string &s)
{
    std::string out = "\"";

    for (char c : s) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    return out + "\"";
}

void print_steps(const report &r)
{
    std::printf(",\n\"steps\": {\"fields\": [\"step\", \"flows\", \"begin_us\", \"end_us\", "
                "\"slowest_us\", \"alone_us\", \"lost_us\"],\n\"rows\": [\n");
    for (size_t i = 0; i < r.steps.size(); i++) {
        const step_result &s = r.steps[i];

        std::printf("[%u, %llu, %.3f, %.3f, %.3f, %.3f, %.3f]%s\n", s.step,
                    static_cast<unsigned long long>(s.flows), s.begin_us, s.end_us, s.slowest_us,
                    s.alone_us, s.slowest_us - s.alone_us, i + 1 < r.steps.size() ? "," : "");
    }
    std::printf("]}");
}

void print_flows(const report &r)
{
    std::printf(",\n\"flows\": {\"fields\": "
                "[\"src\", \"dst\", \"bytes\", \"start_us\", \"fct_us\", "
                "\"fct_sender_us\", \"ideal_us\", \"lost\"],\n\"rows\": [\n");
    for (size_t i = 0; i < r.flows.size(); i++) {
        const flow_result &f = r.flows[i];

        std::printf("[%u, %u, %u, %.3f, %.3f, %.3f, %.3f, %u]%s\n", f.src, f.dst, f.bytes,
                    f.start_us, f.rx_us, f.tx_us, f.ideal_us, f.lost,
                    i + 1 < r.flows.size() ? "," : "");
    }
    std::printf("]}");
}

} // namespace

void print_text(const report &r, const scenario &s)
{
    std::printf("scenario %s\n", s.name.c_str());
    std::printf("%u hosts, %u T0s, %u T1s, %u planes at %u Mb/s; %s, %s\n",
                static_cast<u32>(s.fabric.hosts), static_cast<u32>(s.t0s()),
                static_cast<u32>(s.fabric.t1s), static_cast<u32>(s.fabric.planes),
                static_cast<u32>(s.mbps()), s.workload.kind.c_str(), s.host.cc.c_str());
    for (const auto &[name, value] : r.metrics) {
        if (value == 0)
            continue;
        std::printf("%-22s ", name.c_str());
        print_number(value);
        std::printf("\n");
    }
    if (!r.steps.empty())
        std::printf("%6s %8s %12s %12s %12s %12s %12s\n", "step", "flows", "begin us", "end us",
                    "slowest us", "alone us", "lost us");
    for (const step_result &x : r.steps)
        std::printf("%6u %8llu %12.3f %12.3f %12.3f %12.3f %12.3f\n", x.step,
                    static_cast<unsigned long long>(x.flows), x.begin_us, x.end_us, x.slowest_us,
                    x.alone_us, x.slowest_us - x.alone_us);
    std::printf("hash %016llx\n", static_cast<unsigned long long>(r.hash));
}

void print_json(const report &r, const scenario &s, const std::vector<std::string> &unmet,
                bool flows)
{
    std::printf("{\"scenario\": %s, \"about\": %s, \"status\": %s, \"hash\": \"%016llx\",\n",
                quoted(s.name).c_str(), quoted(s.about).c_str(), quoted(s.status).c_str(),
                static_cast<unsigned long long>(r.hash));
    std::printf("\"metrics\": {");
    for (size_t i = 0; i < r.metrics.size(); i++) {
        std::printf("%s%s: ", i ? ", " : "", quoted(r.metrics[i].first).c_str());
        print_number(r.metrics[i].second);
    }
    std::printf("},\n\"expect\": {");
    for (size_t i = 0; i < s.expect.size(); i++) {
        std::printf("%s%s: ", i ? ", " : "", quoted(s.expect[i].metric).c_str());
        print_number(s.expect[i].value);
    }
    std::printf("},\n\"unmet\": [");
    for (size_t i = 0; i < unmet.size(); i++)
        std::printf("%s%s", i ? ", " : "", quoted(unmet[i]).c_str());
    std::printf("],\n\"goodput\": {\"bucket_us\": %.1f, \"gbps\": [", r.bucket_us);
    for (size_t i = 0; i < r.goodput_gbps.size(); i++)
        std::printf("%s%.2f", i ? ", " : "", r.goodput_gbps[i]);
    std::printf("]}");
    if (!r.steps.empty())
        print_steps(r);
    if (flows)
        print_flows(r);
    std::printf("}\n");
}

} // namespace sim
