// Feeds a Table of mazes from a text file: rows of '#' (wall), '.' (floor) and 'G' (goal), levels
// with blank lines between them, all of one size. The table is uint8 [levels, height, width] with 0
// for floor, 1 for wall and 2 for the goal.
//
//     "hooks": { "levels": { "param": "mazes", "file": "levels.txt" } }
#include <filesystem>
#include <fstream>
#include <nacelle/plugin/config.h>
#include <nacelle/plugin/hook.h>
#include <nacelle/schema.h>

namespace {

namespace plugin = nacelle::plugin;

class LevelsFile final {
public:
    explicit LevelsFile(const std::filesystem::path& path) : path_(path.string()) {
        // To open a pipe would wait for its writer.
        if (std::filesystem::is_fifo(path)) throw std::runtime_error(path_ + " is no plain file");
        std::ifstream file(path);
        if (!file) throw std::runtime_error(path_ + " cannot be read");
        std::string row;
        while (std::getline(file, row)) {
            ++line_;
            while (!row.empty() && (row.back() == '\r' || row.back() == ' ')) row.pop_back();
            if (row.empty()) end_level();
            else add(row);
        }
        ++line_;
        end_level();
        if (levels_ == 0) throw std::runtime_error(path_ + " holds no levels");
    }

    std::vector<int64_t> shape() const { return {levels_, height_, width_}; }
    const std::vector<uint8_t>& cells() const { return cells_; }

private:
    void add(const std::string& row) {
        static constexpr std::string_view letters = ".#G";
        const auto width = static_cast<int64_t>(row.size());
        if (width_ == 0) width_ = width;
        if (width != width_)
            fail("a row of " + std::to_string(width) + " cells; the first has " +
                 std::to_string(width_));
        for (const char letter : row) {
            const size_t value = letters.find(letter);
            if (value == letters.npos)
                fail(std::string("there is no cell '") + letter +
                     "' ('#' wall, '.' floor, 'G' goal)");
            cells_.push_back(static_cast<uint8_t>(value));
        }
        ++rows_;
    }

    // Called at the line after the level's last.
    void end_level() {
        if (rows_ == 0) return;
        if (height_ == 0) height_ = rows_;
        if (rows_ != height_) {
            --line_;
            fail("the level ends after " + std::to_string(rows_) + " rows; the first has " +
                 std::to_string(height_));
        }
        rows_ = 0;
        ++levels_;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": " + what);
    }

    std::string path_;
    std::vector<uint8_t> cells_;
    int64_t levels_ = 0, height_ = 0, width_ = 0, rows_ = 0, line_ = 0;
};

struct Levels {
    static constexpr const char* name = "levels";

    static void loaded(plugin::Host host, std::string_view text, std::string_view folder) {
        plugin::Config config(text);
        const std::string param = config.text("param", ""), file = config.text("file", "");
        config.finish();
        if (param.empty() || file.empty())
            throw std::runtime_error("needs the settings 'param' and 'file'");
        const LevelsFile levels(std::filesystem::path(folder) / file);
        host.table(param, uint32_t(nacelle::Dtype::u8), levels.shape(), levels.cells().data());
    }
};

}

NACELLE_PLUGIN("nacelle.levels", "1.0.0", "Levels from drawings in a text file",
               nacelle::plugin::Hook<Levels>)
