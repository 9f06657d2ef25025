#include "engine/recording/film.h"
#include "engine/recording/recorder.h"
#include "engine/view/drawing.h"
#include "engine/view/svg.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Random steps of one environment: its recording, and its live picture after each step.
struct Shot {
    Shot(const std::string& name, const Folder& folder, int steps)
        : path(folder.path() / (name + ".recording")) {
        Environment env(cpu(), recommended(name, 3));
        const RecordSettings settings{.environments = {1}};
        RecordingWriter writer(path, recording_header(env, settings), recorded_tables(env));
        Recorder recorder(env, writer, settings);
        Drawing drawing(env);
        recorder.begin(3, 0, 1);
        for (int t = 0; t < steps; ++t) {
            live.push_back(svg_text(drawing.draw(1), name));
            env.step_at_random();
            recorder.put(uint32_t(t));
        }
        recorder.take(uint32_t(steps));
        recorder.finish(true);
        writer.finish();
    }

    std::filesystem::path path;
    std::vector<std::string> live;
};

Film film_of(const std::filesystem::path& path, FilmSettings settings) {
    settings.cache = cache_place();
    return Film(std::make_shared<Recording>(path), settings);
}

}

TEST_CASE("a recording is drawn as the live environment was") {
    const Folder folder;
    // A table; a team with turns, groups or arrays of each agent is in the second.
    for (const char* const name : {"mazes", "tag_gridworld"}) {
        CAPTURE(name);
        const Shot shot(name, folder, 12);
        Film film = film_of(shot.path, {.folders = {env_folder}});
        CHECK(film.why_not() == "");
        REQUIRE(film.by_author());
        size_t at = 0;
        for (size_t i = 0; i < film.recording().episodes().size(); ++i)
            for (uint64_t t = 0; t < film.recording().episodes()[i].steps; ++t, ++at)
                CHECK(svg_text(film.frame(i, t), name) == shot.live[at]);
        CHECK(at == 12);
        CHECK(
            contains(complaint([&] { film.frame(0, 1000); }), "has no step 1000 (there are 0 to "));
    }
}

TEST_CASE("without the author's file as it was, a recording's arrays are shown") {
    const Folder folder, other;
    const Shot shot("cartpole", folder, 3);
    Film lost = film_of(shot.path, {.folders = {other.path()}});
    CHECK(!lost.by_author());
    CHECK(contains(lost.why_not(), "cartpole.cu: was not found"));
    CHECK(!lost.frame(0, 2).shapes.empty());
    std::string text = read_file(env_folder / "cartpole.cu");
    const std::filesystem::path changed = other.write("cartpole.cu", text + "// more\n");
    Film changes = film_of(shot.path, {.folders = {other.path()}});
    CHECK(contains(changes.why_not(), "is another one than was recorded"));
    CHECK(film_of(shot.path, {.source = changed}).by_author());
    CHECK(contains(complaint([&] { film_of(shot.path, {.source = env_folder / "pendulum.cu"}); }),
                   "has other arrays than"));
}

TEST_CASE("a recording of some arrays is not drawn by who would see others") {
    const Folder folder;
    Environment env(cpu(), recommended("cartpole", 3));
    const RecordSettings settings{.environments = {0}, .arrays = {"state.x", "obs"}};
    const std::filesystem::path path = folder.path() / "some.recording";
    RecordingWriter writer(path, recording_header(env, settings), {});
    Recorder recorder(env, writer, settings);
    recorder.begin(3, 0, 1);
    env.step_at_random();
    recorder.put(0);
    recorder.take(1);
    recorder.finish(true);
    writer.finish();
    Film film = film_of(path, {.folders = {env_folder}});
    CHECK(contains(film.why_not(), "was recorded without state.x_dot, which draw() may see"));
    CHECK(!film.frame(0, 0).shapes.empty());
}
