#include "engine/recording/recorder.h"
#include "engine/recording/recording.h"
#include "engine/run/trainee.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The part of one environment of every array that is recorded, as bytes in the recording's order.
std::map<std::string, std::vector<std::byte>> part_of(Environment& env, uint32_t which) {
    std::map<std::string, std::vector<std::byte>> parts;
    for (const Field& field : env.schema().fields()) {
        if (!moment_of(field)) continue;
        const std::vector<std::byte> all = bytes_of(env.arrays()[field.name]);
        const size_t rows = env.schema().rows(field, 1), unit = dtype_size(field.dtype),
                     pieces = field.layout == Layout::rows ? 1 : field.count,
                     piece = rows * field.count * unit / pieces;
        for (size_t k = 0; k < pieces; ++k) {
            const auto at = all.begin() + std::ptrdiff_t((k * env.count() + which) * piece);
            auto& part = parts[field.name];
            part.insert(part.end(), at, at + std::ptrdiff_t(piece));
        }
    }
    return parts;
}

std::vector<std::byte> row(const Recording& recording, const RecordedEpisode& episode,
                           const std::string& name, uint64_t step) {
    const std::vector<RecordedArray>& arrays = recording.header().arrays;
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i].name() != name) continue;
        const auto at = episode.columns[i].begin() + std::ptrdiff_t(step * arrays[i].bytes());
        return {at, at + std::ptrdiff_t(arrays[i].bytes())};
    }
    return {};
}

// Random steps with a recorder behind them, and what every step of every environment looked like.
struct Followed {
    Followed(const std::string& name, RecordSettings settings, int chunks,
             const Json& params = Json::object())
        : env(cpu(), with_params(recommended(name, 6), params)) {
        const std::filesystem::path path = folder.path() / "a.recording";
        RecordingWriter writer(path, recording_header(env, settings), recorded_tables(env));
        Recorder recorder(env, writer, settings);
        look();
        recorder.begin(6, 0, 1);
        for (int chunk = 0; chunk < chunks; ++chunk) {
            for (uint32_t t = 0; t < Recorder::most_steps; ++t) {
                env.step_at_random();
                look();
                recorder.put(t);
            }
            recorder.take(Recorder::most_steps);
        }
        recorder.finish(true);
        writer.finish();
        recording = std::make_unique<Recording>(path);
    }

    static EnvSettings with_params(EnvSettings settings, const Json& params) {
        settings.params.update(params);
        return settings;
    }
    void look() {
        auto& now = seen.emplace_back();
        for (uint32_t which = 0; which < env.count(); ++which) now.push_back(part_of(env, which));
    }

    const Folder folder;
    Environment env;
    std::vector<std::vector<std::map<std::string, std::vector<std::byte>>>> seen;
    std::unique_ptr<Recording> recording;
};

}

TEST_CASE("a recording holds what every array held before a step, and what came of it") {
    // A parameter that is drawn for each episode is an array, too.
    const Json drawn = {{"gravity", {{"uniform", {8, 12}}}}}, none = Json::object();
    for (const auto& [env, params] :
         {std::pair("cartpole", drawn), std::pair("tag_gridworld", none)}) {
        const char* const name = env;
        CAPTURE(name);
        const Followed followed(name, {.environments = {1, 2, 4}}, 6, params);
        const Recording& recording = *followed.recording;
        CHECK(recording.problems().empty());
        std::map<uint32_t, uint64_t> at;    // steps of each environment until an episode's start
        size_t ended = 0;
        for (size_t i = 0; i < recording.episodes().size(); ++i) {
            const RecordedEpisode episode = recording.episode(i);
            const uint32_t which = episode.summary.environment;
            CAPTURE(i);
            REQUIRE(episode.summary.steps > 0);
            ended += episode.summary.ended != "cut";
            if (!params.empty()) {
                const std::vector<std::byte>& drawn_one =
                    followed.seen[at[which]][which].at("param.gravity");
                CHECK(float(episode.summary.params["gravity"].get<double>()) ==
                      float(read_number(Dtype::f32, drawn_one.data())));
                CHECK(episode.summary.params["force"] == 10);
                CHECK(json_text(episode.summary.params["dt"]) == "0.02");
            }
            for (uint64_t t = 0; t < episode.summary.steps; ++t)
                for (const RecordedArray& array : recording.header().arrays) {
                    const uint64_t now = at[which] + (array.moment == Moment::end
                                                          ? episode.summary.steps
                                                          : t + (array.moment == Moment::step));
                    const uint64_t own = array.moment == Moment::end ? 0 : t;
                    if (rows_of(array, episode.summary) == 0) continue;
                    CAPTURE(array.name());
                    REQUIRE(row(recording, episode, array.name(), own) ==
                            followed.seen[now][which].at(array.name()));
                }
            at[which] += episode.summary.steps;
        }
        CHECK(ended > 0);
        CHECK(at == std::map<uint32_t, uint64_t>{{1, 150}, {2, 150}, {4, 150}});
    }
}

