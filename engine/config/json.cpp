#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/config/config.h"
#include "engine/config/describe.h"
#include "engine/config/json_syntax.h"

#include <algorithm>

namespace nacelle {
namespace {

std::vector<std::string> split_path(const std::string& path, const std::string& where) {
    std::vector<std::string> parts(1);
    for (const char letter : path) {
        if (letter == '.') parts.emplace_back();
        else parts.back() += letter;
    }
    for (const std::string& part : parts) {
        if (part.empty()) throw Error(where, "the path has an empty part", "env.params.gravity=3");
    }
    return parts;
}

}

Json assigned_value(const std::string& assignment) {
    const std::string text = assignment.substr(assignment.find('=') + 1);
    const std::optional<Json> value = try_parse_json(text);
    if (value && value->is_structured()) check_json_syntax(text, "--set " + assignment);    // keys
    return value.value_or(text);
}

Json parse_json(const std::string& text, const std::string& where) {
    check_json_syntax(text, where);
    return Json::parse(text);
}

std::optional<Json> try_parse_json(std::string_view text) {
    if (text.find('\0') != text.npos || too_deep_at(text) != text.npos) return std::nullopt;
    Json value = Json::parse(text.begin(), text.end(), nullptr, false);
    if (value.is_discarded()) return std::nullopt;
    return value;
}

std::string json_text(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_line(const Json& value) {
    return value.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

bool has_only_texts(const Json& value, bool (*good)(std::string_view)) {
    if (value.is_string()) return good(value.get_ref<const std::string&>());
    if (!value.is_structured()) return true;
    const auto items = value.items();
    return std::all_of(items.begin(), items.end(), [&](const auto& item) {
        return good(item.key()) && has_only_texts(item.value(), good);
    });
}

Json load_json(const std::filesystem::path& path) {
    constexpr size_t most = size_t(16) << 20;
    return parse_json(read_plain_file(path, most), path.string());
}

void merge_json(Json& base, const Json& over) {
    if (!base.is_object() || !over.is_object()) {
        base = over;
        return;
    }
    for (const auto& item : over.items()) merge_json(base[item.key()], item.value());
}

void set_path(Json& target, const std::string& assignment) {
    const std::string where = "--set " + assignment;
    const size_t equals = assignment.find('=');
    if (equals == assignment.npos) throw Error(where, "has no '='", "env.params.gravity=3");
    const std::vector<std::string> parts = split_path(assignment.substr(0, equals), where);

    if (target.is_null()) target = Json::object();
    Json* at = &target;
    std::string passed;
    for (size_t i = 0; i < parts.size(); ++i) {
        const std::string& part = parts[i];
        if (!at->is_object()) {
            // Where it stands for none, what is below it may be given as a whole.
            Json whole = assigned_value(assignment);
            for (size_t k = parts.size(); k-- > i;) whole = Json{{parts[k], whole}};
            const bool none = passed.starts_with("policies.") && *at == false;
            throw Error(where,
                        (passed.empty() ? "the configuration" : passed) + " is " + describe(*at) +
                            ", not an object",
                        none ? "--set " + shell_word(passed + "=" + json_text(whole)) + " gives one"
                             : "");
        }
        if (!at->contains(part)) (*at)[part] = Json::object();
        at = &(*at)[part];
        passed += (passed.empty() ? "" : ".") + part;
    }
    *at = assigned_value(assignment);
}

}
