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

// A JSON object that is read key by key. Every key must be asked for by finish(), or it is an error
// with its path and the nearest known name. Wrong types are errors that name the path, what was
// wanted and what was found.
class Config final {
public:
    Config(Json object, std::string where, std::string path = {});

    // Whether the key is there. Looking counts as asking.
    bool has(const std::string& key) const;
    // The value under the key, or the fallback where the key is absent.
    double number(const std::string& key, double fallback, double low = -1e308,
                  double high = 1e308);
    int64_t integer(const std::string& key, int64_t fallback, int64_t low, int64_t high);
    bool flag(const std::string& key, bool fallback);
    std::string text(const std::string& key, const std::string& fallback);
    std::string choice(const std::string& key, const std::string& fallback,
                       const std::vector<std::string>& allowed);
    std::vector<std::string> texts(const std::string& key,
                                   const std::vector<std::string>& fallback);
    // The object under the key, empty where absent: a Config of its own, with its own finish().
    Config object(const std::string& key);
    Json any(const std::string& key, Json fallback = nullptr);
    std::vector<std::string> keys() const;

    // Throws for the first key that nobody asked for. `owner` names whose keys these are: "env",
    // "ppo".
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

// Parses a text; a syntax error names file, line and column. A key that stands twice is an error, and so
// is a value within more than `most_json_depth` others.
Json parse_json(const std::string& text, const std::string& where);
Json load_json(const std::filesystem::path&);
// The same for a text that no person wrote: nothing where it is wrong.
std::optional<Json> try_parse_json(std::string_view text);
inline constexpr size_t most_json_depth = 100;

// A value as text, in one line unless it is indented. Never throws: bytes that are no UTF-8, of a path or of
// somebody's words, become U+FFFD. The only way by which the engine writes JSON.
std::string json_text(const Json& value, int indent = -1);
// Whether every text of a value, keys too, is one that `good` takes.
bool has_only_texts(const Json& value, bool (*good)(std::string_view));
// Objects are merged key by key, everything else is replaced (null too: it does not remove).
void merge_json(Json& base, const Json& over);
// "env.params.gravity=3" : the value is JSON if it parses as JSON, else text. Throws for a bad form
// and for a path through something that is no object; the target is then as it was.
void set_path(Json& target, const std::string& assignment);

}
