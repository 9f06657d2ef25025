#pragma once
#include <cstdint>
#include <nacelle/schema.h>
#include <span>
#include <string>

namespace nacelle {

// What a Table of Params takes: "f32 [any, 3]".
std::string table_form(const Field& table);

// Throws where an array of this type and shape is none that the table takes. `env` is the environment's
// name; `where` names the array's file.
void require_table_form(const Field& table, const std::string& dtype,
                        std::span<const int64_t> shape, const std::string& env,
                        const std::string& where);

}
