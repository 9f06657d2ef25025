#include "engine/jit/diagnostics.h"

#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/jit/author_mistakes.h"
#include "engine/jit/struct_text.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <tuple>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

// A readable line: a generated one may have megabytes, or invalid UTF-8.
std::string shortened(const std::string& line) {
    constexpr size_t most = 400;
    return line.size() <= most ? valid_utf8(line) : valid_utf8(line.substr(0, most)) + " ...";
}

class Author final {
public:
    explicit Author(const CompiledText& text) : text_(text) {
        for (const SourceFile& file : text.closure) files_.emplace(resolved_path(file.path), &file);
    }

    const SourceFile* find(const SourcePlace& place) {
        if (place.file.empty()) return nullptr;
        auto [known, fresh] = names_.try_emplace(place.file, nullptr);
        if (fresh)
            if (const auto file = files_.find(resolved_path(place.file)); file != files_.end())
                known->second = file->second;
        return known->second;
    }

    // The first of the places that is in the author's files.
    const SourcePlace* first(const std::vector<SourcePlace>& places) {
        const auto found =
            std::find_if(places.begin(), places.end(),
                         [&](const SourcePlace& place) { return find(place) != nullptr; });
        return found == places.end() ? nullptr : &*found;
    }

    Diagnostic at(const SourcePlace& place, std::string message) {
        const SourceFile* file = find(place);
        return {file ? file->path.string() : place.file, place.line, shortened(message),
                file ? shortened(line_text(file->text, place.line)) : ""};
    }

    // The line of the declaration of the environment: the place for errors that concern all of it.
    SourcePlace declaration() {
        const std::vector<EnvironmentUse> uses = environment_uses(text_.closure);
        if (!uses.empty()) return {uses.front().file.string(), uses.front().line};
        return {text_.closure.front().path.string(), 0};
    }

    SourcePlace suspect(AuthorMistake trouble) {
        for (const SourceFile& file : text_.closure)
            if (const int line = suspect_line(trouble, file.text))
                return {file.path.string(), line};
        return {};
    }

    // The field that an assertion about a struct means, in words to be added; the compiler does not say it.
    std::string culprit(const std::string& words) const { return culprit_of(words, text_.closure); }

    // The kernels around the author's file have no better name.
    std::string name_of(const SourcePlace& place) const {
        if (place.file.empty()) return {};
        if (place.file == text_.unit) return "the kernels around it";
        return header_name(place) + ":" + std::to_string(place.line);
    }

    // A place in a plugin's text: in its program, or in one of its headers.
    std::optional<Diagnostic> in_plugin(const SourcePlace& place) const {
        if (!text_.source || text_.source->given_by.empty()) return std::nullopt;
        const ProgramSource& source = *text_.source;
        const auto at = [&](const std::string& name, const std::string& text, int line) {
            return Diagnostic{name + " of " + source.given_by, line, "",
                              shortened(line_text(text, line))};
        };
        // The first line of the unit includes the author's file.
        if (place.file == text_.unit && place.line > 1)
            return at("the program", source.instantiation, place.line - 1);
        const std::string name = header_name(place);
        for (size_t i = source.headers.size() - source.given_headers; i < source.headers.size();
             ++i)
            if (source.headers[i].name == name) return at(name, source.headers[i].text, place.line);
        return std::nullopt;
    }

private:
    // The name under which it is included.
    std::string header_name(const SourcePlace& place) const {
        std::string_view file = place.file;
        if (!text_.header_root.empty() && file.starts_with(text_.header_root))
            file.remove_prefix(text_.header_root.size());
        while (file.starts_with('/') && file.size() != place.file.size()) file.remove_prefix(1);
        return std::string(file);
    }

    const CompiledText& text_;
    std::map<fs::path, const SourceFile*> files_;
    std::map<std::string, const SourceFile*> names_;
};

// One error, attributed to the author's line where there is one.
struct Mapped {
    Diagnostic diagnostic;
    bool own = false;         // the error stands in a line of the author's
    bool framed = false;      // it does, or such a line led to it
    bool asserted = false;    // words made for the author
};

// An error in a plugin's kernels: no line of the author's is to blame, and the message must not say so.
std::optional<Diagnostic> of_plugin(const CompilerReport& report, Author& author) {
    const auto trouble = recognise_mistake(report.message, "");
    if (assertion_message(report.message) ||
        (trouble && trouble != AuthorMistake::no_standard_library))
        return std::nullopt;
    if (author.find(report.place)) return std::nullopt;
    std::optional<Diagnostic> found = author.in_plugin(report.place);
    std::string where = found ? "" : " (in " + author.name_of(report.place) + ")";
    for (const SourcePlace& place : report.instantiated_from) {
        if (found || author.find(place)) break;
        found = author.in_plugin(place);
    }
    if (found) found->message = (trouble ? explain(*trouble) : shortened(report.message)) + where;
    return found;
}

