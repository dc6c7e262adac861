// SPDX-License-Identifier: GPL-2.0
// script.h - random lives of a node: edits of its file, what others do to its kernel, messages
// lost, mrcd started anew. A seed makes a script; a script that fails is shrunk step by step.
#pragma once

#include <memory>

#include "fabrics.h"
#include "fake_kernel.h"
#include "reconcile.h"
#include "rules.h"

namespace mrcd {

enum class What {
    kEdit, kRun, kRestart, kGone, kBack, kRename, kShut, kOpen, kWrongKind, kRightKind,
    kForeignAddr, kForeignRoute, kForeignGone, kLose, kSysctl, kUnload, kRefuse, kUnheard, kBlind,
    kMeanwhile, kPlaneOff, kSmall, kBridged, kUnbridged, kSwapped, kCount
};

struct Step {
    What what;
    unsigned a = 0, b = 0;

    std::string text() const;
};

using Script = std::vector<Step>;

Script random_script(unsigned seed);

// How the file that a node is edited to says it: the size, by lists or by a rule.
struct Text {
    Size size;
    bool by_rule = false;
    unsigned exception = 0;   // to the rule

    Fabric fabric() const;
    auto operator<=>(const Text &) const = default;
};

// A node of a fabric, its kernel and its mrcd.
class Life {
public:
    // @by_rule: the file is a rule at first, and edited to lists and back.
    explicit Life(const std::string &node, bool by_rule = false);

    void play(const Script &script);
    // Nobody disturbs any more: what is wrong then; empty if nothing is.
    std::string verdict();

private:
    void step(const Step &s);
    void edit(unsigned a, unsigned b);
    void edit_size(unsigned a, unsigned b);
    void edit_rule(unsigned a);
    void restart();
    bool marked(const Link &l) const;
    void forget_unmarked();
    void shut(const std::string &name);
    const Desired &desired() const;
    std::string port(unsigned a) const;
    void lose(unsigned a, unsigned b);
    void foreign_addr(unsigned a);
    void foreign_route(unsigned a);
    std::vector<std::string> unmet() const;   // "what: a word of it"
    std::string strays() const;

    std::string node_;
    bool by_rule_;
    Text text_;
    FakeKernel kernel_;
    Log log_{"fake", Log::Level::kSilent};
    std::unique_ptr<Reconciler> mrcd_;
    Desired want_;
    bool looked_ = false;   // since mrcd was started
    std::set<int> lowered_;   // by somebody, and mrcd may not know: raised or not, both are right
};

}   // namespace mrcd