TEST_CASE("chosen arrays alone are kept, and wrong ones are named") {
    const Followed followed("tag_gridworld", {.environments = {0}, .arrays = {"obs", "agent.x"}},
                            1);
    std::vector<std::string> names;
    for (const RecordedArray& array : followed.recording->header().arrays)
        names.push_back(array.name());
    CHECK(names == std::vector<std::string>{"agent.x", "obs"});
    CHECK(followed.recording->header().arrays[0].shape() == std::vector<int64_t>{5});
    Environment env(cpu(), recommended("cartpole", 4));
    const auto said = [&](RecordSettings settings) {
        return complaint([&] { recording_header(env, settings); });
    };
    CHECK(said({.environments = {0}, .arrays = {"state.theta_dto"}}) ==
          "CartPole: has no array 'state.theta_dto' to be recorded (did you mean "
          "'state.theta_dot'?)");
    CHECK(said({.environments = {4}}) ==
          "CartPole: there is no environment 4 to be recorded (there are 0 to 3)");
    CHECK(contains(said({}), "no environment is chosen"));
}

TEST_CASE("an episode has the parameters that it was drawn with, whichever arrays are kept") {
    const Json drawn = {{"gravity", {{"uniform", {8, 12}}}}};
    const Followed followed("cartpole", {.environments = {0, 1}, .arrays = {"obs"}}, 2, drawn);
    CHECK(followed.recording->header().arrays.size() == 1);
    const std::vector<EpisodeSummary>& all = followed.recording->episodes();
    REQUIRE(all.size() > 2);
    CHECK(all[0].params["gravity"] != all[1].params["gravity"]);
    for (const EpisodeSummary& one : all) {
        CHECK(one.params["gravity"] >= 8);
        CHECK(one.params["gravity"] != doctest::Approx(9.8));
    }
}

TEST_CASE("an evaluation that is recorded finds the same, and leaves everything as it was") {
    const Folder folder;
    Plugins plugins({build_path("plugins"), build_path("algorithms"), build_path("tests/plugins")},
                    shared_cache());
    const Json all = {{"env", {{"source", "cartpole"}, {"count", 32}}},
                      {"learner", {{"name", "random_search"}}}};
    Trainee trainee(load_environment(cpu(), plugins, all, "test"), plugins, all, "test");
    Environment& env = trainee.environment();
    const auto state = [&] {
        std::map<std::string, std::vector<std::byte>> arrays;
        for (const NamedArray& array : env.arrays().all()) arrays[array.name()] = bytes_of(array);
        return arrays;
    };
    const auto before = state();
    const uint64_t tick = env.tick(), seed = evaluation_seed(1, EvaluationPurpose::asked_for);
    const Evaluation plain = trainee.evaluate({.episodes = 80, .seed = seed});
    const RecordSettings settings{.environments = {0, 1, 2, 3, 31}};
    const std::filesystem::path path = folder.path() / "a.recording";
    RecordingWriter writer(path, recording_header(env, settings), {});
    Recorder recorder(env, writer, settings);
    const Evaluation recorded =
        trainee.evaluate({.episodes = 80, .seed = seed, .recorder = &recorder, .trained = 7});
    const Evaluation again = trainee.evaluate({.episodes = 80, .seed = seed});
    writer.finish();
    CHECK(recorded.mean_return == plain.mean_return);
    CHECK(recorded.mean_length == plain.mean_length);
    CHECK(again.mean_return == plain.mean_return);
    CHECK(state() == before);
    CHECK(env.tick() == tick);
    const Recording recording(path);
    REQUIRE(recording.episodes().size() == 5);
    for (const EpisodeSummary& one : recording.episodes()) {
        CHECK(one.returns == std::vector<double>{double(one.steps)});
        CHECK(one.trained == 7);
        CHECK(one.seed == seed);
    }
}
