// Metrics as one JSON object a line in metrics.jsonl: {"step":1024,"return":21.5}. A number that is
// not finite is null. A file that is there already is continued.
#include "plugins/support/line_file.h"
#include "plugins/support/number_text.h"

#include <nacelle/plugin/config.h>
#include <nacelle/plugin/sink.h>

namespace {

namespace plugin = nacelle::plugin;

std::string quoted(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string result = "\"";
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') result += '\\';
        if (code >= 0x20) result += letter;
        else result += std::string("\\u00") + digits[code >> 4] + digits[code & 15];
    }
    return result + '"';
}

std::string path_in(plugin::Config config) {
    const std::string out = config.text("out", ".");
    config.finish();
    return out + "/metrics.jsonl";
}

// The step of a line that was written below; all ones where it is none.
uint64_t step_of(std::string_view line) {
    constexpr std::string_view begin = "{\"step\":";
    uint64_t step = ~uint64_t(0);
    if (line.starts_with(begin))
        std::from_chars(line.data() + begin.size(), line.data() + line.size(), step);
    return step;
}

class JsonLines final {
public:
    static constexpr const char* name = "jsonl";

    JsonLines(plugin::Host, std::string_view config) : file_(path_in(plugin::Config(config))) {}

    void write(uint64_t step, std::span<const char* const> names, std::span<const double> values) {
        std::string line = "{\"step\":" + std::to_string(step);
        for (size_t i = 0; i < names.size(); ++i) {
            const bool finite = std::isfinite(values[i]);
            line += "," + quoted(names[i]) + ":" +
                    (finite ? nacelle::plugins::number_text(values[i]) : "null");
        }
        file_.add(line + "}");
    }
    void flush() { file_.flush(); }
    void rewind(uint64_t step) {
        file_.keep_while([&](std::string_view line) { return step_of(line) <= step; });
    }

private:
    nacelle::plugins::LineFile file_;
};

}

NACELLE_PLUGIN("nacelle.jsonl", "1.0.0", "Metrics as one JSON object a line",
               nacelle::plugin::Sink<JsonLines>)
