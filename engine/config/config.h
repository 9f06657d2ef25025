#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

using Json = nlohmann::json;

// A JSON object that is read key by key. finish() reports a key that nobody has asked for, with its path and the
// nearest known name. Errors of type name the path, the expected type and the value.
class Config final {
public:
    Config(Json object, std::string where, std::string path = {});

    // Whether the key is there; this counts as asking for it.
    bool has(const std::string& key) const;
    // The value of the key, or the fallback where it is absent.
    double number(const std::string& key, double fallback, double low = -1e308,
                  double high = 1e308);
    int64_t integer(const std::string& key, int64_t fallback, int64_t low, int64_t high);
    bool flag(const std::string& key, bool fallback);
    std::string text(const std::string& key, const std::string& fallback);
    std::string choice(const std::string& key, const std::string& fallback,
                       const std::vector<std::string>& allowed);
    std::vector<std::string> texts(const std::string& key,
                                   const std::vector<std::string>& fallback);
    // The object of the key, empty where absent: a Config with its own finish().
    Config object(const std::string& key);
    Json any(const std::string& key, Json fallback = nullptr);
    std::vector<std::string> keys() const;

    // Throws for the first key that nobody asked for. `owner` names the owner of the keys: "env", "ppo".
    void finish(const std::string& owner) const;
    // An Error at this object's path: run.json: env.params.gravty: ...
    [[noreturn]] void fail(const std::string& key, const std::string& what,
                           const std::string& instead = {}) const;

    const Json& json() const { return json_; }
    const std::string& path() const { return path_; }
    const std::string& where() const { return where_; }

private:
    const Json* find(const std::string& key) const;
    std::string path_of(const std::string& key) const;

    Json json_;
    std::string where_, path_;
    mutable std::vector<std::string> asked_;
};

// Parses a text; a syntax error names file, line and column. Duplicate keys are errors, and so is nesting deeper than
// `most_json_depth`.
Json parse_json(const std::string& text, const std::string& where);
// Parses a plain file of at most 16 MiB.
Json load_json(const std::filesystem::path&);
// Parses a text written by a program: nothing where it is invalid.
std::optional<Json> try_parse_json(std::string_view text);
inline constexpr size_t most_json_depth = 100;

// A value as text, in one line unless indented. Never throws: invalid UTF-8, of a path or of somebody's text, becomes
// U+FFFD. The engine writes JSON in no other way.
std::string json_text(const Json& value, int indent = -1);
// One line for programs and terminals: ASCII alone.
std::string json_line(const Json& value);
// Whether `good` accepts every string of a value, keys included.
bool has_only_texts(const Json& value, bool (*good)(std::string_view));
// Merges objects key by key; other values are replaced (null too: it does not remove).
void merge_json(Json& base, const Json& over);
// The value of "env.params.gravity=3", as JSON; what is none is text, since a command line has it unquoted: backend=cpu.
Json assigned_value(const std::string& assignment);
// Sets that value. Throws for a bad form and for a path through a value that is not an object; the target is then
// unchanged.
void set_path(Json& target, const std::string& assignment);

}
