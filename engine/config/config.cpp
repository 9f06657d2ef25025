#include "engine/config/config.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/config/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace nacelle {
namespace {

constexpr double unbounded = 1e308;

std::string range(const std::string& kind, const std::string& low, const std::string& high) {
    if (!low.empty() && !high.empty()) return kind + " from " + low + " to " + high;
    if (!low.empty()) return kind + " of at least " + low;
    if (!high.empty()) return kind + " of at most " + high;
    return kind;
}

std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

// 5e6 is a whole number too. Beyond 2^53 a double is ambiguous.
std::optional<int64_t> whole_number(const Json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<uint64_t>();
        if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return {};
        return static_cast<int64_t>(number);
    }
    if (value.is_number_integer()) return value.get<int64_t>();
    if (!value.is_number_float()) return {};
    const double number = value.get<double>();
    if (!(std::abs(number) <= 0x1p53) || number != std::trunc(number)) return {};
    return static_cast<int64_t>(number);
}

}

// Parentheses: braces would make a list with one object.
Config::Config(Json object, std::string where, std::string path)
    : json_(std::move(object)), where_(std::move(where)), path_(std::move(path)) {
    if (json_.is_null() && path_.empty()) json_ = Json::object();
    if (!json_.is_object()) fail({}, "expected an object, found " + describe(json_));
}

const Json* Config::find(const std::string& key) const {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
}

bool Config::has(const std::string& key) const { return find(key) != nullptr; }

double Config::number(const std::string& key, double fallback, double low, double high) {
    const Json* value = find(key);
    if (!value) return fallback;
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    const bool has_low = low > -unbounded, has_high = high < unbounded;
    const bool inside = (!has_low || number >= low) && (!has_high || number <= high);
    if (std::isfinite(number) && inside) return number;
    const std::string wanted = range("a number", has_low ? number_text(low) : std::string(),
                                     has_high ? number_text(high) : std::string());
    fail(key, "expected " + wanted + ", found " + describe(*value));
}

int64_t Config::integer(const std::string& key, int64_t fallback, int64_t low, int64_t high) {
    const Json* value = find(key);
    if (!value) return fallback;
    const auto number = whole_number(*value);
    if (number && *number >= low && *number <= high) return *number;
    using Limits = std::numeric_limits<int64_t>;
    const std::string wanted =
        range("a whole number", low == Limits::min() ? std::string() : std::to_string(low),
              high == Limits::max() ? std::string() : std::to_string(high));
    fail(key, "expected " + wanted + ", found " + describe(*value));
}

bool Config::flag(const std::string& key, bool fallback) {
    const Json* value = find(key);
    if (!value) return fallback;
    if (!value->is_boolean()) fail(key, "expected true or false, found " + describe(*value));
    return value->get<bool>();
}

std::string Config::text(const std::string& key, const std::string& fallback) {
    const Json* value = find(key);
    if (!value) return fallback;
    if (!value->is_string()) fail(key, "expected a text, found " + describe(*value));
    return value->get<std::string>();
}

std::string Config::choice(const std::string& key, const std::string& fallback,
                           const std::vector<std::string>& allowed) {
    const Json* value = find(key);
    if (!value) return fallback;
    const std::string chosen = value->is_string() ? value->get<std::string>() : std::string();
    if (value->is_string() && std::find(allowed.begin(), allowed.end(), chosen) != allowed.end()) {
        return chosen;
    }
    // The choices are listed anyway; a suggestion is added only for a likely typing error.
    std::string instead = value->is_string() ? suggest(chosen, allowed) : std::string();
    if (!instead.starts_with("did you mean")) instead.clear();
    fail(key, "expected one of " + join(allowed) + "; found " + describe(*value), instead);
}

std::vector<std::string> Config::texts(const std::string& key,
                                       const std::vector<std::string>& fallback) {
    const Json* value = find(key);
    if (!value) return fallback;
    if (!value->is_array()) fail(key, "expected a list of texts, found " + describe(*value));
    std::vector<std::string> result;
    for (const Json& item : *value) {
        if (!item.is_string()) {
            fail(key + "[" + std::to_string(result.size()) + "]",
                 "expected a text, found " + describe(item));
        }
        result.push_back(item.get<std::string>());
    }
    return result;
}

Config Config::object(const std::string& key) {
    const Json* value = find(key);
    return Config(value ? *value : Json::object(), where_, path_of(key));
}

Json Config::any(const std::string& key, Json fallback) {
    const Json* value = find(key);
    return value ? *value : fallback;
}

std::vector<std::string> Config::keys() const {
    std::vector<std::string> names;
    for (const auto& item : json_.items()) names.push_back(item.key());
    return names;
}

void Config::finish(const std::string& owner) const {
    for (const std::string& key : keys()) {
        if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
        fail(key, owner + " has no '" + key + "'", suggest(key, asked_));
    }
}

void Config::fail(const std::string& key, const std::string& what,
                  const std::string& instead) const {
    const std::string path = path_of(key);
    throw Error(path.empty() ? where_ : where_ + ": " + path, what, instead);
}

std::string Config::path_of(const std::string& key) const {
    return path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
}

}
