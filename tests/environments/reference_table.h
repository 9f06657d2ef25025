#pragma once
#include "tests/env/workbench.h"

#include <cmath>

// What the tests against tests/references share: a table, and the largest error seen.
namespace nacelle::test {

inline Json table_of(const std::string& name) {
    return load_json(std::filesystem::path(source_path("tests/references")) / (name + ".json"));
}
// Relative to max(1, |reference|), and beyond all bounds where either is no number.
inline double error_of(double value, double reference) {
    const double error = std::abs(value - reference) / std::max(1.0, std::abs(reference));
    return std::isfinite(error) ? error : 1e30;
}

struct Worst {
    double error = 0;
    std::string where = "nowhere";

    void see(double value, double reference, const std::string& column, size_t row) {
        const double now = error_of(value, reference);
        if (now <= error) return;
        error = now;
        where = column + " of " + std::to_string(row) + ": " + std::to_string(value) + ", not " +
                std::to_string(reference);
    }
};

}
