// SPDX-License-Identifier: GPL-2.0
#include "message.h"

namespace mrcd::nl {

Message::Message(std::uint16_t type, std::uint16_t flags) : flags_(flags)
{
    nlmsghdr h{};

    h.nlmsg_type = type;
    h.nlmsg_flags = flags;
    append(&h, sizeof(h));
}

void Message::append(const void *data, std::size_t len)
{
    const auto *p = static_cast<const std::uint8_t *>(data);

    bytes_.insert(bytes_.end(), p, p + len);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
}

void Message::put(std::uint16_t type, Bytes value)
{
    const nlattr a{static_cast<std::uint16_t>(NLA_HDRLEN + value.size()), type};

    append(&a, sizeof(a));
    append(value.data(), value.size());
}

void Message::string(std::uint16_t type, std::string_view v)
{
    const std::string with_nul(v);

    put(type, {reinterpret_cast<const std::uint8_t *>(with_nul.c_str()), with_nul.size() + 1});
}

std::size_t Message::begin_nest(std::uint16_t type)
{
    const std::size_t at = bytes_.size();

    put(type | NLA_F_NESTED, {});
    return at;
}

void Message::end_nest(std::size_t at)
{
    const auto len = static_cast<std::uint16_t>(bytes_.size() - at);

    std::memcpy(&bytes_[at], &len, sizeof(len));
}

Bytes Message::finish(std::uint32_t seq)
{
    const auto len = static_cast<std::uint32_t>(bytes_.size());

    std::memcpy(&bytes_[offsetof(nlmsghdr, nlmsg_len)], &len, sizeof(len));
    std::memcpy(&bytes_[offsetof(nlmsghdr, nlmsg_seq)], &seq, sizeof(seq));
    return bytes_;
}

std::optional<Bytes> Attrs::find(std::uint16_t type) const
{
    std::optional<Bytes> found;

    each([&](std::uint16_t t, Bytes value) {
        if (t == type && !found)
            found = value;
    });
    return found;
}

std::string Attrs::string(std::uint16_t type) const
{
    const auto value = find(type);

    if (!value)
        return {};
    const auto *text = reinterpret_cast<const char *>(value->data());
    return std::string(text, strnlen(text, value->size()));
}

}   // namespace mrcd::nl
