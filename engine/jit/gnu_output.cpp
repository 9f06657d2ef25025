#include "engine/jit/compiler_output.h"

#include <charconv>
#include <optional>

namespace nacelle {
namespace {

// "file:12:34: rest" or "file:12: rest".
struct Located {
    SourcePlace place;
    std::string_view rest;    // after the place and its ": "
};

bool digit(char c) { return c >= '0' && c <= '9'; }

std::optional<Located> located(std::string_view line) {
    for (size_t colon = line.find(':'); colon != line.npos; colon = line.find(':', colon + 1)) {
        size_t at = colon + 1;
        while (at < line.size() && digit(line[at])) ++at;
        if (at == colon + 1 || at >= line.size() || line[at] != ':' || colon == 0) continue;
        int number = 0;    // 0 where it is none that a line can have
        std::from_chars(line.data() + colon + 1, line.data() + at, number);
        size_t column = at + 1;
        while (column < line.size() && digit(line[column])) ++column;
        if (column > at + 1 && column < line.size() && (line[column] == ':' || line[column] == ','))
            at = column;
        std::string_view rest = line.substr(at + 1);
        if (rest.starts_with(' ')) rest.remove_prefix(1);
        return Located{{std::string(line.substr(0, colon)), number}, rest};
    }
    return std::nullopt;
}

std::optional<std::string_view> after(std::string_view text, std::string_view start) {
    if (!text.starts_with(start)) return std::nullopt;
    return text.substr(start.size());
}

std::optional<std::string_view> error_message(std::string_view text) {
    for (const std::string_view kind :
         {"error: ", "fatal error: ", "sorry, unimplemented: ", "internal compiler error: "})
        if (const auto message = after(text, kind)) return message;
    return std::nullopt;
}

// g++ quotes with typographic marks in a UTF-8 locale.
std::string plain_quotes(std::string_view text) {
    constexpr std::string_view open = "\xe2\x80\x98", close = "\xe2\x80\x99";
    std::string result;
    while (!text.empty()) {
        const bool mark = text.starts_with(open) || text.starts_with(close);
        result += mark ? '\'' : text.front();
        text.remove_prefix(mark ? open.size() : 1);
    }
    return result;
}

class GnuParser final {
public:
    std::vector<CompilerReport> parse(std::string_view output) {
        while (!output.empty()) {
            const size_t end = output.find('\n');
            line(output.substr(0, end));
            output.remove_prefix(end == output.npos ? output.size() : end + 1);
        }
        return std::move(reports_);
    }

private:
    void line(std::string_view text) {
        if (text.ends_with('\r')) text.remove_suffix(1);
        if (included(text)) return;
        in_includes_ = false;
        if (text.starts_with(' ')) return;    // the source
        const auto place = located(text);
        if (!place) {
            if (text.ends_with(':') &&
                (text.find(": In ") != text.npos || text.find(": At ") != text.npos))
                context_.clear();
            else driver_error(text);
            return;
        }
        if (place->rest.starts_with("  ")) {    // g++: "   required from here"
            if (used_) context_.clear();
            used_ = false;
            context_.push_back(place->place);
        } else if (const auto message = error_message(place->rest)) {
            explains_ = explains_ && message->starts_with("use of deleted function");
            if (explains_) reports_.back().notes.push_back(place->place);
            else add(true, place->place, *message);
        } else if (const auto warning = after(place->rest, "warning: ")) {
            add(false, place->place, *warning);
        } else if (const auto note = after(place->rest, "note: "); note && !reports_.empty()) {
            const bool chain = note->starts_with("in ") || note->starts_with("while ") ||
                               note->ends_with(" requested here");
            (chain ? reports_.back().instantiated_from : reports_.back().notes)
                .push_back(place->place);
            explains_ = explains_ || note->find("implicitly deleted because") != note->npos;
        }
    }

    void add(bool error, SourcePlace place, std::string_view message) {
        used_ = true;
        reports_.push_back(
            {error, std::move(place), plain_quotes(message), context_, includes_, {}});
    }

    // "In file included from a:1," and "                 from b:2:"; clang has the outermost first.
    bool included(std::string_view text) {
        const auto first = after(text, "In file included from ");
        const auto more = in_includes_ ? after(text, "                 from ") : std::nullopt;
        if (!first && !more) return false;
        if (!in_includes_) includes_.clear();
        in_includes_ = true;
        std::string from(first ? *first : *more);
        if (from.ends_with(',')) from.back() = ':';
        if (const auto place = located(from))
            includes_.insert(first ? includes_.begin() : includes_.end(), place->place);
        return true;
    }

    // "cc1plus: error: ..." and "clang: error: ...": errors of the program without a place.
    void driver_error(std::string_view text) {
        const size_t colon = text.find(": ");
        if (colon == text.npos || colon == 0 || text.substr(0, colon).find(' ') != text.npos)
            return;
        if (const auto message = error_message(text.substr(colon + 2))) add(true, {}, *message);
    }

    std::vector<CompilerReport> reports_;
    std::vector<SourcePlace> context_, includes_;
    bool used_ = false;        // g++ prints a context once for all errors in it
    bool explains_ = false;    // g++ says why a function is deleted in errors of their own
    bool in_includes_ = false;
};

}

std::vector<CompilerReport> parse_gnu_output(std::string_view output) {
    return GnuParser().parse(output);
}

}
