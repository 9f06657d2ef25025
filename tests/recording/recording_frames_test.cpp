#include "engine/recording/recorder.h"
#include "engine/recording/recording_frames.h"
#include "engine/view/drawing.h"
#include "engine/view/svg.h"
#include "tests/env/authors.h"
#include "tests/recording/sample.h"

#include <cstring>
#include <doctest/doctest.h>
#include <tuple>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Random steps of one environment: its recording, and its live picture after each step.
struct Shot {
    Shot(const std::string& name, const Folder& folder, int steps)
        : Shot(name, folder, steps, recommended(name, 3)) {}
    Shot(const std::string& name, const Folder& folder, int steps, const EnvSettings& settings_of)
        : path(folder.path() / (name + ".recording")) {
        Environment env(cpu(), settings_of);
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

RecordingFrames frames_of(const std::filesystem::path& path, DrawSettings settings) {
    settings.cache = cache_place();
    return RecordingFrames(std::make_shared<Recording>(path), settings);
}

}

TEST_CASE("a recording is drawn as the live environment was") {
    const Folder folder;
    // A table; a team with turns, groups or arrays of each agent is in the second.
    for (const char* const name : {"mazes", "tag_gridworld"}) {
        CAPTURE(name);
        const Shot shot(name, folder, 12);
        RecordingFrames frames = frames_of(shot.path, {.places = {env_folder}});
        CHECK(frames.why_not() == "");
        REQUIRE(frames.by_author());
        size_t at = 0;
        for (size_t i = 0; i < frames.recording().episodes().size(); ++i)
            for (uint64_t t = 0; t < frames.recording().episodes()[i].steps; ++t, ++at)
                CHECK(svg_text(frames.frame(i, t), name) == shot.live[at]);
        CHECK(at == 12);
        CHECK(contains(complaint([&] { frames.frame(0, 1000); }),
                       "has no step 1000 (there are 0 to "));
    }
}

TEST_CASE("a recording has and draws parameters in arrays of structs as they were") {
    const Folder folder;
    const Json params = {{"pump", {{"leak", {{5, 6}, {7, 8}}}}}, {"last", 2}};
    const Shot shot(
        "plant", folder, 3,
        settings_of(
            {{"source", folder.write("plant.cu", plant)}, {"count", 3}, {"params", params}}));
    RecordingFrames frames = frames_of(shot.path, {.places = {folder.path()}});
    REQUIRE(frames.by_author());
    const Json& recorded = frames.recording().episodes()[0].params;
    CHECK(recorded["pump.flow"] == Json({1, 1}));
    CHECK(recorded["pump.leak"] == Json({5, 6, 7, 8}));
    for (size_t t = 0; t < 3; ++t) CHECK(svg_text(frames.frame(0, t), "plant") == shot.live[t]);
}

TEST_CASE("without the author's file as it was, a recording's arrays are shown") {
    const Folder folder, other;
    const Shot shot("cartpole", folder, 3);
    RecordingFrames lost = frames_of(shot.path, {.places = {other.path()}});
    CHECK(!lost.by_author());
    CHECK(contains(lost.why_not(), "cartpole.cu: was not found"));
    CHECK(!lost.frame(0, 2).shapes.empty());
    std::string text = read_file(env_folder / "cartpole.cu");
    const std::filesystem::path changed = other.write("cartpole.cu", text + "// more\n");
    RecordingFrames changes = frames_of(shot.path, {.places = {other.path()}});
    CHECK(contains(changes.why_not(), "is another one than was recorded"));
    CHECK(frames_of(shot.path, {.source = changed}).by_author());
    CHECK(contains(complaint([&] { frames_of(shot.path, {.source = env_folder / "pendulum.cu"}); }),
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
    RecordingFrames frames = frames_of(path, {.places = {env_folder}});
    CHECK(contains(frames.why_not(), "was recorded without state.x_dot, which draw() may see"));
    CHECK(!frames.frame(0, 0).shapes.empty());
}

namespace {

// What is said of a recording of an environment after somebody has changed its blocks.
template <class Change>
std::string why_not_after(const Shot& shot, const Folder& folder, Change change) {
    std::vector<ForgedBlock> blocks = blocks_of(shot.path);
    change(blocks);
    const RecordingFrames frames = frames_of(
        forged_recording(folder.path() / "forged.recording", blocks), {.places = {env_folder}});
    return frames.why_not();
}
Json& array_named(std::vector<ForgedBlock>& blocks, const std::string& name) {
    for (Json& array : blocks[0].about["arrays"])
        if (array["name"] == name) return array;
    throw std::runtime_error("no array " + name);
}

}

TEST_CASE("arrays of other forms than the program's are not given to its draw()") {
    const Folder folder;
    const Shot shot("mazes", folder, 3);
    CHECK(why_not_after(shot, folder, [](auto&) {}) == "");
    const auto said = [&](const std::string& name, const std::string& key, const Json& value) {
        return why_not_after(shot, folder,
                             [&](auto& blocks) { array_named(blocks, name)[key] = value; });
    };
    // The bytes of an int are those of four numbers of one byte: draw() would read 12 behind them.
    CHECK(
        contains(said("state.x", "type", "f32"),
                 "state.x is recorded as state, value f32, 1 in columns, before and not as state, "
                 "value i32, 1 in columns, before"));
    struct Other {
        std::string name, key;
        Json value;
    };
    const std::vector<Other> others{{"state.x", "role", "agent"},    {"state.x", "layout", "rows"},
                                    {"state.x", "kind", "discrete"}, {"state.x", "dims", {1}},
                                    {"state.x", "by_agent", true},   {"obs.image", "dims", {81}},
                                    {"action.go", "choices", 77}};
    for (const Other& one : others)
        CHECK_MESSAGE(contains(said(one.name, one.key, one.value), one.name + " is recorded as"),
                      one.key);
    const std::string smaller = why_not_after(shot, folder, [](auto& blocks) {
        array_named(blocks, "obs.image")["dims"] = {1, 1};
        for (ForgedBlock& one : blocks)
            if (one.kind == "epis") one.data.resize(one.data.size() - 3 * 80);
    });
    CHECK(contains(smaller, "obs.image is recorded as obs, array u8 [1, 1], 1 in rows"));
}

TEST_CASE("a table that is not whole is not given to draw()") {
    const Folder folder;
    const Shot shot("mazes", folder, 3);
    const auto said = [&](auto&& change) {
        return why_not_after(shot, folder, [&](auto& blocks) {
            for (size_t i = 0; i < blocks.size(); ++i) {
                if (blocks[i].kind != "tabl") continue;
                change(blocks, i);
                return;
            }
        });
    };
    const std::string wanted = "has no whole table of param.";
    CHECK(contains(said([](auto& all, size_t i) { all[i].data.pop_back(); }), wanted));
    CHECK(contains(said([](auto& all, size_t i) { all.erase(all.begin() + int(i)); }), wanted));
    CHECK(contains(said([](auto& all, size_t i) { all[i].about["name"] = "other"; }), wanted));
    CHECK(said([](auto& all, size_t i) { all[i].data.clear(); }) == "");    // it has no rows
}

TEST_CASE("numbers that lead out of a table cost the picture and not the process") {
    const Folder folder;
    const Shot shot("mazes", folder, 3);
    std::vector<ForgedBlock> blocks = blocks_of(shot.path);
    for (ForgedBlock& one : blocks) {
        // `state.level` comes first: three ints, whose bytes lie by their place in the number.
        if (one.kind == "epis") one.data[11] = std::byte(0x7f);
    }
    REQUIRE(blocks[0].about["arrays"][0]["name"] == "state.level");
    RecordingFrames frames = frames_of(forged_recording(folder.path() / "forged.recording", blocks),
                                       {.places = {env_folder}});
    REQUIRE(frames.by_author());
    CHECK(contains(complaint([&] { frames.frame(0, 2); }), "Mazes: draw() was ended: index 21"));
    CHECK(!frames.frame(0, 1).shapes.empty());
}

TEST_CASE("a byte of a bool is 0 or 1 whatever is recorded") {
    const Folder folder;
    const Shot shot("mazes", folder, 3);
    std::vector<ForgedBlock> blocks = blocks_of(shot.path);
    for (ForgedBlock& one : blocks)
        if (one.kind == "epis") one.data[48] = std::byte(0x7f);    // behind level, way, x and y
    REQUIRE(blocks[0].about["arrays"][4]["name"] == "state.solved");
    RecordingFrames frames = frames_of(forged_recording(folder.path() / "forged.recording", blocks),
                                       {.places = {env_folder}});
    const Scene scene = frames.scene(0, 0);
    CHECK(scene.memory[scene.find("state.solved")->offset] == std::byte(1));
}
