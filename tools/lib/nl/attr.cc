// SPDX-License-Identifier: GPL-2.0
// attr.cc - see attr.h.
#include "attr.h"

#include <netlink/attr.h>

namespace mrcnl {

attr_range::iterator::iterator(bytes rest)
    : at_(reinterpret_cast<const nlattr *>(rest.data())), left_(static_cast<int>(rest.size()))
{
    check();
}

void attr_range::iterator::check()
{
    if (!nla_ok(at_, left_))
        *this = iterator();
}

attr attr_range::iterator::operator*() const
{
    return attr(at_);
}

attr_range::iterator &attr_range::iterator::operator++()
{
    at_ = nla_next(at_, &left_);
    check();
    return *this;
}

uint16_t attr::type() const
{
    return at_ ? static_cast<uint16_t>(nla_type(at_)) : 0;
}

mrcnl::bytes attr::bytes() const
{
    if (!at_)
        return {};
    return {static_cast<const uint8_t *>(nla_data(at_)), static_cast<size_t>(nla_len(at_))};
}

uint64_t attr::num() const
{
    switch (at_ ? nla_len(at_) : 0) {
    case 1: return nla_get_u8(at_);
    case 2: return nla_get_u16(at_);
    case 4: return nla_get_u32(at_);
    case 8: return nla_get_u64(at_);
    }
    return 0;
}

std::string_view attr::str() const
{
    auto b = bytes();
    auto *p = reinterpret_cast<const char *>(b.data());
    return {p, b.empty() ? 0 : strnlen(p, b.size())};
}

table::table(attr_range range)
{
    for (attr a : range) {
        if (a.type() >= by_type_.size())
            by_type_.resize(a.type() + size_t{1});
        by_type_[a.type()] = a;
    }
}

} // namespace mrcnl
