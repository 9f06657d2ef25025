#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace nacelle::plugins::jsonl {

// How a text is a line that this sink writes: {"step":1024,"return":21.5,"loss":null}. Cut: its beginning.
enum class Form { whole, cut, foreign };

// Reads a line from left to right, for as long as it has the form.
class Record final {
public:
    explicit Record(std::string_view line) : left_(line) { read(); }

    Form form() const { return form_; }
    uint64_t step() const { return step_; }

private:
    void read() {
        if (!taken("{\"step\":") || !number(step_)) return;
        while (left_.starts_with(',')) {
            if (!taken(",") || !name() || !taken(":")) return;
            double value = 0;
            if (left_.starts_with('n') ? !taken("null") : !number(value)) return;
        }
        if (taken("}") && !left_.empty()) stop(Form::foreign);
    }

    bool stop(Form form) {
        form_ = form;
        return false;
    }
    bool taken(std::string_view wanted) {
        const size_t count = std::min(wanted.size(), left_.size());
        if (left_.substr(0, count) != wanted.substr(0, count)) return stop(Form::foreign);
        if (count < wanted.size()) return stop(Form::cut);
        left_.remove_prefix(count);
        return true;
    }
    template <class Number> bool number(Number& value) {
        const size_t count = std::min(left_.find_first_not_of("0123456789+-.e"), left_.size());
        if (count == left_.size()) return stop(Form::cut);
        const char* const end = left_.data() + count;
        const auto [last, wrong] = std::from_chars(left_.data(), end, value);
        if (wrong != std::errc() || last != end) return stop(Form::foreign);
        left_.remove_prefix(count);
        return true;
    }
    bool name() {
        if (!taken("\"")) return false;
        for (size_t i = 0; i < left_.size(); ++i) {
            if (left_[i] == '"') {
                left_.remove_prefix(i + 1);
                return true;
            }
            if (left_[i] == '\\') ++i;
        }
        return stop(Form::cut);
    }

    std::string_view left_;
    Form form_ = Form::whole;
    uint64_t step_ = 0;
};

}
