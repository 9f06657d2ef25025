#pragma once
#include <cstdint>
#include <limits>
#include <nacelle/schema.h>
#include <span>
#include <string>

namespace nacelle {

// An author's Table counts its rows in an int.
inline constexpr int64_t most_table_rows = std::numeric_limits<int32_t>::max();

// The form that a Table of Params takes: "f32 [any, 3]".
std::string table_form(const Field& table);

// Throws where the table does not take an array of this type and shape. `env` is the environment's name; `where`
// names the array's file.
void require_table_form(const Field& table, const std::string& dtype,
                        std::span<const int64_t> shape, const std::string& env,
                        const std::string& where);

}
