// Metrics as a table, metrics.csv unless "file" names another: the step first, then one column for each name in the order of
// their first appearance. The table stays rectangular: a name that comes later adds a column on the
// right, and the rows before it get an empty cell there; for that the file is written anew beside
// itself and renamed. (A second header below the first would break whatever reads tables.) A name
// that is missing at some step leaves its cell empty. A table that is there already is continued;
// lines in it that are no rows of ours stay as they are.
#include "plugins/support/line_file.h"
#include "plugins/support/number_text.h"
#include "plugins/support/settings.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <nacelle/plugin/csv_cells.h>
#include <nacelle/plugin/sink.h>
#include <optional>

namespace {

namespace fs = std::filesystem;
namespace plugin = nacelle::plugin;
using nacelle::plugins::LineFile;

// One line of a table has no room for control characters.
std::string plain(std::string_view name) {
    std::string text(name);
    std::replace_if(
        text.begin(), text.end(), [](unsigned char letter) { return letter < 0x20; }, '_');
    return text;
}

std::string cell(const std::string& text) {
    if (text.find_first_of(",\"") == text.npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + '"';
}

// The step of a row of so many cells, of which each is a number or empty. Nothing where it is no such row.
std::optional<uint64_t> step_of(std::string_view line, size_t columns) {
    uint64_t step = 0;
    for (size_t column = 0;; ++column) {
        const std::string_view text = line.substr(0, line.find(','));
        const char* const last = text.data() + text.size();
        double value = 0;
        const auto [end, wrong] = column == 0 ? std::from_chars(text.data(), last, step)
                                              : std::from_chars(text.data(), last, value);
        const bool number = wrong == std::errc() && end == last;
        if (!number && (column == 0 || !text.empty())) return {};
        if (text.size() == line.size())
            return column + 1 == columns ? std::optional(step) : std::nullopt;
        line.remove_prefix(text.size() + 1);
    }
}

// Whether a row may begin like this.
bool begins_row(std::string_view line) {
    return line.find_first_of("0123456789") == 0 &&
           line.find_first_not_of("0123456789+-.einfa,") == line.npos;
}

class Csv final {
public:
    static constexpr const char* name = "csv";

    Csv(plugin::Host host, std::string_view text) : Csv(host, plugin::Config(text)) {}

    void write(uint64_t step, std::span<const char* const> names, std::span<const double> values) {
        if (!readings_.takes(step)) return;
        std::vector<std::string> columns = columns_;
        if (columns.empty()) columns.emplace_back("step");
        for (const char* metric : names)
            if (std::find(columns.begin(), columns.end(), plain(metric)) == columns.end())
                columns.push_back(plain(metric));
        if (columns.size() > columns_.size()) widen(columns);

        std::vector<std::string> row(columns_.size());
        for (size_t i = 0; i < names.size(); ++i)
            row[place_of(plain(names[i]))] = nacelle::plugins::number_text(values[i]);
        row.front() = std::to_string(step);
        file_->add(joined(row));
    }
    void flush() { file_->flush(); }
    void rewind(uint64_t step) {
        readings_.rewind(step);
        file_->rewind(host_, step, [&](std::string_view line, uint64_t number) {
            return number == 1 ? std::optional<uint64_t>(0) : step_of(line, columns_.size());
        });
    }

private:
    Csv(plugin::Host host, plugin::Config config) : host_(host), readings_(config) {
        const fs::path path = nacelle::plugins::file_of(config, ".csv");
        config.finish();
        read_title(path);    // before the file is touched: it may be none of ours
        file_ = std::make_unique<LineFile>(
            path, [](std::string_view line, bool first) { return first || begins_row(line); });
    }

    void read_title(const fs::path& path) {
        // Devices and pipes have no title. The system's logs, which have the size 0, would make the reader wait.
        if (!fs::is_regular_file(path) || fs::is_empty(path)) return;
        std::ifstream file(path);
        if (!file) return;    // who opens it for writing says why
        std::string title;
        std::getline(file, title);
        std::vector<std::string> columns = plugin::csv_cells(title);
        const bool open = file.eof(), begun = open && std::string_view("step").starts_with(title);
        if (!begun && columns.front() != "step")
            throw std::runtime_error(path.string() +
                                     " is no table of metrics: its first column is '" +
                                     columns.front() + "'");
        if (!open) columns_ = std::move(columns);
    }
    size_t place_of(const std::string& column) const {
        return static_cast<size_t>(std::find(columns_.begin(), columns_.end(), column) -
                                   columns_.begin());
    }
    static std::string joined(const std::vector<std::string>& cells) {
        std::string line;
        for (const std::string& text : cells)
            line += (&text == &cells.front() ? "" : ",") + cell(text);
        return line;
    }

    void widen(const std::vector<std::string>& columns) {
        if (columns_.empty()) file_->add(joined(columns));
        else rewrite(columns);
        columns_ = columns;
    }

    void rewrite(const std::vector<std::string>& columns) {
        const std::string padding(columns.size() - columns_.size(), ',');
        file_->rewrite([&](const std::string& line, uint64_t number) -> std::optional<std::string> {
            if (number == 1) return joined(columns);
            return step_of(line, columns_.size()) ? line + padding : line;
        });
    }

    plugin::Host host_;
    nacelle::plugins::Readings readings_;
    std::unique_ptr<LineFile> file_;
    std::vector<std::string> columns_;
};

}

NACELLE_PLUGIN("nacelle.csv", "1.0.0", "Metrics as a table", nacelle::plugin::Sink<Csv>)
