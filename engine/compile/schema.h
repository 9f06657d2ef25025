#pragma once
#include <cstddef>
#include <nacelle/schema.h>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

// The table of fields of an environment, read from a compiled binary.
class EnvSchema final {
public:
    // Reads it from an ELF image; `what` names that in messages. Throws where the table is missing, cut short or of
    // another revision.
    static EnvSchema read(std::span<const std::byte> elf, const std::string& what);
    // From the table's own bytes.
    EnvSchema(std::span<const std::byte> table, const std::string& what);

    const Header& header() const { return header_; }
    const std::vector<Field>& fields() const { return fields_; }
    std::string name() const { return header_.name; }
    const Field* find(const std::string& name) const;
    // The numbers and tables of Params, "gravity" without "param.".
    std::vector<const Field*> params() const;
    std::vector<std::string> param_names() const;
    // The numbers of Log, "caught" without "log.", and "seen.2" where a name has several.
    std::vector<std::string> log_names() const;
    // The bytes that one environment takes in all arrays.
    size_t bytes_per_env() const;
    // Elements that a field has for `envs` environments.
    size_t elements(const Field&, size_t envs) const;
    size_t rows(const Field&, size_t envs) const;
    std::vector<int64_t> shape(const Field&, size_t envs) const;

private:
    Header header_{};
    std::vector<Field> fields_;
};

}
