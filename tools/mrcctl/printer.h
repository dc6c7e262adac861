// SPDX-License-Identifier: GPL-2.0
// printer.h - all output to stdout: records, as text or JSON.
//
// A record is one object with its fields in order. JSON shows all of them. Text is one line "key
// value key value ..." without the fields marked as details (unless requested). Text spells keys
// with '-', JSON with '_'.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace mrcctl {

using json = nlohmann::ordered_json;

// Names and numbers of counters, which are most of the output for thousands of QPs, so they are not
// JSON objects. The names must outlive the record.
using counter_list = std::vector<std::pair<std::string_view, uint64_t>>;

class record {
  public:
    record &add(const std::string &key, json value);
    record &detail(const std::string &key, json value); // text: only with -d
    // All of a record's counters, as an object; its last field.
    record &counters(const std::string &key, counter_list list);
    // What text prints for the key instead of the value; "" prints nothing.
    record &as_text(const std::string &key, std::string text);

    const json &fields() const { return fields_; } // except the counters
    const std::string &counters_key() const { return counters_key_; } // "": no counters
    const counter_list &counters() const { return counters_; }
    json whole() const;
    bool is_detail(const std::string &key) const { return details_.contains(key); }
    const std::string *text_of(const std::string &key) const;

  private:
    json fields_ = json::object();
    std::string counters_key_;
    counter_list counters_;
    std::set<std::string> details_;
    std::map<std::string, std::string> texts_;
};

struct print_options {
    bool as_json = false;
    bool pretty = false;
    bool details = false;
    bool lines = false; // JSON: one object per line at once, no array
};

class printer {
  public:
    virtual ~printer() = default;
    virtual void object(const record &r) = 0;
    virtual void finish() = 0;
    // Prints an error to stderr, in the same form.
    virtual void error(const std::string &text, int code) = 0;
};

std::unique_ptr<printer> make_printer(const print_options &opt, std::FILE *out, std::FILE *err);

} // namespace mrcctl
