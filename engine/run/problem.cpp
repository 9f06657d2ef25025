#include "engine/run/problem.h"

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/config/describe.h"

namespace nacelle {
namespace {

// Settings that change no return but by chance or by rounding, and the file, whose code counts.
constexpr const char* of_no_matter[] = {"source", "count", "strict"};
constexpr size_t longest_told = 40;

std::string value_text(const Json& value) {
    if (value.is_null()) return "not set";
    if (value.is_number_float()) return number_text(value.get<double>());
    const std::string text = printable(json_text(value));
    return text.size() > longest_told ? std::string() : text;
}

std::string changed_value(const Json& then, const Json& now, const std::string& path) {
    if (then == now) return {};
    if (then.is_object() && now.is_object()) {
        Json keys = then;
        keys.update(now);
        for (const auto& [key, ignored] : keys.items()) {
            const std::string found = changed_value(then.value(key, Json()), now.value(key, Json()),
                                                    path.empty() ? key : path + "." + key);
            if (!found.empty()) return found;
        }
    }
    if (path == "code") return "the environment's code is another one";
    if (path.starts_with("tables."))
        return "the table of env.params." + path.substr(std::string_view("tables.").size()) +
               " is another one";
    const std::string before = value_text(then), after = value_text(now);
    if (before.empty() || after.empty()) return path + " is another one";
    return path + " is " + after + ", and was " + before;
}

}

Json problem_of(const Json& configuration, const AuthorFiles& files) {
    Json env = configuration.at("env");
    for (const char* const key : of_no_matter) env.erase(key);
    Json tables = Json::object();
    for (const auto& [parameter, table] : files.hashes.tables.items()) {
        tables[parameter] = table.at("data");
        // The data counts, wherever it lies.
        Json::json_pointer place("/params");
        for (size_t from = 0, dot = 0; dot != parameter.npos; from = dot + 1) {
            dot = parameter.find('.', from);
            place /= parameter.substr(from, dot == parameter.npos ? dot : dot - from);
        }
        if (env.contains(place)) env[place.parent_pointer()].erase(place.back());
    }
    Json problem = {{"env", std::move(env)}, {"tables", std::move(tables)}, {"code", files.code}};
    // Hooks have settings of their own, which may name files.
    if (const auto hooks = configuration.find("hooks");
        hooks != configuration.end() && !hooks->empty())
        problem["hooks"] = Hash().add(json_text(*hooks)).hex();
    return problem;
}

std::string difference_of_problems(const Json& then, const Json& now) {
    return printable(changed_value(then, now, ""));    // a checkpoint's keys may be anybody's
}

}
