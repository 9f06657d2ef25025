#pragma once
#include <cmath>
#include <nacelle/plugin/json.h>
#include <nacelle/plugin/nearest.h>

namespace nacelle::plugin {

// The JSON object that a plugin is configured with, read key by key. Every key must be asked for by
// finish(), or it is an error; so is a value of a wrong type. Each throws std::runtime_error.
class Config final {
public:
    explicit Config(std::string_view text) : Config(JsonReader(text).whole(), "") {}
    Config(JsonValue object, std::string path)
        : object_(std::move(object)), path_(std::move(path)) {
        if (object_.kind != JsonValue::Kind::object) wrong("", "an object");
    }

    bool has(const std::string& key) { return find(key) != nullptr; }
    std::string text(const std::string& key, const std::string& fallback) {
        const JsonValue* const value = find(key, JsonValue::Kind::text, "a text");
        return value ? value->text : fallback;
    }
    bool flag(const std::string& key, bool fallback) {
        const JsonValue* const value = find(key, JsonValue::Kind::flag, "true or false");
        return value ? value->number != 0 : fallback;
    }
    double number(const std::string& key, double fallback, double low = -1e308,
                  double high = 1e308) {
        const JsonValue* const value = find(key, JsonValue::Kind::number, "a number");
        if (value && !(value->number >= low && value->number <= high))
            wrong(key, "a number from " + shown(low) + " to " + shown(high));
        return value ? value->number : fallback;
    }
    int64_t integer(const std::string& key, int64_t fallback, int64_t low, int64_t high) {
        const double value = number(key, double(fallback), double(low), double(high));
        if (value != std::floor(value)) wrong(key, "a whole number");
        return static_cast<int64_t>(value);
    }
    std::vector<double> numbers(const std::string& key, std::vector<double> fallback) {
        const JsonValue* const value = find(key, JsonValue::Kind::list, "a list of numbers");
        if (!value) return fallback;
        std::vector<double> found;
        for (const JsonValue& element : value->list) {
            if (element.kind != JsonValue::Kind::number) wrong(key, "a list of numbers");
            found.push_back(element.number);
        }
        return found;
    }
    // The object under the key, empty where absent, with its own finish().
    Config object(const std::string& key) {
        const JsonValue* const value = find(key, JsonValue::Kind::object, "an object");
        JsonValue empty;
        empty.kind = JsonValue::Kind::object;
        return Config(value ? *value : empty, path_ + key + ".");
    }
    // The value itself, or null.
    const JsonValue* find(const std::string& key) {
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
        for (size_t i = 0; i < object_.keys.size(); ++i)
            if (object_.keys[i] == key) return &object_.list[i];
        return nullptr;
    }

    void finish() const {
        for (const std::string& name : object_.keys) {
            if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
            throw std::runtime_error(path_ + name + ": there is no such setting (" +
                                     instead_of(name) + ")");
        }
    }

private:
    const JsonValue* find(const std::string& key, JsonValue::Kind kind, const char* wanted) {
        const JsonValue* const value = find(key);
        if (value && value->kind != kind) wrong(key, wanted);
        return value;
    }
    [[noreturn]] void wrong(const std::string& key, const std::string& wanted) const {
        throw std::runtime_error((path_ + key).empty() ? "expected " + wanted
                                                       : path_ + key + ": expected " + wanted);
    }
    std::string instead_of(const std::string& name) const {
        if (const std::string* const meant = nearest(name, asked_))
            return "did you mean '" + *meant + "'?";
        std::string known;
        for (const std::string& key : asked_) known += (known.empty() ? "" : ", ") + key;
        return "there is: " + known;
    }
    static std::string shown(double value) {
        char text[32];
        const auto [end, fits] = std::to_chars(text, text + sizeof text, value);
        return fits == std::errc() ? std::string(text, end) : "?";
    }

    JsonValue object_;
    std::string path_;
    std::vector<std::string> asked_;
};

}
