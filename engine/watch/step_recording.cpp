#include "engine/watch/step_recording.h"

#include "engine/run/run_recording.h"

#include <algorithm>

namespace nacelle {

StepRecording::StepRecording(RecordSettings settings, std::filesystem::path path,
                             std::optional<uint64_t> trained)
    : settings_(std::move(settings)), path_(std::move(path)), trained_(trained) {}

StepRecording::~StepRecording() {
    try {
        finish();
    } catch (const std::exception&) {
        // Whole episodes are already in the file.
    }
}

void StepRecording::begin(Environment& env, bool under_way) {
    env_ = &env;
    open(recording_header(env, settings_), recorded_tables(env));
    const uint64_t seed = env.settings().seed;
    if (under_way) recorder_->begin_with_next(seed, trained_);
    else recorder_->begin(env.count(), 0, seed, trained_);
}

void StepRecording::open(const RecordingHeader& header, std::vector<RecordedTable> tables) {
    const std::filesystem::path path = free_path(path_);
    writer_ = std::make_unique<RecordingWriter>(path, header, tables);
    tables_ = std::move(tables);
    recorder_ = std::make_unique<Recorder>(*env_, *writer_, settings_);
    files_.push_back({{"file", path.string()}, {"episodes", 0}});
}

void StepRecording::stepped() {
    if (!recorder_) return;
    recorder_->put(pending_);
    if (++pending_ == Recorder::most_steps) take_pending();
}

void StepRecording::take_pending() {
    if (!recorder_ || pending_ == 0) return;
    recorder_->take(std::exchange(pending_, 0));
    count_episodes();
}

void StepRecording::count_episodes() { files_.back()["episodes"] = writer_->episodes(); }

void StepRecording::restarted() {
    if (!recorder_) return;
    take_pending();
    recorder_->finish(true);
    count_episodes();
    recorder_->begin(env_->count(), 0, env_->settings().seed, trained_);
}

// Whether everything that decides on an episode's bytes is unchanged: only the author's text may differ.
bool StepRecording::goes_on(const RecordingHeader& header,
                            const std::vector<RecordedTable>& tables) const {
    const auto without_files = [](RecordingHeader one) {
        one.files.clear();
        return header_json(one);
    };
    return writer_ && without_files(header) == without_files(writer_->header()) &&
           std::equal(tables.begin(), tables.end(), tables_.begin(), tables_.end(),
                      [](const RecordedTable& a, const RecordedTable& b) {
                          return a.name == b.name && a.data == b.data;
                      });
}

void StepRecording::reloaded() {
    take_pending();
    RecordingHeader header;
    std::vector<RecordedTable> tables;
    try {
        header = recording_header(*env_, settings_);
        tables = recorded_tables(*env_);
    } catch (...) {
        finish();
        throw;
    }
    if (goes_on(header, tables)) {
        writer_->add_version(header.files);
        recorder_->reloaded();
        return;
    }
    finish();
    open(header, std::move(tables));
    recorder_->begin_with_next(env_->settings().seed, trained_);
}

void StepRecording::finish() {
    if (!recorder_) return;
    take_pending();
    recorder_->finish(true);
    count_episodes();
    recorder_.reset();
    const std::unique_ptr<RecordingWriter> writer = std::move(writer_);
    writer->finish();
}

}
