#include "engine/env/table_form.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"

#include <cstring>

namespace nacelle {

std::string table_form(const Field& table) {
    std::string text = std::string(dtype_name(table.dtype)) + " [";
    for (uint32_t i = 0; i < table.rank; ++i)
        text +=
            (i ? ", " : "") + (table.dims[i] ? std::to_string(table.dims[i]) : std::string("any"));
    return text + "]";
}

void require_table_form(const Field& table, const std::string& dtype,
                        std::span<const int64_t> shape, const std::string& env,
                        const std::string& where) {
    const std::string name = table.name + std::strlen("param.");
    std::string found = dtype + " [";
    bool fits = dtype == dtype_name(table.dtype) && shape.size() == table.rank;
    for (size_t i = 0; i < shape.size(); ++i) {
        found += (i ? ", " : "") + std::to_string(shape[i]);
        if (i < table.rank && table.dims[i] && table.dims[i] != shape[i]) fits = false;
    }
    if (!fits)
        throw Error(where, "holds " + found + "]; the table '" + name + "' of " + env + " is " +
                               table_form(table));
    if (shape[0] == 0) throw Error(where, "holds no rows for the table '" + name + "'");
    if (shape[0] > most_table_rows)
        throw Error(where, "holds " + std::to_string(shape[0]) + " rows for the table '" + name +
                               "'; a table has at most " + std::to_string(most_table_rows));
}

}
