// SPDX-License-Identifier: GPL-2.0
// fuzz_trace.cc - the bytes are a workload of the simulator: the first one says in which form. It is
// refused with a line and a text fit for a terminal; or every message has bytes and hosts, each
// operation waits only for what happens at its source, and all can be done in some order.
#include <cctype>
#include <sstream>

#include "require.h"
#include "../../tools/sim/cluster/trace.h"

namespace {

using namespace sim;

constexpr u32 hosts = 8;

void refused(const std::string &text)
{
    REQUIRE(text.rfind("fuzz:", 0) == 0);
    REQUIRE(std::isdigit(static_cast<unsigned char>(text[5])));
    REQUIRE(text.size() < 300);
    for (char c : text)
        REQUIRE(!std::iscntrl(static_cast<unsigned char>(c)));
}

void runs(const trace &t)
{
    followers after(t.ops.size(), t.edges);
    std::vector<u32> waits(t.ops.size()), ready;
    size_t done = 0;

    REQUIRE(!t.ops.empty());
    for (const trace_op &op : t.ops) {
        REQUIRE(op.src < hosts && op.dst < hosts && op.line);
        REQUIRE(op.local() || op.bytes);
        REQUIRE(op.compute_ps <= trace::time_max_us * ps_per_us);
    }
    for (const trace_edge &e : t.edges) {
        const trace_op &b = t.ops[e.before];

        REQUIRE(t.ops[e.after].src == (e.when == moment::sent ? b.src : b.dst));
        waits[e.after]++;
    }
    for (u32 i = 0; i < t.ops.size(); i++)
        if (!waits[i])
            ready.push_back(i);
    for (; !ready.empty(); done++) {
        u32 op = ready.back();

        ready.pop_back();
        for (moment when : {moment::sent, moment::received})
            for (u32 next : after.of(op, when))
                if (!--waits[next])
                    ready.push_back(next);
    }
    REQUIRE(done == t.ops.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (!size)
        return 0;
    std::istringstream in(std::string(reinterpret_cast<const char *>(data) + 1, size - 1));

    try {
        runs(read_trace(in, "fuzz", static_cast<trace_format>(data[0] % 3), hosts));
    } catch (const std::runtime_error &e) {
        refused(e.what());
    }
    return 0;
}
