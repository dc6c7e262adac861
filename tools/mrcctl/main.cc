// SPDX-License-Identifier: GPL-2.0
//
// mrcctl - show and change MRC devices over generic netlink.
//
//     mrcctl [-j] [-p] [-d] [-V] [-n NETNS] OBJECT VERB [KEY VALUE]...
//
// Talks to the kernel alone; no daemon is needed. Man page: mrcctl(8).
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
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

// Takes the options from the front of @words.
options take_options(std::vector<std::string> &words)
{
    options o;
    size_t i = 0;
    for (; i < words.size() && words[i].size() > 1 && words[i][0] == '-'; i++) {
        const std::string &w = words[i];
        if (w == "--") {
            i++;
            break;
        }
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
        else if (is_option(w, "netns")) {
            if (++i == words.size()) {
                o.error = "-n needs the name of a network namespace";
                return o;
            }
            o.netns = words[i];
        } else {
            o.error = fmt::format("unknown option \"{}\"", w);
            return o;
        }
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

// `mrcctl __complete WORD...`: candidates for the last word, one per line.
int run_complete(std::vector<std::string> words)
{
    options o;
    words.erase(words.begin());
    if (words.size() > 1) {
        std::string last = words.back();
        words.pop_back();
        o = take_options(words);
        words.push_back(last);
    }
    for (auto &c : complete(words)) {
        mrcnl::genl_socket nl;
        if (c != "<dev>")
            fmt::print("{}\n", c);
        else if ((o.netns.empty() || !enter_netns(o.netns)) && !nl.open(MRC_GENL_NAME))
            print_device_names(nl);
    }
    return exit_ok;
}

int run_command(const command &c, options o)
{
    o.print.lines = c.v->what == action::monitor;
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
        out->error(e.text, e.code);
        return exit_refused;
    }
    out->finish();
    return status;
}

int run_words(std::vector<std::string> words)
{
    if (!words.empty() && words[0] == "__complete")
        return run_complete(std::move(words));
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
        make_printer(o.print, stdout, stderr)->error(p.error + "; see mrcctl help", 0);
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
