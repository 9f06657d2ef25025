#pragma once
#include "engine/recording/author_file.h"
#include "engine/view/draw_program.h"

#include <mutex>

namespace nacelle {

// How the frames of a recording are drawn.
struct DrawSettings {
    std::filesystem::path source = {};    // named by the user: used even if it has changed
    std::vector<std::filesystem::path> places =
        {};                              // searched for the recorded file if none is named
    std::filesystem::path cache = {};    // of compiled code; empty: the default
};

// The frames of a recording, one for each step: what its author's draw() paints, or its arrays where that is not
// available. A recording is untrusted data without code: draw() comes from the author's file, which must equal the
// recorded one. The arrays must have the forms of the compiled program, and draw() is compiled with bounds checks, so
// that a read outside an array becomes an Error. The last frame of an episode is the one before its last step: that
// step already begins the next episode.
class RecordingFrames final {
public:
    explicit RecordingFrames(std::shared_ptr<const Recording> recording,
                             const DrawSettings& settings);

    const Recording& recording() const { return *recording_; }
    bool by_author() const { return program_ != nullptr; }
    // Why the author's draw() is not used, where that is so.
    const std::string& why_not() const { return why_not_; }
    DisplayList frame(size_t episode, uint64_t step) { return paint(scene(episode, step)); }
    // Everything that was recorded at a step, in the form of a copy of a live environment: actions and rewards are
    // those of the previous step.
    Scene scene(size_t episode, uint64_t step);
    DisplayList paint(const Scene& scene);

private:
    void find_program(const DrawSettings& settings);
    void require_forms() const;
    void require_all_that_draw_sees() const;
    void take_tables();
    void fill_params(Scene& scene, const EpisodeSummary& summary) const;
    std::shared_ptr<const RecordedEpisode> load(size_t episode);

    std::shared_ptr<const Recording> recording_;
    std::unique_ptr<DrawProgram> program_;
    std::map<std::string, std::vector<std::byte>> tables_;    // by the names of their fields
    std::string why_not_;
    std::mutex mutex_;    // guards the episode that was unpacked last
    size_t loaded_ = 0;
    std::shared_ptr<const RecordedEpisode> episode_;
};

}
