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

struct Play {
    std::filesystem::path file, out, source;
    bool json = false;
    std::string kind;
    std::vector<size_t> episodes;
    std::vector<uint32_t> environments;
    std::vector<std::string> arrays;
    std::optional<uint64_t> step;
    std::optional<uint64_t> size, fps;
    PictureSettings picture;
    WebOptions web;

    bool is_video() const { return kind == "mp4" || kind == "webm"; }
    bool is_moving() const { return kind == "gif" || is_video(); }
    bool is_picture() const { return kind == "png" || is_moving(); }
};

// Given by the option, else by the extension of the file, which may not say otherwise.
std::string kind_of(const Play& play) {
    if (play.out.empty()) return play.kind;
    const std::string name = "'" + play.out.string() + "'";
    const std::string ending = exported_ending(play.out);
    if (ending.empty() && play.kind.empty())
        throw Error("--out", name + " does not say what is to be written",
                    "name one of .jsonl, .csv, .npz, .png, .gif, .mp4 and .webm, or --export");
    if (!ending.empty() && !play.kind.empty() && ending != play.kind)
        throw Error("--out", name + " is a name of " + ending + ", and --export is " + play.kind,
                    "leave --export out, or name another file");
    if (ending == "png" && !play.step)
        throw Error("--out", name + " would be a folder: there is a picture of each step",
                    "--step K writes one, --export png --out FOLDER all");
    return ending.empty() ? play.kind : ending;
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

// The folders to search for the author's file: the run's, the recording's, the working directory, those of environments.
std::vector<std::filesystem::path> author_places(const std::filesystem::path& file) {
    const std::filesystem::path beside = std::filesystem::absolute(file).parent_path();
    std::vector<std::filesystem::path> folders;
    std::error_code ignored;    // a folder that is not there, or not to be looked into
    for (const auto& entry :
         std::filesystem::directory_iterator(beside.parent_path() / "source", ignored))
        folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    folders.push_back(beside);
    std::ranges::copy(named_folders(), std::back_inserter(folders));
    return folders;
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

// An option of pictures changes nothing in a list or a table.
void require_use(const Play& play) {
    const std::string kind = play.kind.empty() ? "a list" : "." + play.kind;
    if (play.web.web) {
        if (play.size) throw Error("--size", "is of files, and a page has the size of its window");
        return;
    }
    if (play.step && play.kind != "png")
        throw Error("--step", "is of one picture, which " + kind + " is not",
                    "use it with .png or --web");
    if (play.size && !play.is_picture())
        throw Error("--size", "is of pictures, and " + kind + " has none",
                    "use it with .png, .gif or a video");
    if (play.fps && !play.is_moving())
        throw Error("--fps", "is of what moves, which " + kind + " does not",
                    "use it with .gif, a video or --web");
}

void run(Play& play) {
    if (!play.web.web) play.kind = kind_of(play);
    play.picture.pixels = int(play.size.value_or(uint64_t(play.picture.pixels)));
    play.picture.fps = int(play.fps.value_or(uint64_t(play.picture.fps)));
    const auto recording = std::make_shared<Recording>(play.file);
    require_use(play);
    if (play.web.web) {
        say_problems(*recording);
        return show_on_page(play, recording);
    }
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
        .one_of(exported_kinds())
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
    const PictureSettings usual;
    command
        .option("--size", play->size,
                "Pixels of a picture's longer side; " + std::to_string(usual.pixels) +
                    " where none is named")
        .between(uint64_t(16), uint64_t(4096));
    command
        .option("--fps", play->fps,
                "Steps a second of a GIF or a video, or of the page at first; " +
                    std::to_string(usual.fps) + " where none is named")
        .between(uint64_t(1), uint64_t(50));
    command.option("--source", play->source,
                   "The environment's .cu for its draw(), though it has changed");
    command.run([play] { run(*play); });
}

}
