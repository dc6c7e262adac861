// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// fabric.cc - see fabric.h.
#include "fabric.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "errors.h"
#include "flat_read.h"
#include "lists.h"
#include "profile.h"
#include "reader.h"
#include "rule.h"
#include "usid.h"

namespace mrcfab {

namespace {

// Lists of as many nodes as one block of uSIDs holds take less.
constexpr std::uintmax_t kFileMax = 8u << 20;

void read_planes(Reader &root, Fabric &f)
{
    Reader planes = root.table("planes");

    f.planes = static_cast<unsigned>(planes.number("count", 1, kPlanesMax));
    if (planes.optional("mtu"))
        f.mtu = static_cast<unsigned>(planes.number("mtu", 1280, 65535));
    planes.finish();
}

void read_prefixes(Reader &root, Fabric &f)
{
    Reader fabric = root.table("fabric");

    f.block = fabric.prefix6("block", 24, kUsidBlockLen, "fcbb:bb00::/32");
    if (block_per_plane(f.block.len) && blocks_of(f.block.len) < f.planes)
        fabric.bad("block", "{} holds {} blocks of length {}, expected one for each of {} planes: "
                            "a shorter prefix", to_string(f.block), blocks_of(f.block.len),
                   kUsidBlockLen, f.planes);
    f.prefix = fabric.prefix6("prefix", 16, 127, "fd00:6d72:63::/64");
    if (f.block.overlaps(f.prefix))
        fabric.bad("prefix", "{} and fabric.block {} overlap, expected a prefix apart from it",
                   to_string(f.prefix), to_string(f.block));
    fabric.finish();
}

void read_profile(Reader &root, Fabric &f)
{
    Reader profile = root.table("profile");

    f.profile_id = profile.number("id", 1, INT64_MAX);
    f.evs_per_plane = static_cast<unsigned>(profile.number("evs_per_plane", 1, kEvsMax / f.planes));
    if (profile.optional("min_active"))
        f.min_active = static_cast<unsigned>(
            profile.number("min_active", 1, f.evs_per_plane * f.planes));
    profile.finish();
}

Fabric build(const std::string &file, const toml::table &table)
{
    Reader root(file, table, "");
    Errors errors;
    Fabric f;

    // A mistyped section is the cause of what is missing otherwise.
    root.only({"planes", "fabric", "profile", "qos", "probe", "flat", "topology", "usid", "switch", "host"});
    if (root.has("qos"))
        errors.of([&] { f.qos = read_qos(root); });
    if (root.has("probe"))
        errors.of([&] { f.probing = read_probing(root); });
    if (root.has("flat")) {
        errors.of([&] { f.flat = read_flat(root, f); });
        errors.raise();
        return f;
    }
    errors.of([&] { read_planes(root, f); });
    errors.of([&] { read_prefixes(root, f); });
    if (f.planes)   // whose number limits what a profile has
        errors.of([&] { read_profile(root, f); });
    errors.raise();
    if (root.has("topology"))
        f.topology = read_rule(root, f);
    else
        read_lists(root, f);
    return f;
}

// Names are ASCII, and so is what the parser sees: toml++ 3.3 runs into code that it calls
// unreachable at some letters of other scripts. Of each character one '?' is left, so that columns
// are right; in comments nobody sees it.
std::string in_ascii(std::string_view text)
{
    std::string plain;

    plain.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80)
            plain += c;
        else if (byte >= 0xc0)   // the first byte of a character
            plain += '?';
    }
    return plain;
}

}   // namespace

void Fabric::add(Switch sw)
{
    switch_index_.emplace(sw.name, switches.size());
    switches.push_back(std::move(sw));
}

void Fabric::add(Host host)
{
    host_index_.emplace(host.name, hosts.size());
    hosts.push_back(std::move(host));
}

const Switch *Fabric::find_switch(std::string_view name) const
{
    const auto it = switch_index_.find(name);
    return it == switch_index_.end() ? nullptr : &switches[it->second];
}

const Host *Fabric::find_host(std::string_view name) const
{
    const auto it = host_index_.find(name);
    return it == host_index_.end() ? nullptr : &hosts[it->second];
}

unsigned Fabric::usid(const Switch &sw) const
{
    return sw.plane * plane_stride + (sw.tier == 0 ? t0_base : t1_base) + sw.index;
}

unsigned Fabric::usid(const Host &host, unsigned plane) const
{
    return plane * plane_stride + host_base + host.index;
}

namespace {

// What people write instead of TOML, by the text of the line that could not be read.
std::string not_toml(std::string_view text, std::size_t line)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != text.npos && (text[first] == '{' || text.substr(first, 3) == "---"))
        return text[first] == '{' ? "; this looks like JSON, expected TOML" : "; this looks like YAML, expected TOML";
    for (; line > 1 && text.find('\n') != text.npos; line--)
        text.remove_prefix(text.find('\n') + 1);
    text = text.substr(0, text.find('\n'));
    const auto equals = text.find('='), colon = text.find(':');
    if (equals == text.npos && colon != text.npos && text.find('[') == text.npos)
        return "; this looks like YAML, expected key = value";
    const auto value = equals == text.npos ? equals : text.find_first_not_of(" \t", equals + 1);
    if (value != text.npos && text[value] != '"' && text[value] != '\'' && text[value] != '[' &&
        (text.find(':', value) != text.npos || std::count(text.begin() + static_cast<long>(value), text.end(), '.') > 1))
        return "; an address stands in quotes";
    return "";
}

}   // namespace

Fabric parse_fabric(std::string_view text, const std::string &file_name)
{
    try {
        const toml::table root = toml::parse(in_ascii(text), std::string_view(file_name));
        return build(file_name, root);
    } catch (const toml::parse_error &e) {
        fail(file_name, e.source(), "{}{}", e.description(), not_toml(text, e.source().begin.line));
    }
}

Fabric load_fabric(const std::string &file_name)
{
    std::error_code ec;
    const bool regular = std::filesystem::is_regular_file(file_name, ec);

    if (!ec && !regular)
        throw FabricError(fmt::format("{}: cannot be read: it is {}, expected a fabric file",
                                      file_name, std::filesystem::is_directory(file_name)
                                                     ? "a directory" : "no regular file"));
    const auto size = ec ? 0 : std::filesystem::file_size(file_name, ec);
    if (ec)
        throw FabricError(fmt::format("{}: cannot be read: {}", file_name, ec.message()));
    if (size > kFileMax)
        throw FabricError(fmt::format("{}: {} bytes are no fabric file, expected {} at most",
                                      file_name, size, kFileMax));
    std::ifstream in(file_name);
    std::string text(size, '\0');
    in.read(text.data(), static_cast<std::streamsize>(size));
    if (!in && !in.eof())
        throw FabricError(fmt::format("{}: cannot be read: {}", file_name,
                                      std::generic_category().message(errno)));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return parse_fabric(text, file_name);
}

}   // namespace mrcfab
