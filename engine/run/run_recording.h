#pragma once
#include "engine/recording/recorder.h"

namespace nacelle {

// What a run keeps of its evaluations: a file for each version of the environment.
class RunRecording final {
public:
    // `path`: of the first file, which must not be there. Further ones get a number.
    RunRecording(RecordSettings settings, std::filesystem::path path);

    // Who follows the next evaluation. A file is begun by the first one.
    Recorder& recorder(Environment& env);
    // The environment is another version, or another one.
    void reloaded();
    // Notes in the file that nothing more comes. Later evaluations begin another one.
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

// The path, or with a number before its ending where that is taken.
std::filesystem::path free_path(const std::filesystem::path& path);

}
