#include "engine/run/metrics_file.h"

#include "engine/base/error.h"
#include "engine/config/describe.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <nacelle/plugin/csv_cells.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view table_end = ".csv";

// The name of the file of the first sink of this kind; empty where there is none.
std::string first_sink_file(const Json& configuration, const std::string& kind) {
    const Json::json_pointer place("/run/sinks");
    const Json sinks = configuration.is_object() && configuration.contains(place)
                           ? configuration[place]
                           : Json::array({"jsonl"});
    for (const Json& sink : sinks) {
        if ((sink.is_object() && sink.contains("name") ? sink["name"] : sink) == kind)
            return sink_file(kind, sink);
    }
    return {};
}

std::optional<MetricReading> reading_of_object(const std::string& line) {
    const std::optional<Json> json = try_parse_json(line);
    if (!json || !json->is_object()) return {};
    const auto step = json->find("step");
    if (step == json->end() || !step->is_number_unsigned()) return {};
    MetricReading reading{.step = step->get<uint64_t>(), .values = {}};
    for (const auto& [name, value] : json->items())
        if (name != "step" && value.is_number() && std::isfinite(value.get<double>()))
            reading.values[name] = value.get<double>();
    return reading;
}

template <class Number> std::optional<Number> number_of(const std::string& text) {
    Number number{};
    const char* const last = text.data() + text.size();
    const auto [end, wrong] = std::from_chars(text.data(), last, number);
    if (wrong != std::errc() || end != last) return {};
    return number;
}

std::optional<MetricReading> reading_of_row(const std::vector<std::string>& columns,
                                            const std::string& line) {
    const std::vector<std::string> cells = plugin::csv_cells(line);
    const auto step = number_of<uint64_t>(cells.front());
    if (!step || cells.size() != columns.size()) return {};
    MetricReading reading{.step = *step, .values = {}};
    for (size_t i = 1; i < cells.size(); ++i)
        if (const auto value = number_of<double>(cells[i]); value && std::isfinite(*value))
            reading.values[columns[i]] = *value;
    return reading;
}

std::ifstream opened(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(path.string(), "cannot be read");
    return file;
}

// Reads lines of either kind.
class Lines final {
public:
    explicit Lines(const fs::path& path) : file_(opened(path)) {
        std::string title;
        if (path.extension() == table_end && std::getline(file_, title))
            columns_ = plugin::csv_cells(title);
    }
    // Skips to the first whole line of the last `bytes` of the file.
    void skip_to_last(uint64_t bytes) {
        const std::streampos here = file_.tellg();
        file_.seekg(0, std::ios::end);
        const std::streamoff end = file_.tellg();
        if (here >= 0 && end - here > std::streamoff(bytes)) {
            file_.seekg(end - std::streamoff(bytes));
            std::string cut;
            std::getline(file_, cut);
        } else file_.seekg(here);
    }
    // The next reading; nothing at the end.
    std::optional<MetricReading> next() {
        std::string line;
        while (std::getline(file_, line)) {
            std::optional<MetricReading> reading =
                columns_.empty() ? reading_of_object(line) : reading_of_row(columns_, line);
            if (reading) return reading;
        }
        return {};
    }

private:
    std::ifstream file_;
    std::vector<std::string> columns_;
};

}

std::string sink_file(const std::string& name, const Json& settings) {
    const bool names =
        settings.is_object() && settings.contains("file") && settings["file"].is_string();
    return names ? settings["file"].get<std::string>() : "metrics." + name;
}

fs::path metrics_file(const fs::path& run, const Json& configuration) {
    fs::path missing;
    for (const char* const kind : {"jsonl", "csv"}) {
        const std::string name = first_sink_file(configuration, kind);
        if (name.empty()) continue;
        std::error_code ignored;
        if (fs::is_regular_file(run / name, ignored)) return run / name;
        if (missing.empty()) missing = run / name;
    }
    if (missing.empty())
        throw Error(run.string(),
                    "has no metrics that can be read: its run.sinks are " +
                        describe(configuration["run"]["sinks"]),
                    "\"jsonl\" or \"csv\" writes them");
    throw Error(missing.string(), "does not exist: the run has no metrics yet");
}

void read_metrics(const fs::path& file, const std::function<void(const MetricReading&)>& take) {
    Lines lines(file);
    while (const std::optional<MetricReading> reading = lines.next()) take(*reading);
}

std::optional<MetricReading> last_reading(const fs::path& file) {
    Lines lines(file);
    lines.skip_to_last(1 << 16);
    std::optional<MetricReading> last;
    while (std::optional<MetricReading> reading = lines.next()) last = std::move(reading);
    return last;
}

}
