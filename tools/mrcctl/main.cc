// SPDX-License-Identifier: GPL-2.0
// mrcctl - shows and changes MRC devices over generic netlink.
//
//     mrcctl [-j] [-p] [-d] [-V] [-n NETNS] OBJECT VERB [KEY VALUE]...
//
// Needs only the kernel, and no daemon. Man page: mrcctl(8).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <linux/mrc.h>
#include <sched.h>
#include <unistd.h>

#include "commands.h"
#include "grammar.h"
#include "module.h"
#include "printer.h"
#include "values.h"

namespace {

using namespace mrcctl;

enum { exit_ok = 0, exit_usage = 1, exit_refused = 2 };

struct options {
    print_options print;
    std::string netns;
    bool version = false;
    bool help = false;
    std::string error;
};

// "-j", "-json", "--json", "-js": one letter or a prefix of the long form.
bool is_option(std::string_view word, std::string_view name)
{
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    return !word.empty() && name.starts_with(word);
}

// Splits "-jpn" into "-j", "-p", "-n". Words that are no such bundle stay whole.
std::vector<std::string> letters_of(const std::string &word)
{
    constexpr std::string_view names[] = {"json", "pretty", "details", "Version", "help", "netns"};
    auto whole = [&](std::string_view name) { return is_option(word, name); };
    if (word.starts_with("--") || word.find_first_not_of("jpdVhn", 1) != std::string::npos ||
        std::any_of(std::begin(names), std::end(names), whole))
        return {word};
    std::vector<std::string> out;
    for (char c : word.substr(1))
        out.push_back({'-', c});
    return out;
}

// Takes the options from the front of @words.
options take_options(std::vector<std::string> &words)
{
    options o;
    size_t i = 0;
    for (; i < words.size() && words[i].size() > 1 && words[i][0] == '-'; i++) {
        if (words[i] == "--") {
            i++;
            break;
        }
        bool netns = false;
        for (auto &w : letters_of(words[i])) {
            if (is_option(w, "json"))
                o.print.as_json = true;
            else if (is_option(w, "pretty"))
                o.print.pretty = true;
            else if (is_option(w, "details"))
                o.print.details = true;
            else if (is_option(w, "Version") || w == "--version")
                o.version = true;
            else if (is_option(w, "help"))
                o.help = true;
            else if (is_option(w, "netns"))
                netns = true;
            else
                o.error = fmt::format("unknown option \"{}\"", w);
        }
        if (netns && ++i == words.size())
            o.error = "-n needs the name of a network namespace";
        if (!o.error.empty())
            return o;
        if (netns)
            o.netns = words[i];
    }
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i));
    return o;
}

mrcnl::error enter_netns(const std::string &name)
{
    std::string path = name.find('/') == std::string::npos ? "/run/netns/" + name : name;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return mrcnl::error::make(errno, fmt::format("network namespace \"{}\"", name));
    int r = setns(fd, CLONE_NEWNET);
    int code = errno;
    close(fd);
    return r < 0 ? mrcnl::error::make(code, fmt::format("network namespace \"{}\"", name))
                 : mrcnl::error();
}

void print_device_names(mrcnl::genl_socket &nl)
{
    mrcnl::request rq(MRC_CMD_DEV_GET);
    nl.dump(rq, [](const mrcnl::message &m) {
        fmt::print("{}\n", mrcnl::table(m.attrs)[MRC_A_DEV_NAME].str());
    });
}

void print_peers(mrcnl::genl_socket &nl)
{
    mrcnl::request rq(MRC_CMD_PEER_GET);
    std::set<std::string> seen; // several devices may have it, in several parts
    nl.dump(rq, [&](const mrcnl::message &m) {
        auto gid = mrcnl::table(mrcnl::table(m.attrs)[MRC_A_PEER])[MRC_A_PEER_GID].bytes();
        if (seen.insert(format_address(gid)).second)
            fmt::print("{}\n", format_address(gid));
    });
}

void print_namespaces()
{
    std::error_code ignored;
    for (auto &entry : std::filesystem::directory_iterator("/run/netns", ignored))
        fmt::print("{}\n", entry.path().filename().string());
}

// Prints files and directories whose names start with @word.
void print_files(const std::string &word)
{
    glob_t found = {};
    glob((word + "*").c_str(), GLOB_MARK, nullptr, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        fmt::print("{}\n", found.gl_pathv[i]);
    globfree(&found);
}

// `mrcctl __complete WORD...`: candidates for the last word, one per line.
int run_complete(std::vector<std::string> words)
{
    options o;
    std::string last;
    words.erase(words.begin());
    if (!words.empty()) {
        last = words.back();
        words.pop_back();
        if (!words.empty() && is_option(words.back(), "netns") && words.back()[0] == '-') {
            print_namespaces();
            return exit_ok;
        }
        o = take_options(words);
        words.push_back(last);
    }
    for (auto &c : complete(words)) {
        mrcnl::genl_socket nl;
        if (c == "<file>")
            print_files(last);
        else if (c[0] != '<')
            fmt::print("{}\n", c);
        else if ((o.netns.empty() || !enter_netns(o.netns)) && !nl.open(MRC_GENL_NAME))
            c == "<dev>" ? print_device_names(nl) : print_peers(nl);
    }
    return exit_ok;
}

int run_command(const command &c, options o)
{
    o.print.lines = c.v->what == action::monitor || c.v->what == action::log;
    auto out = make_printer(o.print, stdout, stderr);
    mrcnl::error e;
    mrcnl::genl_socket nl;
    auto connect = [&] {
        auto bad = o.netns.empty() ? mrcnl::error() : enter_netns(o.netns);
        return bad ? bad : nl.open(MRC_GENL_NAME);
    };
    int status = exit_ok;
    try {
        context ctx{connect, nl, *out, o.print};
        e = run(c, ctx);
        status = ctx.status;
    } catch (const bad_value &bad) {
        out->error(bad.what(), 0);
        return exit_usage;
    }
    if (e) {
        bool refused = e.from_kernel && e.code == EPERM; // of the netlink family; other errors name what they need
        out->error(refused ? e.text + ": this needs CAP_NET_ADMIN, use sudo" : e.text, e.code);
        return exit_refused;
    }
    out->finish();
    return status;
}

int run_words(std::vector<std::string> words)
{
    if (!words.empty() && words[0] == "__complete")
        return run_complete(std::move(words));
    if (!words.empty() && words[0] == "__table") {
        fmt::print("{}", table_text());
        return exit_ok;
    }
    options o = take_options(words);
    if (o.version) {
        fmt::print("{}", version_text(MRC_VERSION, loaded_module()));
        return exit_ok;
    }
    parsed p;
    if (!o.error.empty())
        p.error = o.error;
    else if (o.help)
        p.help = help_text(nullptr, nullptr);
    else
        p = parse(words);
    if (!p.error.empty()) {
        make_printer(o.print, stdout, stderr)->error(p.error + (p.error.ends_with('?') ? " See " : "; see ") + p.see, 0);
        return exit_usage;
    }
    if (!p.help.empty()) {
        fmt::print("{}", p.help);
        return exit_ok;
    }
    return run_command(*p.cmd, o);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run_words({argv + 1, argv + argc});
    } catch (const std::exception &e) {
        fmt::print(stderr, "mrcctl: {}\n", e.what());
        return exit_refused;
    }
}
