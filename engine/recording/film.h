#pragma once
#include "engine/recording/author_file.h"
#include "engine/view/draw_program.h"

#include <mutex>

namespace nacelle {

// Which author's file a recording is drawn with.
struct FilmSettings {
    std::filesystem::path source = {};    // named by the user: taken though it has changed
    AuthorPlaces places = {};    // searched for the file as it was recorded, where none is named
    std::filesystem::path cache = {};    // of what is compiled; empty: the default
};

// The pictures of a recording, step by step: what its author's draw() paints, or its arrays where that
// cannot be had. Anybody may have written a recording, and it holds no code: draw() comes from the
// author's file, which must be the one that was recorded. Its numbers may be anybody's as well: arrays
// must have the forms that the program has, and draw() is built so that what it would read outside of
// them becomes an Error. The last picture of an episode is that before its last step: in the step itself
// the next episode has begun.
class Film final {
public:
    explicit Film(std::shared_ptr<const Recording> recording, const FilmSettings& settings);

    const Recording& recording() const { return *recording_; }
    bool by_author() const { return program_ != nullptr; }
    // Why it is not drawn by the author's draw(), where it is not.
    const std::string& why_not() const { return why_not_; }
    DisplayList frame(size_t episode, uint64_t step) { return paint(scene(episode, step)); }
    // All that was recorded beside a step, as a copy of a live environment would have it: choices and
    // rewards are those of the step before.
    Scene scene(size_t episode, uint64_t step);
    DisplayList paint(const Scene& scene);

private:
    void find_program(const FilmSettings& settings);
    void require_forms() const;
    void require_all_that_draw_sees() const;
    void take_tables();
    void fill_params(Scene& scene, const EpisodeSummary& summary) const;
    std::shared_ptr<const RecordedEpisode> load(size_t episode);

    std::shared_ptr<const Recording> recording_;
    std::unique_ptr<DrawProgram> program_;
    std::map<std::string, std::vector<std::byte>> tables_;    // by the names of their fields
    std::string why_not_;
    std::mutex mutex_;    // over what was unpacked last
    size_t loaded_ = 0;
    std::shared_ptr<const RecordedEpisode> episode_;
};

}
