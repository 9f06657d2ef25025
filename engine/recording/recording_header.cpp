// The header of the recording of an environment.
#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/recording/author_file.h"
#include "engine/recording/recorder.h"

#include <cstring>

namespace nacelle {
namespace {

void require_environments(const Environment& env, const RecordSettings& settings) {
    if (settings.environments.empty())
        throw Error(env.name(), "no environment is chosen to be recorded");
    for (const uint32_t which : settings.environments)
        if (which >= env.count())
            throw Error(env.name(),
                        "there is no environment " + std::to_string(which) + " to be recorded",
                        "there are 0 to " + std::to_string(env.count() - 1));
}

std::vector<RecordedArray> chosen_arrays(const EnvSchema& schema,
                                         const std::vector<std::string>& words) {
    std::vector<RecordedArray> arrays;
    std::vector<std::string> names;
    std::vector<bool> used(words.size());
    for (const Field& field : schema.fields()) {
        const std::optional<Moment> moment = moment_of(field);
        if (!moment) continue;
        names.emplace_back(field.name);
        bool chosen = words.empty();
        for (size_t i = 0; i < words.size(); ++i)
            if (is_meant(field.name, words[i])) chosen = used[i] = true;
        if (chosen) arrays.push_back(recorded_array(schema, field, *moment));
    }
    for (size_t i = 0; i < words.size(); ++i)
        if (!used[i])
            throw Error(schema.name(), "has no array '" + words[i] + "' to be recorded",
                        suggest(words[i], names));
    return arrays;
}

}

RecordingHeader recording_header(Environment& env, const RecordSettings& settings) {
    require_environments(env, settings);
    const EnvSettings& its = env.settings();
    RecordingHeader header{.environment = env.name(),
                           .source = its.source.filename().string(),
                           .files = recorded_hashes(env.code().files),
                           .layout = env.schema().header().layout,
                           .constants = its.constants,
                           .varied = varied_params(flatten_params(its.params)),
                           .policies = its.policies,
                           .arrays = chosen_arrays(env.schema(), settings.arrays)};
    return header;
}

std::vector<RecordedTable> recorded_tables(Environment& env) {
    std::vector<RecordedTable> tables;
    const std::byte* const params = env.view().data() + env.schema().header().params_offset;
    for (const Field* field : env.schema().params()) {
        if (field->kind != Kind::table) continue;
        const void* first = nullptr;
        int32_t rows = 0;
        std::memcpy(&first, params + field->offset, sizeof first);
        std::memcpy(&rows, params + field->offset + sizeof first, sizeof rows);
        size_t elements = field->dims[0] ? field->dims[0] : size_t(std::max(rows, 0));
        for (uint32_t i = 1; i < field->rank; ++i) elements *= field->dims[i];
        RecordedTable& table = tables.emplace_back();
        table.name = field->name + std::strlen("param.");
        table.data.resize(elements * dtype_size(field->dtype));
        env.on().stream->to_host(table.data.data(), first, table.data.size());
    }
    env.on().stream->synchronize();
    return tables;
}

}
