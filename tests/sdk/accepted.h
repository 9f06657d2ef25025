#pragma once
#include "engine/base/elf.h"
#include "tests/sdk/probe.h"

#include <doctest/doctest.h>
#include <map>

// What all compilers make of an author's file that is as it should be.
namespace nacelle::test {

inline std::string symbol_of(const Binary& binary, const std::string& symbol) {
    const std::vector<std::byte> elf = binary.elf();
    const auto bytes = elf_symbol(elf, symbol, "binary");
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                 : std::string();
}

// A table without how kernels are launched: a CPU has one thread for a team, a GPU has many.
inline std::string without_launch(std::string table) {
    for (const size_t place : {offsetof(Header, block_threads), offsetof(Header, env_threads),
                               offsetof(Header, shared_bytes), offsetof(Header, workspace_bytes),
                               offsetof(Header, cluster_blocks)})
        table.replace(place, sizeof(uint32_t), sizeof(uint32_t), '\0');
    return table;
}

// The bytes of the default Params; all zero, they need none in a file.
inline std::string defaults_of(const Binary& binary) {
    const std::string bytes = symbol_of(binary, "nacelle_defaults");
    return bytes.find_first_not_of('\0') == bytes.npos ? std::string() : bytes;
}

// Compiles with all compilers; the last table.
inline EnvSchema accepted(const std::string& text) {
    const Folder folder;
    const std::filesystem::path author = folder.write("probe.cu", text);
    std::map<std::string, std::string> tables;
    std::unique_ptr<EnvSchema> schema;
    for (const auto& [name, compiler] : both_compilers()) {
        const Compiled compiled = compiler->compile(stepwise_program(author));
        if (const auto* const wrong = std::get_if<Diagnostics>(&compiled))
            throw std::runtime_error(name + ": " + wrong->text() + wrong->raw.substr(0, 2000));
        const Binary& binary = std::get<Binary>(compiled);
        tables[name] = without_launch(symbol_of(binary, "nacelle_schema")) + defaults_of(binary);
        schema = std::make_unique<EnvSchema>(EnvSchema::read(binary.elf(), name));
    }
    for (const auto& one : tables) CHECK_MESSAGE((one.second == tables.begin()->second), one.first);
    return *schema;
}

inline std::string form(const EnvSchema& schema, const std::string& name) {
    const Field* const field = schema.find(name);
    if (!field) return "none";
    std::string text = dtype_name(field->dtype);
    for (uint32_t i = 0; i < field->rank; ++i) text += " " + std::to_string(field->dims[i]);
    return text;
}

}
