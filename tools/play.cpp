#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/suggest.h"
#include "engine/base/text.h"
#include "tools/commands.h"
#include "tools/drawing_guard.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/play_list.h"
#include "tools/play_web.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace nacelle::tools {
namespace {

const std::vector<std::string> kinds = {"jsonl", "csv", "npz", "png", "gif", "mp4", "webm"};

struct Play {
    std::filesystem::path file, out, source;
    bool json = false;
    std::string kind;
    std::vector<size_t> episodes;
    std::vector<uint32_t> environments;
    std::vector<std::string> arrays;
    std::optional<uint64_t> step;
    PictureSettings picture;
    WebOptions web;

    bool is_video() const { return kind == "mp4" || kind == "webm"; }
    bool is_picture() const { return kind == "png" || kind == "gif" || is_video(); }
};

// Given by the option, else by the extension of the file.
std::string kind_of(const Play& play) {
    if (!play.kind.empty() || play.out.empty()) return play.kind;
    std::string ending = play.out.extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    if (std::find(kinds.begin(), kinds.end(), ending) != kinds.end()) return ending;
    throw Error("--out", "'" + play.out.string() + "' does not say what is to be written",
                "name one of .jsonl, .csv, .npz, .png, .gif, .mp4 and .webm, or --export");
}

std::vector<size_t> chosen_episodes(const Play& play, const Recording& recording) {
    std::vector<size_t> chosen;
    const std::vector<EpisodeSummary>& all = recording.episodes();
    for (const size_t index : play.episodes) {
        if (index >= all.size()) recording.episode(index);    // says what there is
        chosen.push_back(index);
    }
    for (size_t i = 0; play.episodes.empty() && i < all.size(); ++i) chosen.push_back(i);
    if (!play.environments.empty())
        std::erase_if(chosen, [&](size_t i) {
            return std::find(play.environments.begin(), play.environments.end(),
                             all[i].environment) == play.environments.end();
        });
    if (chosen.empty())
        throw Error(recording.path().string(),
                    all.empty() ? "holds no episode" : "holds no episode of these environments");
    // The last one belongs to the policy that was trained longest.
    if (play.is_picture() && play.episodes.empty()) chosen = {chosen.back()};
    return chosen;
}

std::vector<size_t> chosen_arrays(const Play& play, const RecordingHeader& header) {
    std::vector<size_t> chosen;
    std::vector<std::string> names;
    std::vector<bool> used(play.arrays.size());
    for (size_t i = 0; i < header.arrays.size(); ++i) {
        bool wanted = play.arrays.empty();
        names.push_back(header.arrays[i].name());
        for (size_t k = 0; k < play.arrays.size(); ++k)
            if (is_meant(names.back(), play.arrays[k])) wanted = used[k] = true;
        if (wanted) chosen.push_back(i);
    }
    for (size_t k = 0; k < used.size(); ++k)
        if (!used[k])
            throw Error(play.file.string(), "holds no array '" + play.arrays[k] + "'",
                        suggest(play.arrays[k], names));
    return chosen;
}

// Where to search for the author's file: the run's folders, beside the recording, here, the folders of environments.
AuthorPlaces author_places(const std::filesystem::path& file) {
    const std::filesystem::path beside = std::filesystem::absolute(file).parent_path();
    std::vector<std::filesystem::path> nearby;
    std::error_code ignored;    // a folder that is not there, or not to be looked into
    for (const auto& entry :
         std::filesystem::directory_iterator(beside.parent_path() / "source", ignored))
        nearby.push_back(entry.path());
    std::sort(nearby.begin(), nearby.end());
    nearby.insert(nearby.end(), {beside, std::filesystem::current_path()});
    return {.nearby = std::move(nearby), .folders = env_folders()};
}

// Writes a file for each step, or a single one.
void write_pngs(const Play& play, RecordingFrames& frames, const std::vector<size_t>& episodes) {
    if (play.step) {
        if (episodes.size() > 1)
            throw Error("--step",
                        "is of one episode; these are " + std::to_string(episodes.size()));
        return write_png(play.out, frames, episodes[0], *play.step, play.picture);
    }
    std::filesystem::create_directories(play.out);
    for (const size_t episode : episodes)
        for (uint64_t t = 0; t < frames.recording().episodes()[episode].steps; ++t) {
            char name[64];
            std::snprintf(name, sizeof name, "episode-%05zu-step-%06llu.png", episode,
                          static_cast<unsigned long long>(t));
            write_png(play.out / name, frames, episode, t, play.picture);
        }
}

std::filesystem::path own_name(const Play& play) {
    const std::string stem = play.file.stem().string();
    return play.kind == "png" && !play.step ? stem + "-frames" : stem + "." + play.kind;
}

DrawSettings draw_settings(const Play& play) {
    return {.source = play.source, .places = author_places(play.file), .cache = {}};
}

void draw(const Play& play, const std::shared_ptr<Recording>& recording,
          const std::vector<size_t>& episodes) {
    RecordingFrames frames(recording, draw_settings(play));
    if (!frames.by_author()) std::cerr << printable(frames.why_not()) << "; its arrays are shown\n";
    const DrawingGuard guard(play.file);
    if (play.is_video()) write_video(play.out, play.kind, frames, episodes, play.picture);
    else if (play.kind == "gif") write_gif(play.out, frames, episodes, play.picture);
    else write_pngs(play, frames, episodes);
}

void say_problems(const Recording& recording) {
    for (const std::string& problem : recording.problems())
        std::cerr << printable(recording.path().string()) << ": " << problem << '\n';
}

void write(const Play& play, const std::shared_ptr<Recording>& recording) {
    const Selection selection{chosen_episodes(play, *recording),
                              chosen_arrays(play, recording->header())};
    if (play.kind == "jsonl") write_file(play.out, json_lines(*recording, selection));
    else if (play.kind == "csv") write_file(play.out, csv_text(*recording, selection));
    else if (play.kind == "npz") write_npz(play.out, *recording, selection);
    else draw(play, recording, selection.episodes);
    uint64_t steps = 0;
    for (const size_t i : selection.episodes) steps += recording->episodes()[i].steps;
    if (play.json)
        print_json({{"kind", "export"},
                    {"out", play.out.string()},
                    {"form", play.kind},
                    {"episodes", selection.episodes.size()},
                    {"steps", steps}});
    else
        std::printf("%zu episodes, %llu steps: %s\n", selection.episodes.size(),
                    static_cast<unsigned long long>(steps), play.out.c_str());
}

// Begins with the first named episode; otherwise with the last one, whose policy was trained longest.
void show_on_page(const Play& play, const std::shared_ptr<Recording>& recording) {
    RecordingFrames frames(recording, draw_settings(play));
    PlayerSettings settings{.episodes = chosen_episodes(play, *recording),
                            .arrays = {},
                            .pace = double(play.picture.fps),
                            .paused = play.step.has_value()};
    if (!play.arrays.empty()) settings.arrays = chosen_arrays(play, recording->header());
    settings.episode = play.episodes.empty() ? settings.episodes.back() : settings.episodes.front();
    if (play.step) {
        frames.scene(settings.episode, *play.step);    // says what there is
        settings.step = *play.step;
    }
    const DrawingGuard guard(play.file);
    play_on_page(frames, settings, play.web, play.json);
}

void list(const Play& play, const Recording& recording) {
    // Of a recording without an episode there is its header.
    const bool chosen = !play.episodes.empty() || !play.environments.empty();
    const Selection selection{chosen || !recording.episodes().empty()
                                  ? chosen_episodes(play, recording)
                                  : std::vector<size_t>(),
                              chosen_arrays(play, recording.header())};
    if (play.json) list_json(recording, selection);
    else list_text(recording, selection);
}

void run(Play& play) {
    if (!play.web.web) play.kind = kind_of(play);
    const auto recording = std::make_shared<Recording>(play.file);
    if (play.web.web) {
        say_problems(*recording);
        return show_on_page(play, recording);
    }
    if (play.step && play.kind != "png")
        throw Error("--step",
                    "is of one picture, which " + (play.kind.empty() ? "a list" : "." + play.kind) +
                        " is not",
                    "use it with .png or --web");
    if (play.kind.empty()) return list(play, *recording);
    say_problems(*recording);
    if (play.out.empty()) play.out = own_name(play);
    if (play.is_video()) require_ffmpeg(play.out);    // before the author's draw() is compiled
    write(play, recording);
}

}

