#pragma once
#include <string>
#include <vector>

namespace nacelle::plugin {

// The cells of a table's line, as the sink csv writes it and the engine reads it: commas between them, and quotes, twice
// where they are meant, around a cell that has one of both.
inline std::vector<std::string> csv_cells(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
        if (quoted && line.compare(i, 2, "\"\"") == 0) cells.back() += line[i++];
        else if (line[i] == '"') quoted = !quoted;
        else if (line[i] == ',' && !quoted) cells.emplace_back();
        else cells.back() += line[i];
    }
    return cells;
}

}
