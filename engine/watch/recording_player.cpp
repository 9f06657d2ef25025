#include "engine/watch/recording_player.h"

#include "engine/arrays/dtype.h"
#include "engine/view/array_picture.h"
#include "engine/watch/curves.h"

#include <algorithm>

namespace nacelle {
namespace {

bool is_seen(const RecordedArray& array) { return array.moment != Moment::end; }

}

RecordingPlayer::RecordingPlayer(RecordingFrames& frames, std::shared_ptr<Viewer> viewer,
                                 PlayerSettings settings)
    : frames_(frames),
      viewer_(std::move(viewer)),
      settings_(std::move(settings)),
      episode_(settings_.episode),
      step_(settings_.step),
      due_(Clock::now()) {
    for (const size_t i : settings_.arrays) shown_.names.insert(arrays()[i].name());
    if (shown_.names.empty())
        for (const RecordedArray& array : arrays())
            if (is_seen(array) && is_shown_first(array.field)) shown_.names.insert(array.name());
    if (shown_.names.empty())
        for (const RecordedArray& array : arrays())
            if (is_seen(array)) shown_.names.insert(array.name());
    shown_.names.insert("");    // no name, and so all of them, would mean others, too
    show_recording();
    show_environment();
    go_to(episode_, step_);
}

void RecordingPlayer::turn() {
    for (const Json& command : viewer_->commands()) obey(command);
    move();
    if (!fresh_ || !viewer_->wants_picture()) return;
    fresh_ = false;
    show_step();
}

void RecordingPlayer::obey(const Json& command) {
    const std::string what = command["do"];
    const Json value = command.value("value", Json());
    const bool whole = value.is_number_unsigned();
    if (what == "pause") pause(true);
    else if (what == "play") {
        // At the end it starts from the beginning.
        if (step_ + 1 == summary().steps && !move_on()) go_to(episode_, 0);
        pause(false);
    } else if (what == "step") {
        settings_.paused = true;
        move_on();
        pause(true);
    } else if (what == "seek" && whole)
        go_to(episode_, std::min(value.get<uint64_t>(), summary().steps - 1));
    else if (what == "episode" && whole && is_chosen(value.get<size_t>())) {
        if (environment_ &&
            frames_.recording().episodes()[value.get<size_t>()].environment != *environment_)
            environment_.reset();
        go_to(value.get<size_t>(), 0);
    } else if (what == "env") choose_environment(value);
    else if (what == "pace" && value.is_number()) {
        settings_.pace = std::clamp(value.get<double>(), 0.1, 1000.0);
        pause(settings_.paused);
    } else if (what == "agent" && whole && value.get<size_t>() < agents()) {
        shown_.agent = value.get<size_t>();
        show_curves();
    } else if (what == "arrays") choose_arrays(value);
    fresh_ = true;
}

void RecordingPlayer::choose_arrays(const Json& names) {
    if (!names.is_array()) return;
    shown_.names = {""};
    for (const RecordedArray& array : arrays())
        if (is_seen(array) && std::find(names.begin(), names.end(), array.name()) != names.end())
            shown_.names.insert(array.name());
}

// All environments where the value is not a number.
void RecordingPlayer::choose_environment(const Json& value) {
    environment_.reset();
    if (value.is_number_unsigned()) {
        for (const size_t i : settings_.episodes) {
            if (frames_.recording().episodes()[i].environment != value) continue;
            environment_ = value.get<uint32_t>();
            if (summary().environment != *environment_) go_to(i, 0);
            break;
        }
    }
    show_status();
}

bool RecordingPlayer::is_chosen(size_t episode) const {
    const auto& all = settings_.episodes;
    return std::find(all.begin(), all.end(), episode) != all.end();
}

size_t RecordingPlayer::agents() const {
    size_t most = 1;
    for (const RecordedArray& array : arrays())
        if (array.by_agent) most = std::max<size_t>(most, array.rows);
    return most;
}

void RecordingPlayer::pause(bool paused) {
    settings_.paused = paused;
    due_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(1 / settings_.pace));
    show_status();
}

void RecordingPlayer::go_to(size_t episode, uint64_t step) {
    episode_ = episode;
    step_ = step;
    fresh_ = true;
    show_parameters();
    show_curves();
    pause(settings_.paused);
}

