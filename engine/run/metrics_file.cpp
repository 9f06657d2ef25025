#include "engine/run/metrics_file.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/config/describe.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <nacelle/plugin/csv_cells.h>
#include <unistd.h>

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

// Reads lines of either kind.
class Lines final {
public:
    explicit Lines(const fs::path& path) : path_(path), file_(open_plain_file(path)) {
        std::string title;
        if (path.extension() == table_end && next_line(title)) columns_ = plugin::csv_cells(title);
    }
    // Skips to the first whole line of the last `bytes` of the file.
    void skip_to_last(off_t bytes) {
        const off_t here = at_ - off_t(waiting_.size() - begin_),
                    end = ::lseek(file_.get(), 0, SEEK_END);
        if (end - here <= bytes) return;
        at_ = end - bytes;
        waiting_.clear();
        begin_ = 0;
        std::string cut;
        next_line(cut);
    }
    // The next reading; nothing at the end.
    std::optional<MetricReading> next() {
        std::string line;
        while (next_line(line)) {
            std::optional<MetricReading> reading =
                columns_.empty() ? reading_of_object(line) : reading_of_row(columns_, line);
            if (reading) return reading;
        }
        return {};
    }

private:
    static constexpr size_t block = 1 << 16, longest_line = 1 << 20;

    // The last line may have no end.
    bool next_line(std::string& line) {
        size_t end = waiting_.find('\n', begin_);
        while (end == waiting_.npos) {
            waiting_.erase(0, begin_);
            begin_ = 0;
            const size_t looked_at = waiting_.size();
            if (looked_at > longest_line)
                throw Error(path_.string(), "has a line of more than 1 MiB, which is no reading");
            if (!read_block()) {
                line = std::exchange(waiting_, {});
                return !line.empty();
            }
            end = waiting_.find('\n', looked_at);
        }
        line = waiting_.substr(begin_, end - begin_);
        begin_ = end + 1;
        return true;
    }
    bool read_block() {
        const size_t before = waiting_.size();
        waiting_.resize(before + block);
        ssize_t count = 0;
        do count = ::pread(file_.get(), waiting_.data() + before, block, at_);
        while (count < 0 && errno == EINTR);
        waiting_.resize(before + size_t(std::max<ssize_t>(count, 0)));
        if (count < 0) throw Error(path_.string(), "cannot be read");
        at_ += count;
        return count > 0;
    }

    fs::path path_;
    Descriptor file_;
    off_t at_ = 0;    // the next block
    std::string waiting_;
    size_t begin_ = 0;    // of the next line in waiting_
    std::vector<std::string> columns_;
};

// The settings and links of a stranger's run may lead to any file.
void require_inside(const fs::path& run, const fs::path& file) {
    if (!lies_below(file, run))
        throw Error(file.string(), "is outside of the run's folder, and is not read");
}

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
        if (fs::is_regular_file(run / name, ignored)) {
            require_inside(run, run / name);
            return run / name;
        }
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
