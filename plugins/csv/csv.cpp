// Metrics as a table, metrics.csv: the step first, then one column for each name in the order of
// their first appearance. The table stays rectangular: a name that comes later adds a column on the
// right, and the rows before it get an empty cell there; for that the file is written anew beside
// itself and renamed. (A second header below the first would break whatever reads tables.) A name
// that is missing at some step leaves its cell empty. A file that is there already is continued.
#include "plugins/support/line_file.h"
#include "plugins/support/number_text.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <nacelle/plugin/config.h>
#include <nacelle/plugin/sink.h>
#include <utility>

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

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
        const bool twice = quoted && line.compare(i, 2, "\"\"") == 0;
        if (twice) cells.back() += line[i++];
        else if (line[i] == '"') quoted = !quoted;
        else if (line[i] == ',' && !quoted) cells.emplace_back();
        else cells.back() += line[i];
    }
    return cells;
}

class Csv final {
public:
    static constexpr const char* name = "csv";

    Csv(plugin::Host, std::string_view text) {
        plugin::Config config(text);
        const fs::path path = fs::path(config.text("out", ".")) / "metrics.csv";
        config.finish();
        file_ = std::make_unique<LineFile>(path);
        std::string title;
        // A device or a pipe has no title to be read.
        if (!fs::is_regular_file(path) || !std::getline(std::ifstream(path), title)) return;
        columns_ = cells_of(title);
        if (columns_.front() != "step")
            throw std::runtime_error(path.string() +
                                     " is no table of metrics: its first column is '" +
                                     columns_.front() + "'");
    }

    void write(uint64_t step, std::span<const char* const> names, std::span<const double> values) {
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
        bool title = true;
        file_->keep_while([&](std::string_view line) {
            uint64_t its = 0;
            std::from_chars(line.data(), line.data() + line.size(), its);
            return std::exchange(title, false) || its <= step;
        });
    }

private:
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
        const fs::path path = file_->path(), beside = path.string() + ".new";
        file_->flush();
        const std::string padding(columns.size() - columns_.size(), ',');
        std::error_code trouble;
        fs::remove(beside, trouble);
        {
            std::ifstream old(path);
            LineFile wider(beside);
            wider.add(joined(columns));
            std::string line;
            std::getline(old, line);
            while (std::getline(old, line)) wider.add(line + padding);
            wider.flush();
        }
        fs::rename(beside, path, trouble);
        if (trouble)
            throw std::runtime_error(path.string() + " cannot be replaced: " + trouble.message());
        file_ = std::make_unique<LineFile>(path);
    }

    std::unique_ptr<LineFile> file_;
    std::vector<std::string> columns_;
};

}

NACELLE_PLUGIN("nacelle.csv", "1.0.0", "Metrics as a table", nacelle::plugin::Sink<Csv>)
