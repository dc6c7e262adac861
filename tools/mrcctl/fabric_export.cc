// SPDX-License-Identifier: GPL-2.0
//
// fabric_export.cc - see fabric_export.h.
#include "fabric_export.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "../lib/fabric/desired.h"
#include "../lib/switches/export.h"
#include "names.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using mrcsw::Exported;
using mrcsw::Format;


void print(context &ctx, const Format &format, const std::string &name, const Exported &e)
{
    if (ctx.opt.as_json) {
        json traps = json::array();
        for (auto &t : e.traps)
            traps.push_back(t);
        ctx.out.object(record().add("node", name).add("as", format.name).add("text", e.text).add("traps", traps));
        return;
    }
    fmt::print("{}", e.text);
    if (!format.comments)
        fmt::print(stderr, "{}", mrcsw::as_comments(e.traps, "#"));
}

// Writes a file named after the node. Such names have neither '/' nor control characters; "." and
// ".." get the suffix.
error write_config(const std::string &dir, const Format &format, const std::string &name, const Exported &e)
{
    const auto put = [&](const std::string &suffix, const std::string &text) {
        const auto path = fmt::format("{}/{}.{}", dir, name, suffix);
        std::ofstream out(path, std::ios::trunc);
        out << text;
        out.close();
        return out ? error() : error::make(errno ? errno : EIO, path);
    };
    if (auto bad = put(std::string(format.suffix), e.text))
        return bad;
    return format.comments ? error() : put("txt", mrcsw::as_comments(e.traps, "#"));
}

error no_such_switch(const mrcfab::Fabric &f, const std::string &name)
{
    if (f.flat)
        return {EINVAL, "[flat] has no switches: nothing to export", false};
    if (mrcfab::desired_for(f, name))
        return {EINVAL, fmt::format("{} is a host: mrcd sets it up, export is for switches", name), false};
    return {ENOENT, fmt::format("there is no switch \"{}\" in the fabric", name), false};
}

error export_nodes(context &ctx, const mrcfab::Fabric &f, const Format &format, const std::string &node,
                   const std::optional<std::string> &dir)
{
    const mrcfab::Cabling cabling(f);
    const bool all = node == "all" && !f.flat;
    std::size_t written = 0;

    if (all && !dir)
        return {EINVAL, "all switches need a folder for their files: to DIR", false};
    if (dir) {
        std::error_code ec;
        std::filesystem::create_directories(*dir, ec);
        if (ec)
            return error::make(ec.value(), *dir);
    }
    for (auto &name : all ? mrcsw::switch_names(f) : std::vector<std::string>{node}) {
        const auto config = mrcsw::switch_config(f, cabling, name);
        if (!config)
            return no_such_switch(f, name);
        const auto e = format.write(*config);
        if (!dir)
            print(ctx, format, name, e);
        else if (auto bad = write_config(*dir, format, name, e))
            return bad;
        written++;
    }
    if (dir)
        ctx.out.object(record().add("written", written).add("to", *dir));
    return {};
}

} // namespace

error fabric_export(context &ctx, const arguments &args)
{
    auto as = *args.get("as");
    auto *format = mrcsw::find_format(as);
    if (!format)
        throw bad_value(fmt::format("as: \"{}\" is none of sonic, frr, cumulus, eos", as));
    try {
        return export_nodes(ctx, mrcfab::load_fabric(args.get("file").value_or(default_fabric)), *format,
                            *args.get("node"), args.get("to"));
    } catch (const mrcfab::FabricError &e) {
        return {EINVAL, e.what(), false};
    }
}

} // namespace mrcctl
