#include "engine/env/tables.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/npy.h"
#include "engine/env/table_form.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

struct TableHandle {    // nacelle::Table, as the author's Params holds it
    const void* first;
    int32_t count, lane, lanes;
};
constexpr size_t handle_size = sizeof(void*) + 3 * sizeof(int32_t);

std::string name_of(const Field& table) { return table.name + std::strlen("param."); }

}

void Tables::set(RunsOn& on, const Field& field, const NpyArray& data, const std::string& env,
                 const std::string& where) {
    require_table_form(field, data.dtype, data.shape, env, where);
    auto memory = std::make_shared<Buffer>(on.device, data.data.size());
    on.stream->to_device(memory->data(), data.data.data(), data.data.size());
    on.stream->synchronize();
    std::erase_if(held_, [&](const Held& held) { return held.name == name_of(field); });
    held_.push_back({name_of(field), std::move(memory), data.shape[0], false});
}

bool Tables::has(const std::string& name) const {
    return std::any_of(held_.begin(), held_.end(),
                       [&](const Held& held) { return held.name == name; });
}

void Tables::load(RunsOn& on, const ParamValues& params, const EnvSettings& settings,
                  const std::string& env) {
    for (const ParamEntry& entry : flatten_params(settings.params)) {
        const Field& field = params.field(entry.name);
        if (field.kind != Kind::table || has(entry.name)) continue;
        if (!entry.value.is_string())
            throw Error(settings.where, "env.params." + entry.name +
                                            ": expected the path of a .npy file, found " +
                                            json_text(entry.value));
        std::filesystem::path file = entry.value.get<std::string>();
        if (file.is_relative()) file = settings.source.parent_path() / file;
        set(on, field, parse_npy(read_plain_file(file, most_of_a_table), file.string()), env,
            file.string());
    }
}

void Tables::share(const Tables& before, const EnvSchema& its, const EnvSchema& mine) {
    for (const Held& held : before.held_) {
        const Field* const now = mine.find("param." + held.name);
        const Field& then = *its.find("param." + held.name);
        const bool fits = now && now->kind == Kind::table && now->dtype == then.dtype &&
                          now->rank == then.rank &&
                          std::equal(now->dims, now->dims + now->rank, then.dims);
        if (!held.prepared && fits) held_.push_back(held);
    }
}

bool Tables::make_room(RunsOn& on, const EnvSchema& schema, const EnvSettings& settings) {
    bool made = false;
    for (const Field* field : schema.params()) {
        if (field->kind != Kind::table || has(name_of(*field))) continue;
        if (!schema.header().has_prepare || field->dims[0] == 0)
            throw Error(settings.where,
                        "env.params." + name_of(*field) + ": the table " + table_form(*field) +
                            " of " + schema.name() + " needs data",
                        "name a .npy file");
        const size_t bytes = field->count * dtype_size(field->dtype);
        held_.push_back(
            {name_of(*field), std::make_shared<Buffer>(on.device, bytes), field->dims[0], true});
        made = true;
    }
    return made;
}

void Tables::bind(ParamValues& params) const {
    for (const Held& held : held_) {
        const TableHandle handle{held.memory->data(), static_cast<int32_t>(held.rows), 0, 1};
        std::memcpy(params.bytes().data() + params.field(held.name).offset, &handle, handle_size);
    }
}

}
