// SPDX-License-Identifier: GPL-2.0
//
// gather.cc - see gather.h.
#include "gather.h"

#include <utility>

#include <fmt/format.h>
#include <linux/mrc.h>

#include "values.h"

namespace mrcctl {

using mrcnl::attr;
using mrcnl::table;

namespace {

// The fields of a generator, in the words of `profile set`.
std::string gen_text(const attr &gen)
{
    std::string s = fmt::format("gen {}", table(gen)[MRC_A_GEN_PORT].num());
    for (attr a : gen.nested()) {
        if (a.type() == MRC_A_GEN_COPY) {
            table c(a);
            s += fmt::format(" copy {}:{}:{}:{}", copy_from_name(c[MRC_A_COPY_FROM].num()),
                             c[MRC_A_COPY_BIT].num(), c[MRC_A_COPY_WIDTH].num(),
                             c[MRC_A_COPY_AT].num());
        }
        if (a.type() != MRC_A_GEN_FIELD)
            continue;
        table f(a);
        s += fmt::format(" field {},{:#x}", f[MRC_A_FIELD_WIDTH].num(), f[MRC_A_FIELD_INIT].num());
        if (f[MRC_A_FIELD_MASK].num())
            s += fmt::format(",{:#x},{},{}", f[MRC_A_FIELD_MASK].num(),
                             f[MRC_A_FIELD_FIRST].num(), f[MRC_A_FIELD_LAST].num());
    }
    return s;
}

json gen_json(const attr &gen)
{
    json fields = json::array(), copies = json::array();
    for (attr a : gen.nested()) {
        if (a.type() == MRC_A_GEN_COPY) {
            table c(a);
            copies.push_back({{"from", copy_from_name(c[MRC_A_COPY_FROM].num())},
                              {"bit", c[MRC_A_COPY_BIT].num()},
                              {"width", c[MRC_A_COPY_WIDTH].num()},
                              {"at", c[MRC_A_COPY_AT].num()}});
        }
        if (a.type() != MRC_A_GEN_FIELD)
            continue;
        table f(a);
        fields.push_back({{"width", f[MRC_A_FIELD_WIDTH].num()},
                          {"init", f[MRC_A_FIELD_INIT].num()},
                          {"mask", f[MRC_A_FIELD_MASK].num()},
                          {"min", f[MRC_A_FIELD_FIRST].num()},
                          {"max", f[MRC_A_FIELD_LAST].num()}});
    }
    json out = {{"port", table(gen)[MRC_A_GEN_PORT].num()}, {"fields", std::move(fields)}};
    if (!copies.empty())
        out["copies"] = std::move(copies);
    return out;
}

} // namespace

void profile_gatherer::part(const table &t)
{
    table p(t[MRC_A_PROFILE]);
    record head = profile_record(t);
    if (started_ && head.fields() != head_.fields())
        flush();
    started_ = true;
    head_ = head;
    auto fmt = static_cast<uint32_t>(p[MRC_A_PROFILE_FMT].num());
    for (attr a : t[MRC_A_PROFILE].nested()) {
        if (a.type() == MRC_A_PROFILE_GEN) {
            gens_.push_back(gen_json(a));
            if (p[MRC_A_PROFILE_MODE].num() == MRC_MODE_GEN) // otherwise the fields only name the EVs
                gen_text_ += (gen_text_.empty() ? "" : " ") + gen_text(a);
        }
        if (a.type() != MRC_A_PROFILE_EV)
            continue;
        table e(a);
        uint64_t port = e[MRC_A_EV_PORT].num();
        std::string value = format_ev(fmt, e[MRC_A_EV_VALUE].bytes());
        text_ += fmt::format("{}ev {} {}", text_.empty() ? "" : " ", port, value);
        evs_.push_back({{"port", port}, {"value", std::move(value)}});
        if (e[MRC_A_EV_STATE].num() == MRC_NL_EV_DENIED)
            evs_.back()["denied"] = true;
    }
}

void profile_gatherer::flush()
{
    if (!started_)
        return;
    // With -d, text is in the words of `profile set`: all EVs, or the fields that generate them.
    if (!ctx_.opt.details)
        text_ = fmt::format("evs {}", evs_.size());
    else if (!gen_text_.empty())
        text_.clear();
    if (!gens_.empty())
        head_.add("gen", std::move(gens_)).as_text("gen", std::move(gen_text_));
    head_.add("ev", std::move(evs_)).as_text("ev", std::move(text_));
    ctx_.out.object(head_);
    evs_ = json::array();
    gens_ = json::array();
    text_.clear();
    gen_text_.clear();
    started_ = false;
}

void peer_gatherer::part(const table &t)
{
    auto peer = table(t[MRC_A_PEER])[MRC_A_PEER_GID].bytes();
    std::string key = fmt::format("{} ", t[MRC_A_DEV_IFINDEX].num());

    key.append(peer.begin(), peer.end());
    if (key != key_)
        flush();
    key_ = std::move(key);
    head_ = peer_record(t);
    ccs_.add(t[MRC_A_PEER]);
}

void peer_gatherer::flush()
{
    if (key_.empty())
        return;
    std::exchange(ccs_, {}).into(head_);
    ctx_.out.object(head_);
    key_.clear();
}

} // namespace mrcctl
