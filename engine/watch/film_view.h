#pragma once
#include "engine/recording/film.h"
#include "engine/watch/texts.h"
#include "engine/watch/viewer.h"

#include <chrono>

namespace nacelle {

// Where it begins.
struct FilmViewSettings {
    std::vector<size_t> episodes;    // those that can be chosen, at least one
    std::vector<size_t>
        arrays;            // of the header's, that are shown first; empty: as an author would
    size_t episode = 0;    // of the recording
    uint64_t step = 0;
    double pace = 25;    // steps a second
    bool paused = false;
};

// Plays a recording for somebody who looks at it: the picture and the arrays of a step, the next one when it is
// due, and another episode or place when it is asked for. Behind an episode's last step comes the next episode,
// of those that are chosen; behind the last one it holds.
class FilmView final {
public:
    FilmView(Film& film, std::shared_ptr<Viewer> viewer, FilmViewSettings settings);

    // Does what was asked for and shows what is due. To be called every few milliseconds.
    void turn();

private:
    using Clock = std::chrono::steady_clock;

    const EpisodeSummary& summary() const { return film_.recording().episodes()[episode_]; }
    const std::vector<RecordedArray>& arrays() const { return film_.recording().header().arrays; }
    bool is_chosen(size_t episode) const;
    size_t agents() const;
    void obey(const Json& command);
    void choose_arrays(const Json& names);
    void choose_environment(const Json& value);
    void go_to(size_t episode, uint64_t step);
    void move();
    bool move_on();
    void pause(bool paused);
    void show_film();
    void show_environment();
    void show_parameters();
    void show_curves();
    void show_status();
    void show_step();

    Film& film_;
    std::shared_ptr<Viewer> viewer_;
    FilmViewSettings settings_;
    size_t episode_;
    uint64_t step_;
    std::optional<uint32_t> environment_;    // whose episodes are played; else all
    ArrayChoice shown_;
    Clock::time_point due_;
    bool fresh_ = true;    // what there is to see has not been shown
};

}
