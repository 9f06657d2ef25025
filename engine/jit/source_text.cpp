#include "engine/jit/compile_helpers.h"

#include <charconv>

namespace nacelle {
namespace {

// Numbers and texts, each text behind its length.
class Writer final {
public:
    void number(size_t value) { text_ += std::to_string(value) + ":"; }
    void text(std::string_view value) {
        number(value.size());
        text_ += value;
    }
    void list(const std::vector<std::string>& values) {
        number(values.size());
        for (const std::string& value : values) text(value);
    }
    std::string done() { return std::move(text_); }

private:
    std::string text_;
};

class Reader final {
public:
    explicit Reader(std::string_view text) : rest_(text) {}
    size_t number() {
        size_t value = 0;
        const auto [end, wrong] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        const size_t used = size_t(end - rest_.data());
        sound_ = sound_ && wrong == std::errc() && used < rest_.size() && rest_[used] == ':';
        if (sound_) rest_.remove_prefix(used + 1);
        return sound_ ? value : 0;
    }
    std::string text() {
        const size_t size = number();
        sound_ = sound_ && size <= rest_.size();
        if (!sound_) return "";
        std::string value(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return value;
    }
    std::vector<std::string> list() {
        std::vector<std::string> values;
        for (size_t left = number(); left > 0 && sound_; --left) values.push_back(text());
        return values;
    }
    bool sound() const { return sound_; }
    bool ended() const { return sound_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool sound_ = true;
};

}

std::string text_of(const ProgramSource& source) {
    Writer writer;
    writer.text(source.author.string());
    writer.number(source.headers.size());
    for (const MemoryHeader& header : source.headers) {
        writer.text(header.name);
        writer.text(header.text);
    }
    writer.text(source.instantiation);
    writer.list(source.defines);
    writer.list(source.options);
    writer.number(source.draft);
    return writer.done();
}

std::optional<ProgramSource> source_from(std::string_view text) {
    Reader reader(text);
    ProgramSource source;
    source.author = reader.text();
    for (size_t left = reader.number(); left > 0 && reader.sound(); --left) {
        std::string name = reader.text();
        source.headers.push_back({std::move(name), reader.text()});
    }
    source.instantiation = reader.text();
    source.defines = reader.list();
    source.options = reader.list();
    source.draft = reader.number() != 0;
    if (!reader.ended()) return std::nullopt;
    return source;
}

}
