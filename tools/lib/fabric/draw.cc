// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// draw.cc - see draw.h.
#include "draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "plane_view.h"

namespace mrcfab {

namespace {

constexpr std::size_t kExceptionsMax = 20;

bool leaves_out(std::size_t shown, std::size_t all, std::size_t i) { return shown < all && i + 1 == shown; }

std::string head(const PlaneView &v)
{
    return fmt::format("plane {} of {}: {} T1, {} T0, block {}", v.plane, v.planes, v.t1s, v.t0s,
                       to_string(v.block));
}

std::string hosts_of(const PlaneView::Switch &s)
{
    if (s.hosts == 0)
        return "no hosts";
    return s.hosts == 1 ? s.first_host : fmt::format("{} ... {} ({})", s.first_host, s.last_host, s.hosts);
}

// A column for each T1 of the view, a row for each T0: a cross where a cable is.
std::string matrix(const PlaneView &v)
{
    std::size_t width = 4, name = 4;
    std::string s;

    for (const auto &t1 : v.t1)
        width = std::max(width, t1.name.size());
    for (const auto &t0 : v.t0)
        name = std::max(name, t0.name.size());
    s += fmt::format("{:>{}}      ", "T1", name);
    for (std::size_t i = 0; i < v.t1.size(); i++)
        s += fmt::format("{}{:^{}} ", leaves_out(v.t1.size(), v.t1s, i) ? "... " : "", v.t1[i].name, width);
    s += fmt::format("\n{:>{}} uSID ", "", name);
    for (std::size_t i = 0; i < v.t1.size(); i++)
        s += fmt::format("{}{:^{}} ", leaves_out(v.t1.size(), v.t1s, i) ? "    " : "",
                         fmt::format("{:04x}", v.t1[i].usid), width);
    s += "\n";
    for (std::size_t j = 0; j < v.t0.size(); j++) {
        const auto &t0 = v.t0[j];
        if (leaves_out(v.t0.size(), v.t0s, j))
            s += fmt::format("{:>{}}\n", "...", name);
        s += fmt::format("{:>{}} {:04x} ", t0.name, name, t0.usid);
        for (std::size_t i = 0; i < v.t1.size(); i++)
            s += fmt::format("{}{} ", leaves_out(v.t1.size(), v.t1s, i) ? "--- " : "",
                             t0.cabled[i] ? fmt::format("{:-^{}}", "+", width)
                                          : fmt::format("{:^{}}", "", width));
        s += fmt::format(" {}\n", hosts_of(t0));
    }
    return s;
}

// ------------------------------------------------------------------------ SVG

constexpr unsigned kColumn = 150, kBox = 130, kBoxHeight = 40, kMargin = 20;
constexpr unsigned kTop = 50, kT0Row = 210, kHostRow = 330, kHeight = 400;

unsigned column(std::size_t i, std::size_t n, std::size_t most)
{
    return kMargin + static_cast<unsigned>(i * kColumn + (most - n) * kColumn / 2);
}

std::string box(unsigned x, unsigned y, const std::string &first, const std::string &second)
{
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"#eef\" "
                       "stroke=\"#335\"/>\n"
                       "<text x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\" fill=\"#666\">{}</text>\n",
                       x, y, kBox, kBoxHeight, x + kBox / 2, y + 17, first, x + kBox / 2, y + 33, second);
}

std::string line(unsigned x1, unsigned y1, unsigned x2, unsigned y2)
{
    return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#889\"/>\n", x1, y1, x2, y2);
}

}   // namespace

std::string draw_text(const Fabric &f, unsigned plane)
{
    const PlaneView v = plane_view(f, plane);
    auto s = head(v) + "\n\n" + matrix(v);

    if (!v.exceptions.empty())
        s += "\nnot as the rule says, on all planes:\n";
    for (std::size_t i = 0; i < std::min(v.exceptions.size(), kExceptionsMax); i++)
        s += fmt::format("  {}\n", v.exceptions[i]);
    if (v.exceptions.size() > kExceptionsMax)
        s += fmt::format("  and {} more\n", v.exceptions.size() - kExceptionsMax);
    return s;
}

// Names have no character that XML would read otherwise.
std::string draw_svg(const Fabric &f, unsigned plane)
{
    const PlaneView v = plane_view(f, plane);
    const std::size_t most = std::max<std::size_t>({v.t0.size(), v.t1.size(), 3});
    std::string lines, boxes;

    for (std::size_t i = 0; i < v.t1.size(); i++)
        boxes += box(column(i, v.t1.size(), most), kTop,
                     (leaves_out(v.t1.size(), v.t1s, i) ? "... " : "") + v.t1[i].name,
                     fmt::format("{:04x}", v.t1[i].usid));
    for (std::size_t j = 0; j < v.t0.size(); j++) {
        const unsigned x = column(j, v.t0.size(), most);
        boxes += box(x, kT0Row, (leaves_out(v.t0.size(), v.t0s, j) ? "... " : "") + v.t0[j].name,
                     fmt::format("{:04x}", v.t0[j].usid));
        boxes += box(x, kHostRow, v.t0[j].hosts ? v.t0[j].first_host : "no hosts",
                     v.t0[j].hosts > 1 ? fmt::format("... {} ({})", v.t0[j].last_host, v.t0[j].hosts) : "");
        lines += line(x + kBox / 2, kT0Row + kBoxHeight, x + kBox / 2, kHostRow);
        for (std::size_t i = 0; i < v.t1.size(); i++)
            if (v.t0[j].cabled[i])
                lines += line(column(i, v.t1.size(), most) + kBox / 2, kTop + kBoxHeight, x + kBox / 2,
                              kT0Row);
    }
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\" "
                       "text-anchor=\"middle\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                       "<text x=\"{2}\" y=\"25\" font-size=\"14\">{3}</text>\n{4}{5}</svg>\n",
                       most * kColumn + kMargin, kHeight, (most * kColumn + kMargin) / 2, head(v), lines,
                       boxes);
}

}   // namespace mrcfab
