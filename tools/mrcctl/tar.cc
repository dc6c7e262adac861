// SPDX-License-Identifier: GPL-2.0
//
// tar.cc - see tar.h.
#include "tar.h"

#include <algorithm>

#include <fmt/format.h>

namespace mrcctl {

namespace {

constexpr size_t block = 512;

void put(std::string &head, size_t at, std::string_view text)
{
    std::copy(text.begin(), text.end(), head.begin() + static_cast<std::ptrdiff_t>(at));
}

} // namespace

void tar::add(std::string_view name, std::string_view text)
{
    std::string head(block, '\0');
    put(head, 0, name.substr(0, 99));
    put(head, 100, "0000644");
    put(head, 108, "0000000");
    put(head, 116, "0000000");
    put(head, 124, fmt::format("{:011o}", text.size()));
    put(head, 136, fmt::format("{:011o}", mtime_));
    put(head, 148, "        "); // the checksum counts as blanks in itself
    put(head, 156, "0");
    put(head, 257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (unsigned char c : head)
        sum += c;
    put(head, 148, fmt::format("{:06o}", sum) + '\0' + ' ');
    bytes_ += head;
    bytes_ += text;
    bytes_.resize((bytes_.size() + block - 1) / block * block);
}

std::string tar::whole() const { return bytes_ + std::string(2 * block, '\0'); }

} // namespace mrcctl