// Moves to the next step or episode; false at the end.
bool RecordingPlayer::move_on() {
    if (step_ + 1 < summary().steps) {
        ++step_;
        return fresh_ = true;
    }
    const auto& all = settings_.episodes;
    for (auto next = std::find(all.begin(), all.end(), episode_) + 1; next < all.end(); ++next) {
        if (environment_ && frames_.recording().episodes()[*next].environment != *environment_)
            continue;
        go_to(*next, 0);
        return true;
    }
    return false;
}

// Skips late steps, so that the pace holds for slow viewers.
void RecordingPlayer::move() {
    if (settings_.paused) return;
    const Clock::time_point now = Clock::now();
    if (now < due_) return;
    const auto each = std::chrono::duration<double>(1 / settings_.pace);
    const size_t before = episode_;
    while (due_ <= now && episode_ == before) {
        if (!move_on()) return pause(true);
        due_ += std::chrono::duration_cast<Clock::duration>(each);
    }
    show_status();
}

void RecordingPlayer::show_recording() {
    Json episodes = Json::array();
    const std::vector<EpisodeSummary>& all = frames_.recording().episodes();
    for (const size_t i : settings_.episodes) {
        Json one = {{"index", i},
                    {"env", all[i].environment},
                    {"steps", all[i].steps},
                    {"ended", all[i].ended},
                    {"returns", all[i].returns}};
        if (all[i].trained) one["trained"] = *all[i].trained;
        episodes.push_back(std::move(one));
    }
    viewer_->show("player", json_text({{"file", frames_.recording().path().string()},
                                       {"problems", frames_.recording().problems()},
                                       {"episodes", episodes}}));
}

void RecordingPlayer::show_environment() {
    Json list = Json::array();
    for (const RecordedArray& array : arrays())
        if (is_seen(array))
            list.push_back({{"name", array.name()},
                            {"form", form_text(array.field, array.rows)},
                            {"first", shown_.names.contains(array.name())}});
    viewer_->show("environment", json_text({{"name", frames_.recording().header().environment},
                                            {"agents", agents()},
                                            {"arrays", list}}));
}

// The values at the episode's start; they cannot be changed.
void RecordingPlayer::show_parameters() {
    Json list = Json::array();
    for (const auto& [name, value] : summary().params.items())
        list.push_back({{"name", name}, {"kind", "fixed"}, {"value", value}});
    viewer_->show("parameters", json_text(list));
}

// The return up to each step of the whole episode, for the shown agent.
void RecordingPlayer::show_curves() {
    Curves curves;
    const RecordedEpisode episode = frames_.recording().episode(episode_);
    for (size_t i = 0; i < arrays().size(); ++i) {
        const RecordedArray& array = arrays()[i];
        if (array.field.role != Role::reward) continue;
        const size_t row = std::min<size_t>(shown_.agent, array.rows - 1),
                     unit = dtype_size(array.field.dtype);
        double sum = 0;
        for (uint64_t t = 0; t < summary().steps; ++t) {
            sum += read_number(array.field.dtype,
                               episode.columns[i].data() + t * array.bytes() + row * unit);
            curves.add(array.name() + ", summed", double(t), sum);
        }
    }
    viewer_->show("curves", curves.text());
}

void RecordingPlayer::show_status() {
    Json status = {{"mode", "play"},         {"state", settings_.paused ? "paused" : "runs"},
                   {"pace", settings_.pace}, {"episode", episode_},
                   {"step", step_},          {"env", environment_ ? Json(*environment_) : Json()}};
    viewer_->show("status", json_text(status));
}

// An error in draw() costs only the picture.
void RecordingPlayer::show_step() {
    std::string note = frames_.by_author() ? "" : frames_.why_not();
    try {
        const Scene scene = frames_.scene(episode_, step_);
        DisplayList list;
        try {
            list = frames_.paint(scene);
        } catch (const std::exception& wrong) {
            note = wrong.what();
            list = picture_of_arrays(scene);
        }
        viewer_->show("arrays", arrays_text(scene, shown_));
        viewer_->show("picture", "{\"env\":" + std::to_string(summary().environment) +
                                     ",\"agent\":" + std::to_string(shown_.agent) + ",\"step\":" +
                                     std::to_string(step_) + ",\"note\":" + json_word(note) + "," +
                                     picture_text(list) + "}");
    } catch (const std::exception& wrong) {
        viewer_->show("refused", json_text(wrong.what()));
    }
}

}
