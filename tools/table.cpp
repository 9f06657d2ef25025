#include "tools/table.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cstdio>

namespace nacelle::tools {
namespace {

// The places on a terminal: continuation bytes of UTF-8 take none.
size_t places(const std::string& text) {
    return size_t(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

// In one line: a cell with a line end would break the table.
std::string in_one_line(const std::string& text) {
    std::string line = printable(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\t', ' ');
    return line;
}

}

Table::Table(std::vector<std::string> titles) { add(std::move(titles)); }

void Table::add(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = in_one_line(cell);
    rows_.push_back({std::move(cells)});
}

void Table::note(std::string text) { rows_.push_back({{in_one_line(text)}, true}); }

void Table::print() const {
    std::vector<size_t> widths;
    for (const Row& row : rows_) {
        if (row.note) continue;
        widths.resize(std::max(widths.size(), row.cells.size()));
        for (size_t i = 0; i < row.cells.size(); ++i)
            widths[i] = std::max(widths[i], places(row.cells[i]));
    }
    for (const Row& row : rows_) {
        std::string line;
        for (size_t i = 0; i < row.cells.size(); ++i) {
            const std::string& cell = row.cells[i];
            if (row.note) {
                line = cell;
                break;
            }
            const std::string room(widths[i] - places(cell), ' ');
            line += right_.contains(i) ? room + cell : cell + room;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::printf("%s\n", line.c_str());
    }
}

}
