#include "engine/compile/schema.h"

#include "engine/arrays/dtype.h"
#include "engine/base/elf.h"
#include "engine/base/error.h"
#include "engine/compile/schema_check.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

// What an older table says of a param by its step alone.
void lay_side_by_side(Field& field) {
    uint32_t stride = field.step;
    for (uint32_t i = std::min<uint32_t>(field.rank, most_dims); i-- > 0; stride *= field.dims[i])
        field.strides[i] = stride;
}

}

EnvSchema EnvSchema::read(std::span<const std::byte> elf, const std::string& what) {
    const auto table = elf_symbol(elf, "nacelle_schema", what);
    if (!table) throw Error(what, "holds no environment: it has no table 'nacelle_schema'");
    return EnvSchema(*table, what);
}

EnvSchema::EnvSchema(std::span<const std::byte> table, const std::string& what) {
    constexpr size_t leading = 4 * sizeof(uint32_t);
    if (table.size() < leading) throw Error(what, "the environment's table is cut short");
    std::memcpy(&header_, table.data(), leading);
    if (header_.magic != schema_magic)
        throw Error(what, "the environment's table does not begin as one");
    if (header_.revision != schema_revision)
        throw Error(what, "has a table of revision " + std::to_string(header_.revision) +
                              "; this engine reads " + std::to_string(schema_revision));
    const size_t header_size = header_.header_size, field_size = header_.field_size;
    // Older tables have shorter structs; the fields that identify one are always there.
    if (header_size < leading || field_size < offsetof(Field, initial))
        throw Error(what, "the environment's table is damaged: its structs are too short");
    if (table.size() < header_size) throw Error(what, "the environment's table is cut short");
    std::memcpy(&header_, table.data(), std::min(header_size, sizeof header_));
    if ((table.size() - header_size) / field_size < header_.fields)
        throw Error(what, "the environment's table is cut short");
    fields_.resize(header_.fields);
    for (size_t i = 0; i < fields_.size(); ++i)
        std::memcpy(&fields_[i], table.data() + header_size + i * field_size,
                    std::min(field_size, sizeof(Field)));
    if (field_size < sizeof(Field))
        for (Field& field : fields_) lay_side_by_side(field);
    require_sound(header_, fields_, what);
}

const Field* EnvSchema::find(const std::string& name) const {
    for (const Field& field : fields_)
        if (name == field.name) return &field;
    return nullptr;
}

std::vector<const Field*> EnvSchema::params() const {
    std::vector<const Field*> found;
    for (const Field& field : fields_)
        if (field.role == Role::param && field.slot < 0) found.push_back(&field);
    return found;
}

std::vector<std::string> EnvSchema::param_names() const {
    std::vector<std::string> names;
    for (const Field* field : params()) names.emplace_back(field->name + std::strlen("param."));
    return names;
}

std::vector<std::string> EnvSchema::log_names() const {
    std::vector<std::string> names;
    for (const Field& field : fields_)
        for (uint32_t i = 0; field.role == Role::log && i < field.count; ++i)
            names.push_back(std::string(field.name + std::strlen("log.")) +
                            (field.count > 1 ? "." + std::to_string(i) : ""));
    return names;
}

size_t EnvSchema::elements(const Field& field, size_t envs) const {
    return field.count * rows(field, envs);
}

size_t EnvSchema::rows(const Field& field, size_t envs) const {
    switch (field.per) {
        case Per::all: return 1;
        case Per::env: return envs;
        case Per::row: return envs * header_.group[field.group].count;
        case Per::group: break;
    }
    return (envs + group_envs - 1) / group_envs;
}

size_t EnvSchema::bytes_per_env() const {
    size_t sum = 0;
    for (const Field& field : fields_)
        if (field.slot >= 0) sum += elements(field, group_envs) * dtype_size(field.dtype);
    return (sum + group_envs - 1) / group_envs;
}

std::vector<int64_t> EnvSchema::shape(const Field& field, size_t envs) const {
    std::vector<int64_t> shape;
    const auto along = static_cast<int64_t>(rows(field, envs));
    if (field.layout == Layout::rows) shape.push_back(along);
    for (uint32_t i = 0; i < field.rank; ++i) shape.push_back(field.dims[i]);
    if (field.layout == Layout::columns) shape.push_back(along);
    return shape;
}

}
