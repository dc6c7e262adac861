// SPDX-License-Identifier: GPL-2.0
// scrub.cc - see scrub.h.
//
// A text is read as words. A word that names a secret removes the word behind it.
#include "scrub.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include <arpa/inet.h>

namespace mrcctl {

namespace {

constexpr size_t pointer_digits = 9;  // after 0x: beyond 32 bits
constexpr size_t secret_digits = 16;  // hexadecimal digits of a word

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)); }
bool all_hex(std::string_view s) { return !s.empty() && std::all_of(s.begin(), s.end(), is_hex); }
bool has_letter(std::string_view s)
{
    return std::any_of(s.begin(), s.end(), [](unsigned char c) { return std::isalpha(c); });
}

bool is_word(unsigned char c) { return std::isalnum(c) || c == '_' || c == ':' || c == '.' || c == '-'; }

// Is it @count groups of @digits hexadecimal digits, with @mark between them?
bool is_groups(std::string_view s, size_t count, size_t digits, char mark)
{
    if (s.size() != count * (digits + 1) - 1)
        return false;
    for (size_t i = 0; i < s.size(); i++)
        if (i % (digits + 1) == digits ? s[i] != mark : !is_hex(s[i]))
            return false;
    return true;
}

bool is_mac(std::string_view s)
{
    for (char mark : {':', '-'})
        if (is_groups(s, 6, 2, mark) || is_groups(s, 8, 2, mark) || is_groups(s, 20, 2, mark))
            return true;
    return is_groups(s, 4, 4, ':') || is_groups(s, 3, 4, '.'); // a GUID; a MAC address as switches write it
}

// Does it have the middle of an interface identifier that contains a MAC address?
bool has_eui64(std::string_view s)
{
    std::array<uint8_t, 16> a;
    return s.find(':') != s.npos && inet_pton(AF_INET6, std::string(s).c_str(), a.data()) == 1 && a[11] == 0xff && a[12] == 0xfe;
}

std::optional<std::string> secret(std::string_view s)
{
    if (is_mac(s))
        return "<mac>";
    if (has_eui64(s))
        return "<eui64>";
    if (s.starts_with("0x") || s.starts_with("0X"))
        return s.size() >= 2 + pointer_digits && all_hex(s.substr(2)) ? std::optional<std::string>("<address>") : std::nullopt;
    if (s.size() >= secret_digits && all_hex(s) && has_letter(s))
        return "<hex>";
    return {};
}

std::string plain(std::string_view word)
{
    std::string s;
    for (char c : word)
        s += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

// Does @word name a secret, which follows it?
bool names_secret(std::string_view word)
{
    static constexpr std::string_view whole[] = {"rkey", "r_key", "lkey", "l_key", "key", "keys", "spi", "icv", "psk", "iova",
                                                 "va", "vaddr", "rx_cack", "peer_qpn", "dest_qpn", "token", "mac"};
    static constexpr std::string_view part[] = {"psn", "secret", "passw", "passphrase", "_key", "private", "credential"};
    auto s = plain(word);
    return std::find(std::begin(whole), std::end(whole), s) != std::end(whole) ||
           std::any_of(std::begin(part), std::end(part), [&](auto p) { return s.find(p) != s.npos; });
}

class reader {
  public:
    reader(std::string_view text, const name_of &names) : text_(text), names_(names) {}

    std::string read()
    {
        while (at_ < text_.size()) {
            if (!is_word(static_cast<unsigned char>(text_[at_]))) {
                out_ += text_[at_++];
                continue;
            }
            auto word = take_word();
            out_ += written(word);
            // "key: 7" has the colon inside the word.
            auto name = word.substr(0, word.find_last_not_of(":.") + 1);
            if (names_secret(name))
                value(word.size() > name.size());
            else if (auto colon = word.find(':'); colon != word.npos && names_secret(word.substr(0, colon)))
                out_.replace(out_.size() - written(word).size(), std::string::npos, std::string(word.substr(0, colon)) + ":<removed>");
        }
        return std::move(out_);
    }

  private:
    std::string_view take_word()
    {
        size_t begin = at_;
        while (at_ < text_.size() && is_word(static_cast<unsigned char>(text_[at_])))
            at_++;
        return text_.substr(begin, at_ - begin);
    }

    std::string written(std::string_view word) const
    {
        auto end = word.find_last_not_of(":.-");
        auto core = word.substr(0, end == word.npos ? 0 : end + 1);
        auto rest = word.substr(core.size());
        if (auto s = secret(word)) // "fe80::" ends with its own colons
            return *s;
        if (auto s = secret(core))
            return *s + std::string(rest);
        if (auto n = names_(core))
            return *n + std::string(rest);
        // NODE:PORT
        auto colon = core.find(':');
        if (colon != core.npos && colon)
            if (auto n = names_(core.substr(0, colon)))
                return *n + std::string(core.substr(colon)) + std::string(rest);
        return std::string(word);
    }

    // Removes a value behind its name: skips blanks, quotes, '=' and ':', and ends at the end of
    // the quote, the list or the word.
    void value(bool marked)
    {
        size_t begin = at_;
        bool quoted = false;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '"' || text_[at_] == '\'' ||
                                      text_[at_] == '=')) {
            marked |= text_[at_] == '=';
            quoted |= text_[at_] == '=' || text_[at_] == '"';
            at_++;
        }
        // {"psn":1}: the colon follows a quote.
        if (at_ < text_.size() && text_[at_] == ':' && quoted) {
            marked = true;
            while (at_ < text_.size() && (text_[at_] == ':' || text_[at_] == ' ' || text_[at_] == '"'))
                at_++;
        }
        if (at_ == text_.size() || text_[at_] == '\n')
            return back(begin);
        bool number = std::isdigit(static_cast<unsigned char>(text_[at_]));
        if (!marked && !number)
            return back(begin);
        out_ += text_.substr(begin, at_ - begin);
        char before = at_ > begin ? text_[at_ - 1] : ' ';
        bool list = text_[at_] == '[';
        if (list)
            out_ += text_[at_++];
        std::string_view ends = list ? "]\n" : before == '"' || before == '\'' ? "\"'\n" : " \t\n,}]";
        while (at_ < text_.size() && ends.find(text_[at_]) == ends.npos)
            at_++;
        out_ += "<removed>";
    }

    void back(size_t to) { at_ = to; }

    std::string_view text_;
    const name_of &names_;
    size_t at_ = 0;
    std::string out_;
};

} // namespace

std::string scrub(std::string_view text, const name_of &names)
{
    return reader(text, names).read();
}

} // namespace mrcctl
