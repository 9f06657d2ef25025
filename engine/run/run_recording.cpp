#include "engine/run/run_recording.h"

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace nacelle {

std::filesystem::path free_path(const std::filesystem::path& path) {
    std::filesystem::path free = path;
    for (int i = 2; std::filesystem::exists(free); ++i)
        free = path.parent_path() /
               (path.stem().string() + "-" + std::to_string(i) + path.extension().string());
    return free;
}

RunRecording::RunRecording(RecordSettings settings, std::filesystem::path path)
    : settings_(std::move(settings)), path_(std::move(path)) {}

Recorder& RunRecording::recorder(Environment& env) {
    if (recorder_) return *recorder_;
    const RecordingHeader header = recording_header(env, settings_);
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path());
    const std::filesystem::path path = files_.empty() ? path_ : free_path(path_);
    writer_ = std::make_unique<RecordingWriter>(path, header, recorded_tables(env));
    files_.push_back(path);
    recorder_ = std::make_unique<Recorder>(env, *writer_, settings_);
    return *recorder_;
}

void RunRecording::reloaded() { finish(); }

void RunRecording::finish() {
    recorder_.reset();
    if (writer_) writer_->finish();
    writer_.reset();
}

}
