// Metrics as one JSON object a line in metrics.jsonl, or in "file": {"step":1024,"return":21.5}. A number that is
// not finite is null. A file that is there already is continued; lines in it that are not of this form
// stay as they are.
#include "plugins/jsonl/record.h"
#include "plugins/support/line_file.h"
#include "plugins/support/number_text.h"
#include "plugins/support/settings.h"

#include <nacelle/plugin/sink.h>

namespace {

namespace plugin = nacelle::plugin;
using nacelle::plugins::jsonl::Form;
using nacelle::plugins::jsonl::Record;

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

// A whole one that lacks only the line's end was not cut: an editor left it so.
bool is_cut(std::string_view line, bool) { return Record(line).form() == Form::cut; }

class JsonLines final {
public:
    static constexpr const char* name = "jsonl";

    JsonLines(plugin::Host host, std::string_view text) : JsonLines(host, plugin::Config(text)) {}

    void write(uint64_t step, std::span<const char* const> names, std::span<const double> values) {
        if (!readings_.takes(step)) return;
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
        readings_.rewind(step);
        file_.rewind(host_, step, [](std::string_view line, uint64_t) -> std::optional<uint64_t> {
            const Record record(line);
            if (record.form() != Form::whole) return {};
            return record.step();
        });
    }

private:
    JsonLines(plugin::Host host, plugin::Config config)
        : host_(host), readings_(config), file_(path_in(config), is_cut) {}
    static std::filesystem::path path_in(plugin::Config& config) {
        std::filesystem::path path = nacelle::plugins::file_of(config, ".jsonl");
        config.finish();
        return path;
    }

    plugin::Host host_;
    nacelle::plugins::Readings readings_;
    nacelle::plugins::LineFile file_;
};

}

NACELLE_PLUGIN("nacelle.jsonl", "1.0.0", "Metrics as one JSON object a line",
               nacelle::plugin::Sink<JsonLines>)
