#include "engine/jit/compiler_output.h"

#include <charconv>
#include <optional>

namespace nacelle {
namespace {

struct Heading {
    SourcePlace place;
    std::string_view kind;    // "error", "catastrophic error", "warning", "note", ...
    std::string_view message;
};

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// 0 where it is not a line number.
int number_of(std::string_view digits) {
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

// "file(12): error #20-D: message".
std::optional<Heading> heading(std::string_view line) {
    Heading found;
    std::string_view rest;
    if (line.starts_with("At end of source: ")) {
        rest = line.substr(18);
    } else {
        const size_t close = line.find("): ");
        if (line.empty() || line.front() == ' ' || close == line.npos) return std::nullopt;
        const size_t open = line.rfind('(', close);
        if (open == line.npos || !is_number(line.substr(open + 1, close - open - 1)))
            return std::nullopt;
        found.place = {std::string(line.substr(0, open)),
                       number_of(line.substr(open + 1, close - open - 1))};
        rest = line.substr(close + 3);
    }
    const size_t colon = rest.find(": ");
    if (colon == rest.npos) return std::nullopt;
    found.kind = rest.substr(0, colon);
    found.kind = found.kind.substr(0, found.kind.find(" #"));    // "error #20-D"
    found.message = rest.substr(colon + 2);
    return found;
}

// "... at line 12 of file", where the file is left out when it is the last one named.
std::optional<SourcePlace> frame(std::string_view line, const std::string& last_file) {
    const size_t at = line.rfind(" at line ");
    if (at == line.npos) return std::nullopt;
    const std::string rest(line.substr(at + 9));
    const size_t of = rest.find(" of ");
    const std::string number = rest.substr(0, of);
    if (!is_number(number)) return std::nullopt;
    return SourcePlace{of == rest.npos ? last_file : rest.substr(of + 4), number_of(number)};
}

class NvrtcParser final {
public:
    std::vector<CompilerReport> parse(std::string_view log) {
        while (!log.empty()) {
            const size_t end = log.find('\n');
            line(log.substr(0, end));
            log.remove_prefix(end == log.npos ? log.size() : end + 1);
        }
        return std::move(reports_);
    }

private:
    void line(std::string_view text) {
        if (const auto found = heading(text)) {
            begin(*found);
        } else if (text.empty()) {
            open_ = false;
        } else if (open_) {
            inside(text);
        }
    }

    void begin(const Heading& found) {
        in_context_ = false;
        if (found.kind == "note") {
            if (open_ || !reports_.empty()) reports_.back().notes.push_back(found.place);
            return;
        }
        open_ = found.kind.ends_with("error") || found.kind == "warning";
        if (!open_) return;
        file_ = found.place.file;
        reports_.push_back(
            {found.kind != "warning", found.place, std::string(found.message), {}, {}, {}});
    }

    void inside(std::string_view text) {
        CompilerReport& report = reports_.back();
        const size_t start = text.find_first_not_of(' ');
        const std::string_view words = start == text.npos ? std::string_view{} : text.substr(start);
        if (start == 10 && words.starts_with("detected during")) in_context_ = true;
        if (in_context_) {
            if (const auto place = frame(text, file_)) {
                file_ = place->file;
                report.instantiated_from.push_back(*place);
            }
        } else if (start == 12 && (words.starts_with("argument types are:") ||
                                   words.starts_with("operand types are:") ||
                                   words.starts_with("object type is:"))) {
            report.message += "; " + std::string(words);
        }
    }

    std::vector<CompilerReport> reports_;
    std::string file_;
    bool open_ = false, in_context_ = false;
};

}

std::vector<CompilerReport> parse_nvrtc_log(std::string_view log) {
    return NvrtcParser().parse(log);
}

}
