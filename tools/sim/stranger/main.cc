// SPDX-License-Identifier: GPL-2.0
// main.cc - mrcsim-stranger: mrcsim's foreign peer on a pipe, for the active conformance kit.
//
//	mrcsim-stranger OWN PEER [LIES]		addresses; bits of foreign_habits::lies
//	mrcsim-stranger OWN PEER LIES LOCATOR DESTINATION[,SEGMENT]	by SRv6
//
// Lines of standard input: "ask WORDS", "frame NS PORT HEX", "wait NS". See tools/conform/README.md.
#include "device.h"

#include <iostream>
#include <sstream>

using namespace sim::stranger;

namespace {

bytes from_hex(const std::string &text)
{
    bytes b;

    for (size_t i = 0; i + 1 < text.size(); i += 2)
        b.push_back(static_cast<u8>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return b;
}

void print_frame(const sent_frame &f)
{
    std::cout << "frame " << f.ns << " 0 ";
    for (u8 b : f.raw)
        std::cout << "0123456789abcdef"[b >> 4] << "0123456789abcdef"[b & 15];
    std::cout << std::endl;
}

void obey(device &d, const std::string &line)
{
    std::istringstream words(line);
    std::string word, port, hex;
    sent_frame out;
    u64 ns = 0;

    words >> word;
    if (word == "ask") {
        std::cout << d.ask(line.substr(std::min<size_t>(4, line.size()))) << std::endl;
        return;
    }
    words >> ns;
    if (word == "frame") {
        words >> port >> hex;
        d.take(from_hex(hex), ns);
    } else if (d.run(ns, &out)) {
        print_frame(out);
    } else {
        std::cout << "time " << ns << std::endl;
    }
}

} // namespace

int main(int argc, char **argv)
{
    sim::foreign_habits habits;
    host own, peer;
    tunnel way;
    std::string line;

    if (argc < 3 || !parse_host(argv[1], &own) || !parse_host(argv[2], &peer) || argc == 5 ||
        (argc > 5 && !parse_tunnel(argv[4], argv[5], &way))) {
        std::cerr << "usage: mrcsim-stranger OWN PEER [LIES [LOCATOR DESTINATION[,SEGMENT]]]\n";
        return 2;
    }
    if (argc > 3)
        habits.lies = static_cast<u32>(std::strtoul(argv[3], nullptr, 0));
    device d(own, peer, way, habits);
    try {
        while (std::getline(std::cin, line))
            obey(d, line);
    } catch (const std::exception &e) {
        std::cerr << "mrcsim-stranger: " << e.what() << "\n";
        return 1;
    }
}
