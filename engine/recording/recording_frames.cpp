#include "engine/recording/recording_frames.h"

#include "engine/base/error.h"
#include "engine/env/table_form.h"
#include "engine/view/array_picture.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

constexpr size_t scene_alignment = 64;

// Fields that draw() does not receive.
bool is_unseen(const Field& field) {
    return field.role == Role::obs || field.role == Role::final_obs || field.role == Role::mask ||
           field.role == Role::global || field.role == Role::log || field.role == Role::total ||
           field.role == Role::ended;
}

size_t row_bytes(const Field& table) {
    size_t bytes = dtype_size(table.dtype);
    for (uint32_t i = 1; i < table.rank; ++i) bytes *= table.dims[i];
    return bytes;
}

// A byte other than 0 and 1 is not a valid bool: compilers assume that an index by a bool is in bounds.
void make_bools(Dtype dtype, std::span<std::byte> bytes) {
    if (dtype != Dtype::b8) return;
    for (std::byte& one : bytes) one = std::byte(one != std::byte(0));
}

Scene::Part& add_part(Scene& scene, const Field& field, size_t rows) {
    const size_t bytes = rows * field.count * dtype_size(field.dtype), offset = scene.memory.size();
    scene.memory.resize(offset + (bytes + scene_alignment - 1) / scene_alignment * scene_alignment);
    scene.parts.push_back({field, offset, bytes, rows});
    return scene.parts.back();
}

}

RecordingFrames::RecordingFrames(std::shared_ptr<const Recording> recording,
                                 const DrawSettings& settings)
    : recording_(std::move(recording)) {
    try {
        find_program(settings);
    } catch (const Error& error) {
        if (!settings.source.empty()) throw;
        program_.reset();
        why_not_ = error.what();
    }
}

void RecordingFrames::find_program(const DrawSettings& settings) {
    const RecordingHeader& header = recording_->header();
    const std::filesystem::path source =
        settings.source.empty() ? find_author_file(*recording_, settings.places) : settings.source;
    program_ = std::make_unique<DrawProgram>(std::filesystem::absolute(source),
                                             DrawProgram::Build{.constants = header.constants,
                                                                .varied = header.varied,
                                                                .policies = header.policies,
                                                                .checked = true},
                                             settings.cache);
    if (program_->schema().header().layout != header.layout)
        throw Error(source.string(), "has other arrays than " + recording_->path().string(),
                    "the recording is of " + header.environment);
    if (!program_->has_draw()) throw Error(source.string(), "has no draw()");
    require_forms();
    require_all_that_draw_sees();
    take_tables();
}

// The hash of a layout proves nothing, since the writer of the file may have copied it. draw() reads the recorded
// arrays with the program's sizes.
void RecordingFrames::require_forms() const {
    const EnvSchema& schema = program_->schema();
    for (const RecordedArray& array : recording_->header().arrays)
        for (const Field& field : schema.fields()) {
            const std::optional<Moment> moment = moment_of(field);
            if (!moment || array.name() != field.name) continue;
            const std::string its = recorded_form(array),
                              wanted = recorded_form(recorded_array(schema, field, *moment));
            if (its != wanted)
                throw Error(recording_->path().string(),
                            array.name() + " is recorded as " + its + " and not as " + wanted);
        }
}

// Throws where draw() may see something that was not recorded.
void RecordingFrames::require_all_that_draw_sees() const {
    for (const Field& field : program_->schema().fields())
        if (moment_of(field) && !is_unseen(field) && !recording_->header().find(field.name))
            throw Error(recording_->path().string(), "was recorded without " +
                                                         std::string(field.name) +
                                                         ", which draw() may see");
}

// Throws where draw() may see an incomplete table.
void RecordingFrames::take_tables() {
    for (const Field* field : program_->schema().params()) {
        if (field->kind != Kind::table) continue;
        const std::string name = field->name + std::strlen("param.");
        const std::optional<uint64_t> bytes = recording_->table_bytes(name);
        const uint64_t row = row_bytes(*field), rows = bytes.value_or(0) / row;
        if (!bytes || rows * row != *bytes || rows > uint64_t(most_table_rows) ||
            (field->dims[0] && rows != field->dims[0]))
            throw Error(recording_->path().string(), "has no whole table of " +
                                                         std::string(field->name) +
                                                         ", which draw() may see");
        std::vector<std::byte>& table = tables_[field->name] = recording_->table(name);
        make_bools(field->dtype, table);
    }
}

std::shared_ptr<const RecordedEpisode> RecordingFrames::load(size_t episode) {
    const std::lock_guard lock(mutex_);
    if (!episode_ || loaded_ != episode) {
        episode_ = std::make_shared<RecordedEpisode>(recording_->episode(episode));
        loaded_ = episode;
    }
    return episode_;
}

Scene RecordingFrames::scene(size_t index, uint64_t step) {
    const std::shared_ptr<const RecordedEpisode> episode = load(index);
    const EpisodeSummary& summary = episode->summary;
    if (step >= summary.steps)
        throw Error(recording_->path().string(),
                    "episode " + std::to_string(index) + " has no step " + std::to_string(step),
                    "there are 0 to " + std::to_string(summary.steps - 1));
    Scene scene;
    scene.name = recording_->header().environment;
    scene.layout = recording_->header().layout;
    scene.tick = summary.tick + step;
    scene.head.seed = summary.seed;
    scene.head.first_env = summary.environment;
    scene.head.progress_from = float(summary.progress_from);
    scene.head.progress_per_tick = float(summary.progress_per_tick);
    const std::vector<RecordedArray>& arrays = recording_->header().arrays;
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i].moment == Moment::end) continue;
        const Scene::Part& part = add_part(scene, arrays[i].field, arrays[i].rows);
        // There is no step before the first one.
        const bool behind = arrays[i].moment == Moment::step;
        if (behind && step == 0) continue;
        std::memcpy(scene.memory.data() + part.offset,
                    episode->columns[i].data() + (step - behind) * part.bytes, part.bytes);
        make_bools(part.field.dtype, std::span(scene.memory).subspan(part.offset, part.bytes));
    }
    if (program_) fill_params(scene, summary);
    return scene;
}

void RecordingFrames::fill_params(Scene& scene, const EpisodeSummary& summary) const {
    const EnvSchema& schema = program_->schema();
    for (const Field& field : schema.fields())
        if (moment_of(field) && !scene.find(field.name))
            add_part(scene, field, schema.rows(field, 1));
    scene.params.resize(schema.header().params_size);
    for (const Field* field : schema.params()) {
        const std::string name = field->name + std::strlen("param.");
        std::byte* const params = scene.params.data();
        if (field->kind == Kind::table) {
            const std::vector<std::byte>& data = tables_.at(field->name);
            const auto rows = int32_t(data.size() / row_bytes(*field));
            std::memcpy(params + field->offset + sizeof(void*), &rows, sizeof rows);
            scene.tables.emplace_back(field->offset, data);
            continue;
        }
        if (!summary.params.contains(name)) continue;
        const Json& given = summary.params[name];
        const Json values = given.is_array() ? given : Json::array({given});
        for (size_t i = 0; i < std::min<size_t>(values.size(), field->count); ++i)
            if (values[i].is_number())
                write_number(field->dtype, params + offset_of(*field, i), values[i]);
    }
}

DisplayList RecordingFrames::paint(const Scene& scene) {
    return program_ ? program_->paint(scene) : picture_of_arrays(scene);
}

}
