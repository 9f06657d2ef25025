#pragma once
#include <charconv>
#include <nacelle/plugin/json.h>
#include <string>
#include <vector>

namespace learn {

// The shortest text that reads back as the same number. Floats are written as floats.
inline std::string text_of(double value) {
    char text[40];
    const bool narrow = double(float(value)) == value;
    const auto end = narrow ? std::to_chars(text, text + sizeof text, float(value)).ptr
                            : std::to_chars(text, text + sizeof text, value).ptr;
    return std::string(text, end);
}

// A value that was read, as text again.
inline std::string text_of(const nacelle::plugin::JsonValue& value) {
    using Kind = nacelle::plugin::JsonValue::Kind;
    const auto quoted = [](const std::string& text) {
        std::string all = "\"";
        for (const char c : text) {
            constexpr const char* digits = "0123456789abcdef";
            if (c == '"' || c == '\\') all += '\\';
            if (static_cast<unsigned char>(c) >= 0x20) all += c;
            else (((all += "\\u00") += digits[c >> 4])) += digits[c & 15];
        }
        return all + "\"";
    };
    switch (value.kind) {
        case Kind::null: return "null";
        case Kind::flag: return value.number != 0 ? "true" : "false";
        case Kind::number: return text_of(value.number);
        case Kind::text: return quoted(value.text);
        default: break;
    }
    const bool object = value.kind == Kind::object;
    std::string all;
    for (size_t i = 0; i < value.list.size(); ++i)
        all +=
            (i ? ", " : "") + (object ? quoted(value.keys[i]) + ": " : "") + text_of(value.list[i]);
    return object ? "{" + all + "}" : "[" + all + "]";
}

// A JSON object that is written from the front to the back. Names and texts are plain words.
class JsonText final {
public:
    JsonText& raw(const std::string& key, const std::string& value) {
        text_ += (fresh_ ? "\"" : ", \"") + key + "\": " + value;
        fresh_ = false;
        return *this;
    }
    JsonText& number(const std::string& key, double value) { return raw(key, text_of(value)); }
    JsonText& text(const std::string& key, const std::string& value) {
        return raw(key, "\"" + value + "\"");
    }
    JsonText& list(const std::string& key, const std::vector<double>& values) {
        std::string all;
        for (const double value : values) all += (all.empty() ? "" : ", ") + text_of(value);
        return raw(key, "[" + all + "]");
    }
    JsonText& begin(const std::string& key) {
        raw(key, "{");
        fresh_ = true;
        return *this;
    }
    JsonText& end() {
        text_ += "}";
        fresh_ = false;
        return *this;
    }
    std::string done() const { return text_ + "}"; }

private:
    std::string text_ = "{";
    bool fresh_ = true;
};

}