void add_play(CommandLine& line) {
    auto play = std::make_shared<Play>();
    Command command =
        line.add("play", "Show what a recording holds, play it on a page, or export it: "
                         "JSON lines, CSV, NumPy, PNG, GIF, video");
    command.option("file", play->file, "A recording: of 'train', 'eval' or 'watch' --record")
        .required();
    command.flag("--json", play->json, "One JSON object a line");
    add_web_options(command, play->web);
    const Option web = command.known("--web");
    command
        .option("--export", play->kind,
                "jsonl, csv, npz, png, gif, mp4 or webm; else what the name of --out ends with; "
                "videos need the program ffmpeg")
        .one_of(kinds)
        .excludes(web);
    command
        .option("--out", play->out,
                "The file, or the folder of PNG frames; NAME.KIND here where none is named")
        .excludes(web);
    command
        .option("--episode", play->episodes,
                "These episodes, as 0,5; all of them, or for pictures the last one")
        .value_name("I,...")
        .list();
    command.option("--env", play->environments, "Only episodes of these environments")
        .value_name("I,...")
        .list();
    command.option("--arrays", play->arrays, "Only these arrays, as state,obs,reward")
        .value_name("NAME,...")
        .list();
    command.option("--step", play->step,
                   "With png: one picture, of this step; with --web it begins there, and waits");
    command.option("--size", play->picture.pixels, "Pixels of a picture's longer side")
        .between(16, 4096)
        .shows_default();
    command
        .option("--fps", play->picture.fps,
                "Steps a second of a GIF or a video, or of the page at first")
        .between(1, 50)
        .shows_default();
    command.option("--source", play->source,
                   "The environment's .cu for its draw(), though it has changed");
    command.run([play] { run(*play); });
}

}
