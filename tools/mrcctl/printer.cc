// SPDX-License-Identifier: GPL-2.0
// printer.cc - see printer.h.
#include "printer.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace mrcctl {

record &record::add(const std::string &key, json value)
{
    fields_[key] = std::move(value);
    return *this;
}

record &record::detail(const std::string &key, json value)
{
    details_.insert(key);
    return add(key, std::move(value));
}

record &record::as_text(const std::string &key, std::string text)
{
    texts_[key] = std::move(text);
    return *this;
}

record &record::counters(const std::string &key, counter_list list)
{
    counters_key_ = key;
    counters_ = std::move(list);
    return *this;
}

json record::whole() const
{
    json j = fields_;
    if (counters_key_.empty())
        return j;
    json &all = j[counters_key_] = json::object();
    for (auto &[name, value] : counters_)
        all[std::string(name)] = value;
    return j;
}

const std::string *record::text_of(const std::string &key) const
{
    auto it = texts_.find(key);
    return it == texts_.end() ? nullptr : &it->second;
}

namespace {

// As text: names of network devices may have any byte.
std::string dump(const json &v, int indent = -1)
{
    return v.dump(indent, ' ', false, json::error_handler_t::replace);
}

// A long text in pieces, which are not moved when it grows.
class text_list {
  public:
    std::string &room()
    {
        if (list_.empty() || list_.back().size() > kPiece) {
            list_.emplace_back();
            list_.back().reserve(kPiece + kPiece / 4);
        }
        return list_.back();
    }
    bool empty() const { return list_.empty(); }
    void write(std::FILE *out) const
    {
        for (auto &s : list_)
            std::fwrite(s.data(), 1, s.size(), out);
    }

  private:
    static constexpr size_t kPiece = 65536;
    std::vector<std::string> list_;
};

// The same as dump(r.whole()). Names of counters are C identifiers, and need no escapes.
void append_object(std::string &out, const record &r)
{
    out += dump(r.fields());
    if (r.counters_key().empty())
        return;
    out.pop_back();
    out += fmt::format("{}{}:{{", r.fields().empty() ? "" : ",", dump(r.counters_key()));
    std::string_view quote = "\"";
    for (auto &[name, value] : r.counters()) {
        fmt::format_int digits(value);
        out.append(quote).append(name).append("\":").append(digits.data(), digits.size());
        quote = ",\"";
    }
    out += "}}";
}

std::string plain(const json &v)
{
    if (v.is_boolean())
        return v.get<bool>() ? "on" : "off";
    if (v.is_string())
        return v.get<std::string>();
    if (v.is_null())
        return "none";
    if (v.is_array()) {
        std::string s;
        for (auto &x : v)
            s += (s.empty() ? "" : ",") + plain(x);
        return s.empty() ? "none" : s;
    }
    return dump(v);
}

class text_printer : public printer {
  public:
    text_printer(const print_options &opt, std::FILE *out, std::FILE *err)
        : opt_(opt), out_(out), err_(err)
    {
    }

    void object(const record &r) override
    {
        std::string line;
        for (auto &[key, value] : r.fields().items()) {
            if (r.is_detail(key) && !opt_.details)
                continue;
            std::string name = key;
            std::replace(name.begin(), name.end(), '_', '-');
            if (auto *text = r.text_of(key))
                append(line, *text);
            else
                append(line, name + " " + plain(value));
        }
        if (opt_.details)
            append_counters(line, r.counters());
        fmt::print(out_, "{}\n", line);
        std::fflush(out_);
    }

    void finish() override {}

    void error(const std::string &text, int) override { fmt::print(err_, "mrcctl: {}\n", text); }

  private:
    static void append(std::string &line, const std::string &part)
    {
        if (!part.empty())
            line += (line.empty() ? "" : " ") + part;
    }

    // Counters keep their names; zeros are left out.
    static void append_counters(std::string &line, const counter_list &list)
    {
        for (auto &[name, value] : list)
            if (value != 0)
                append(line, fmt::format("{} {}", name, value));
    }

    print_options opt_;
    std::FILE *out_, *err_;
};

class json_printer : public printer {
  public:
    json_printer(const print_options &opt, std::FILE *out, std::FILE *err)
        : opt_(opt), out_(out), err_(err)
    {
    }

    // Pretty output is kept as JSON, other output as its final text: there may be thousands of
    // records, and a copy of every field would be slow.
    void object(const record &r) override
    {
        if (opt_.lines) {
            fmt::print(out_, "{}\n", dump(r.whole()));
            std::fflush(out_);
        } else if (opt_.pretty) {
            all_.push_back(r.whole());
        } else {
            const char *comma = text_.empty() ? "" : ",";
            append_object(text_.room().append(comma), r);
        }
    }

    void finish() override
    {
        if (opt_.lines)
            return;
        if (opt_.pretty) {
            fmt::print(out_, "{}\n", dump(all_, 4));
            return;
        }
        fmt::print(out_, "[");
        text_.write(out_);
        fmt::print(out_, "]\n");
    }

    void error(const std::string &text, int code) override
    {
        json e = {{"error", text}};
        if (code)
            e["errno"] = code;
        fmt::print(err_, "{}\n", dump(e));
    }

  private:
    print_options opt_;
    std::FILE *out_, *err_;
    json all_ = json::array();
    text_list text_;
};

} // namespace

std::unique_ptr<printer> make_printer(const print_options &opt, std::FILE *out, std::FILE *err)
{
    if (opt.as_json)
        return std::make_unique<json_printer>(opt, out, err);
    return std::make_unique<text_printer>(opt, out, err);
}

} // namespace mrcctl
