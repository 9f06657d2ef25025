// Tables: read-only data that all environments share, from .npy files, hooks or prepare().
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/npy.h"
#include "engine/env/environment.h"
#include "engine/env/table_form.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

struct TableHandle {    // nacelle::Table, as the author's Params holds it
    const void* first;
    int32_t count, lane, lanes;
};

}

void Environment::bind_table(const Field& field, const void* memory, int64_t rows) {
    TableHandle handle{};
    std::byte* const there = params_->bytes().data() + field.offset;
    std::memcpy(&handle, there, sizeof(void*) + 3 * sizeof(int32_t));
    handle.first = memory;
    handle.count = static_cast<int32_t>(rows);
    handle.lane = 0;
    handle.lanes = 1;
    std::memcpy(there, &handle, sizeof(void*) + 3 * sizeof(int32_t));
    std::memcpy(view_.data() + schema().header().params_offset + field.offset, there,
                sizeof(void*) + 3 * sizeof(int32_t));
}

void Environment::set_table(const std::string& name, const NpyArray& data,
                            const std::string& where) {
    const Field& field = params_->field(name);
    if (field.kind != Kind::table)
        throw Error(settings_.where, "env.params." + name + ": is a number, not a table");
    require_table_form(field, data.dtype, data.shape, name_, where);
    Buffer memory(on_->device, data.data.size());
    on_->stream->to_device(memory.data(), data.data.data(), data.data.size());
    on_->stream->synchronize();
    bind_table(field, memory.data(), data.shape[0]);
    show_view();
    std::erase_if(tables_, [&](const HeldTable& table) { return table.name == name; });
    tables_.push_back({name, std::make_shared<Buffer>(std::move(memory)), data.shape[0], false});
}

bool Environment::holds_table(const std::string& name) const {
    return std::any_of(tables_.begin(), tables_.end(),
                       [&](const HeldTable& table) { return table.name == name; });
}

void Environment::load_tables(const std::vector<ParamEntry>& entries) {
    for (const ParamEntry& entry : entries) {
        if (params_->field(entry.name).kind != Kind::table || holds_table(entry.name)) continue;
        if (!entry.value.is_string())
            throw Error(settings_.where, "env.params." + entry.name +
                                             ": expected the path of a .npy file, found " +
                                             json_text(entry.value));
        std::filesystem::path file = entry.value.get<std::string>();
        if (file.is_relative()) file = settings_.source.parent_path() / file;
        set_table(entry.name, parse_npy(read_file(file), file.string()), file.string());
    }
}

// The tables that neither a file nor a hook has filled are left to the author's prepare().
void Environment::prepare_tables() {
    bool missing = false;
    for (const Field* field : schema().params()) {
        if (field->kind != Kind::table) continue;
        const std::string name = field->name + std::strlen("param.");
        if (holds_table(name)) continue;
        if (!schema().header().has_prepare || field->dims[0] == 0)
            throw Error(settings_.where,
                        "env.params." + name + ": the table " + table_form(*field) + " of " +
                            name_ + " needs data",
                        "name a .npy file");
        Buffer memory(on_->device, field->count * dtype_size(field->dtype));
        bind_table(*field, memory.data(), field->dims[0]);
        tables_.push_back(
            {name, std::make_shared<Buffer>(std::move(memory)), field->dims[0], true});
        missing = true;
    }
    if (!missing) return;
    show_view();
    const NoArgs args{};
    launch(stepwise_->kernel("nacelle_prepare"), thread_each(prepare_lanes), args_of(args));
    on_->stream->synchronize();
}

}
