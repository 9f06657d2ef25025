#pragma once
#include "engine/recording/recorder.h"

namespace nacelle {

// The recordings of evaluations in a run: one file for each version of the environment.
class RunRecording final {
public:
    // `path`: of the first file, which must not exist. Further ones get a number.
    RunRecording(RecordSettings settings, std::filesystem::path path);

    // The recorder of the next evaluation; the first one creates the file.
    Recorder& recorder(Environment& env);
    // The environment is another version, or another one.
    void reloaded();
    // Marks the file as complete. Later evaluations begin another one.
    void finish();
    // The files that were written.
    const std::vector<std::filesystem::path>& files() const { return files_; }

private:
    RecordSettings settings_;
    std::filesystem::path path_;
    std::unique_ptr<RecordingWriter> writer_;
    std::unique_ptr<Recorder> recorder_;
    std::vector<std::filesystem::path> files_;
};

// The path, or one with a number before its ending where the path is taken.
std::filesystem::path free_path(const std::filesystem::path& path);

}
