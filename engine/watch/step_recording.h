#pragma once
#include "engine/recording/recorder.h"

namespace nacelle {

// The recording of a watched environment: all episodes of the chosen environments. A version with the same arrays
// continues in the same file and within its episodes; another one begins the next file, with the next episode of each
// environment.
class StepRecording final {
public:
    // `path`: of the first file; where it exists, this one and all further ones get a number.
    StepRecording(RecordSettings settings, std::filesystem::path path,
                  std::optional<uint64_t> trained);
    // As finish(), but ignores errors.
    ~StepRecording();
    StepRecording(const StepRecording&) = delete;
    StepRecording& operator=(const StepRecording&) = delete;

    // `under_way`: whether episodes are running, so that it begins with the next ones. Throws where an array or
    // environment does not exist.
    void begin(Environment& env, bool under_way);
    // To be called after each step.
    void stepped();
    // Writes the steps so far; to be called before anything but a step changes the environment.
    void take_pending();
    // All environments have begun new episodes; running ones are written as cut.
    void restarted();
    // The environment is another version. Throws as begin() does; then nothing is recorded until a later version
    // fits.
    void reloaded();
    // Writes unfinished episodes as cut and marks the file as complete.
    void finish();
    // [{"file","episodes"},...] of all files so far.
    const Json& files() const { return files_; }

private:
    bool goes_on(const RecordingHeader& header, const std::vector<RecordedTable>& tables) const;
    void open(const RecordingHeader& header, std::vector<RecordedTable> tables);
    void count_episodes();

    RecordSettings settings_;
    std::filesystem::path path_;
    std::optional<uint64_t> trained_;
    Environment* env_ = nullptr;
    std::vector<RecordedTable> tables_;
    std::unique_ptr<RecordingWriter> writer_;
    std::unique_ptr<Recorder> recorder_;
    uint32_t pending_ = 0;    // steps that were not taken yet
    Json files_ = Json::array();
};

}
