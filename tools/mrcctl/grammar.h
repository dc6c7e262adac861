// SPDX-License-Identifier: GPL-2.0
//
// grammar.h - mrcctl's command language: OBJECT VERB [KEY VALUE]...
//
// One table holds every object, verb and key; the matcher, the help texts and
// the shell completion are all made from it. Pure: no netlink, no output.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mrcctl {

enum class action {
    status,
    metrics,
    top,
    dev_show,
    dev_set,
    plane_show,
    plane_set,
    profile_show,
    profile_set,
    profile_del,
    peer_show,
    ev_show,
    ev_set,
    cc_show,
    cc_set,
    cc_del,
    qp_show,
    stats_show,
    probe,
    avoid_show,
    avoid_set,
    avoid_clear,
    selfprobe_show,
    selfprobe_set,
    selfprobe_del,
    monitor,
    log,
    latency,
    reorder,
    recovery,
    histograms,
    explain,
    fabric_show,
    fabric_check,
    fabric_diagnose,
    fabric_drain,
    fabric_export,
    fabric_generate,
    fabric_precheck,
    fabric_undrain,
    doctor,
    report,
};

struct key {
    const char *name;
    std::vector<const char *> values; // placeholders; "a|b" is a choice
    const char *help;
    bool required = false;
    bool repeat = false;
    bool bare = false; // as the first words, its value may stand without the key
};

struct verb {
    const char *name; // "": the object needs no verb
    action what;
    const char *help;
    std::vector<key> keys;
    const char *example;
};

struct object {
    const char *name;
    const char *help;
    std::vector<verb> verbs; // the first is the default
};

const std::vector<object> &command_table();

// KEY VALUE... pairs as given; names are the table's, abbreviations resolved.
class arguments {
  public:
    struct item {
        const key *k;
        std::vector<std::string> values;
    };

    void add(const key *k, std::vector<std::string> values);
    bool has(std::string_view name) const;
    // First value of the (single) key.
    std::optional<std::string> get(std::string_view name) const;
    // All pairs in the given order, for repeated keys.
    const std::vector<item> &items() const { return items_; }

  private:
    std::vector<item> items_;
};

struct command {
    const object *obj = nullptr;
    const verb *v = nullptr;
    arguments args;
};

// The result: a command, a help text to print, or an error.
struct parsed {
    std::optional<command> cmd;
    std::string help;
    std::string error;
    std::string see = "mrcctl help"; // the help that explains the error
};

parsed parse(std::span<const std::string> words);

// The text of `help`. Null: of the level above.
std::string help_text(const object *obj, const verb *v);

// The whole table, a line for each object, verb and key, fields apart by tabs: for tools/man/pages.py.
std::string table_text();

// Candidates for the last word. "<dev>", "<peer>" and "<file>" stand for names that the kernel knows.
std::vector<std::string> complete(std::span<const std::string> words);

} // namespace mrcctl
