#pragma once
#include <set>
#include <string>
#include <vector>

namespace nacelle::tools {

// A table of texts whose columns are as wide as their widest cell. Prints no control characters of others.
class Table final {
public:
    explicit Table(std::vector<std::string> titles);

    // Aligns a column to the right.
    void right(size_t column) { right_.insert(column); }
    void add(std::vector<std::string> cells);
    // A line of its own below the last row.
    void note(std::string text);
    void print() const;

private:
    struct Row {
        std::vector<std::string> cells;    // of a note: one
        bool note = false;
    };

    std::vector<Row> rows_;
    std::set<size_t> right_;
};

}
