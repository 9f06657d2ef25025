#pragma once
#include "engine/recording/recorder.h"

namespace nacelle {

// What is kept of an environment that is stepped for somebody who works on its file: all episodes of the chosen
// environments. A version with the same arrays goes on in the same file, its episodes with it; another one begins
// the next file, with each environment's next episode.
class StepRecording final {
public:
    // `path`: of the first file; where it is taken, it and all further ones get a number.
    StepRecording(RecordSettings settings, std::filesystem::path path,
                  std::optional<uint64_t> trained);
    // Writes what there is, as finish() does, but for what is wrong with it.
    ~StepRecording();
    StepRecording(const StepRecording&) = delete;
    StepRecording& operator=(const StepRecording&) = delete;

    // `under_way`: whether the environment's episodes are, so that it begins with the next ones. Throws where
    // there is no array or environment of that name.
    void begin(Environment& env, bool under_way);
    // Behind each step.
    void stepped();
    // Takes what was stepped until now; to be called before anything but a step changes the environment.
    void settle();
    // All environments have begun new episodes; those that ran are written as cut.
    void restarted();
    // The environment is another version. Throws as begin() does; nothing more is recorded then, until a later
    // version fits.
    void reloaded();
    // Writes episodes that have not ended as cut, and notes that nothing more comes.
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