Mapped map_report(const CompilerReport& report, Author& author) {
    Mapped result;
    if (auto found = of_plugin(report, author)) {
        result.diagnostic = *std::move(found);
        result.framed = true;
        return result;
    }
    const SourcePlace* place =
        author.find(report.place) ? &report.place : author.first(report.instantiated_from);
    result.framed = place != nullptr;
    if (!place) place = author.first(report.notes);

    std::string message = report.message;
    const SourceFile* file = place ? author.find(*place) : nullptr;
    const std::string source_line = file ? line_text(file->text, place->line) : "";
    // Errors of the SDK's macro are reported at NACELLE_ENV.
    result.own = place == &report.place && source_line.find("NACELLE_ENV") == source_line.npos;
    if (const auto words = assertion_message(message)) {
        message = *words + author.culprit(*words);
        result.asserted = true;
    } else if (const auto trouble = recognise_mistake(message, source_line)) {
        message = explain(*trouble);
        result.asserted = true;
        const SourcePlace suspect = result.own ? SourcePlace{} : author.suspect(*trouble);
        if (suspect.line > 0) {
            result.diagnostic = author.at(suspect, message);
            result.framed = true;
            return result;
        }
    } else if (!place) {
        if (const std::string name = author.name_of(report.place); !name.empty())
            message += " (in " + name + ")";
    }
    if (place) {
        result.diagnostic = author.at(*place, message);
    } else {
        const SourcePlace* include = author.first(report.included_from);
        const SourcePlace declaration = author.declaration();
        result.diagnostic =
            author.at(declaration.line == 0 && include ? *include : declaration, message);
    }
    return result;
}

bool includes_the_sdk(const std::vector<SourceFile>& closure) {
    return std::any_of(closure.begin(), closure.end(), [](const SourceFile& file) {
        // A quoted name is blank in `code`, so that only comments are taken out.
        const std::string plain = mask_comments(file.text).plain;
        return plain.find("<nacelle/") != plain.npos || plain.find("\"nacelle/") != plain.npos;
    });
}

std::string last_line(std::string_view raw) {
    const size_t end = raw.find_last_not_of(" \t\r\n");
    if (end == raw.npos) return "the compiler failed and said nothing";
    const size_t begin = raw.rfind('\n', end);
    return "the compiler failed: " +
           std::string(raw.substr(begin == raw.npos ? 0 : begin + 1,
                                  end - (begin == raw.npos ? 0 : begin + 1) + 1));
}

std::string shown_path(const std::string& file) {
    std::error_code trouble;
    const fs::path relative = fs::path(file).lexically_relative(fs::current_path(trouble));
    if (trouble || relative.empty() || *relative.begin() == "..") return file;
    return relative.string();
}

std::string shown(const Diagnostic& diagnostic, const char* kind) {
    std::ostringstream out;
    if (!diagnostic.file.empty()) out << shown_path(diagnostic.file) << ':';
    if (!diagnostic.file.empty() && diagnostic.line > 0) out << diagnostic.line << ':';
    if (!diagnostic.file.empty()) out << ' ';
    out << kind << ": " << diagnostic.message << '\n';
    if (!diagnostic.excerpt.empty())
        out << std::setw(6) << diagnostic.line << " | " << diagnostic.excerpt << '\n';
    return out.str();
}

}

Diagnostics diagnose(const std::vector<CompilerReport>& reports, std::string raw,
                     const CompiledText& text) {
    if (text.closure.empty()) return {.list = {{.message = last_line(raw)}}, .raw = std::move(raw)};
    Author author(text);
    std::vector<Mapped> mapped;
    for (const CompilerReport& report : reports)
        if (report.error) mapped.push_back(map_report(report, author));

    // An error in the author's lines is the cause of a NACELLE_ENV error.
    const auto absent = [](const Mapped& one) {
        return one.diagnostic.message == explain(AuthorMistake::no_environment);
    };
    if (std::ranges::any_of(mapped, [&](const Mapped& one) { return one.framed && !absent(one); }))
        std::erase_if(mapped, absent);
    // Where the SDK has a message for the author, its other errors only repeat it.
    const auto asserted = [](const Mapped& one) { return one.asserted; };
    if (std::ranges::any_of(mapped, asserted))
        std::erase_if(mapped, [](const Mapped& one) { return !one.asserted && !one.own; });
    if (std::ranges::any_of(mapped, [](const Mapped& one) { return one.framed; }))
        std::erase_if(mapped, [](const Mapped& one) { return !one.framed && !one.asserted; });

    // g++ reads the functions of a struct last: of several syntax errors the first in the file is the cause.
    const auto slip = [](const Mapped& one) {
        return one.diagnostic.message.starts_with("expected ");
    };
    std::stable_sort(mapped.begin(), std::find_if_not(mapped.begin(), mapped.end(), slip),
                     [](const Mapped& a, const Mapped& b) {
                         return std::tie(a.diagnostic.file, a.diagnostic.line) <
                                std::tie(b.diagnostic.file, b.diagnostic.line);
                     });

    Diagnostics result;
    if (!includes_the_sdk(text.closure))
        result.list.push_back(
            author.at({text.closure.front().path.string(), 1}, explain(AuthorMistake::no_include)));
    for (Mapped& one : mapped) {
        const auto same = [&](const Diagnostic& other) {
            return other.file == one.diagnostic.file && other.line == one.diagnostic.line;
        };
        if (std::ranges::none_of(result.list, same))
            result.list.push_back(std::move(one.diagnostic));
    }
    if (result.list.empty())
        result.list.push_back({text.closure.front().path.string(), 0, last_line(raw), ""});
    result.raw = std::move(raw);
    return result;
}

std::string author_warnings(const std::vector<CompilerReport>& reports, const CompiledText& text) {
    Author author(text);
    std::string result;
    for (const CompilerReport& report : reports)
        if (!report.error && author.find(report.place))
            result += shown(author.at(report.place, report.message), "warning");
    return result;
}

std::string Diagnostics::text() const {
    constexpr size_t most_shown = 3;
    std::string result;
    for (size_t i = 0; i < std::min(list.size(), most_shown); ++i)
        result += shown(list[i], "error");
    if (list.size() > most_shown)
        result += "and " + std::to_string(list.size() - most_shown) + " more\n";
    return result;
}

}
