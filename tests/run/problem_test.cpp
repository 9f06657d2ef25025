#include "engine/run/problem.h"

#include "engine/run/run.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Who bets on the side that it sees is paid `scale`.
const char* const bet_text = R"(#include <nacelle/env.h>
struct Bet {
    struct Params { float scale = 10; };
    struct State { float side; };
    struct Action { nacelle::Discrete<2> on; };
    struct Obs { float side; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.side = rng.chance(0.5f) ? 1.0f : -1.0f;
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params& p, nacelle::Rng&) {
        return {.reward = p.scale * (a.on ? s.side : -s.side), .terminated = true};
    }
    static Obs observe(const State& s, const Params&) { return {s.side}; }
};
NACELLE_ENV(Bet)
)";

// A run that evaluates at each iteration, of 64 steps.
class Betting final {
public:
    explicit Betting(uint64_t iterations) {
        on_->log = Log([this](LogLevel, const std::string& text) { said += text + "\n"; });
        folder_.write("bet.cu", bet_text);
        train({{"env", {{"source", source().string()}, {"count", 8}}},
               {"learner", {{"name", "ppo"}, {"horizon", 8}, {"epochs", 1}, {"minibatches", 1}}},
               {"policies", {{"default", {{"hidden", {4}}}}}},
               {"run",
                {{"total_steps", 64 * iterations},
                 {"evaluate_every", 1},
                 {"checkpoint_every", 64},
                 {"report_every", 1}}},
               {"solved", {{"episodes", 20}}}},
              {.out = out()});
    }

    // Goes on for so many iterations in all.
    void resume(uint64_t iterations, Json changes = Json::object(), bool changed_source = false,
                const std::function<void(TrainingRun&)>& before = {}) {
        run_.reset();
        Json configuration = run_configuration(out());
        changes["run"]["total_steps"] = 64 * iterations;
        merge_json(configuration, changes);
        said.clear();
        train(configuration, {.out = out(), .resume = true, .changed_source = changed_source},
              before);
    }
    void change(const std::string& old, const std::string& other) {
        std::string text = read_file(source());
        text.replace(text.find(old), old.size(), other);
        folder_.write("bet.cu", text);
    }
    std::optional<CheckpointRecord> best() const {
        const std::filesystem::path path = Checkpoints(out() / "checkpoints").best();
        if (!std::filesystem::exists(path)) return {};
        return Checkpoints::read_record(path);
    }
    TrainingRun& run() { return *run_; }

    std::string said;

private:
    std::filesystem::path source() const { return folder_.path() / "bet.cu"; }
    std::filesystem::path out() const { return folder_.path() / "out"; }
    void train(const Json& configuration, const RunStart& start,
               const std::function<void(TrainingRun&)>& before = {}) {
        run_ = std::make_unique<TrainingRun>(load_environment(on_, plugins_, configuration, "test"),
                                             plugins_, configuration, "test", start);
        if (before) before(*run_);
        while (run_->iterate()) {}
        run_->finish();
    }

    Folder folder_;
    std::shared_ptr<RunsOn> on_ = quick_cpu();
    Plugins plugins_{{build_path("plugins"), build_path("algorithms")}, on_->cache};
    std::unique_ptr<TrainingRun> run_;
};

Json problem(const Json& env, const std::string& code = "c", const Json& hooks = Json::object()) {
    AuthorFiles files;
    files.hashes.tables = {{"map", {{"file", "a.npy"}, {"path", "p"}, {"data", "d"}}}};
    files.code = code;
    return problem_of({{"env", env}, {"hooks", hooks}}, files);
}

}

TEST_CASE("the best checkpoint is forgotten where a resumed run has other parameters") {
    Betting betting(10);
    const CheckpointRecord before = betting.best().value();
    REQUIRE(before.best->mean_return > 2);    // else the new one would be better by itself
    betting.resume(11, {{"env", {{"params", {{"scale", 0.5}}}}}});
    CHECK(contains(betting.said, "env.params.scale is 0.5, and was 10"));
    CHECK(contains(betting.said, "of step " + std::to_string(before.steps)));
    const CheckpointRecord after = betting.best().value();
    CHECK(after.steps == 64 * 11);
    CHECK(after.best->mean_return <= 0.5);
    // From then on the best one of the new parameters is kept.
    betting.resume(12, {{"env", {{"params", {{"scale", 0.5}}}}}});
    CHECK(betting.said.empty());
}

TEST_CASE("the best checkpoint stays where a resumed run changes nothing that returns depend on") {
    Betting betting(10);
    const CheckpointRecord before = betting.best().value();
    const auto same = [&] { return betting.best().value().best->mean_return; };
    betting.resume(11, {{"learner", {{"learning_rate", 1e-9}}}});
    CHECK(betting.said.empty());
    CHECK(same() >= before.best->mean_return);
    betting.change("struct State {", "struct State {    // a comment\n");
    betting.resume(12, Json::object(), true);
    CHECK(betting.said.empty());
    CHECK(same() >= before.best->mean_return);
    betting.change("p.scale *", "0.1f * p.scale *");
    betting.resume(13, Json::object(), true);
    CHECK(contains(betting.said, "the environment's code is another one"));
    CHECK(same() <= 1);
}

TEST_CASE("a resumed run without another step has no best checkpoint of other parameters") {
    Betting betting(10);
    betting.resume(10, {{"env", {{"params", {{"scale", 0.5}}}}}});
    CHECK(!betting.best());
    // Nor is the score known, though the newest checkpoint has it.
    betting.resume(11);
    CHECK(betting.best().value().steps == 64 * 11);
}

TEST_CASE("a run that was solved with other parameters is not solved") {
    Betting betting(10);
    const Json solved = {{"solved", {{"return", -1e9}}}};
    betting.resume(20, solved);
    CHECK(betting.run().progress().steps == 64 * 10);
    Json easier = solved;
    easier["env"]["params"]["scale"] = 5;
    betting.resume(20, easier);
    CHECK(betting.run().progress().steps == 64 * 11);
}

TEST_CASE("a parameter that is set while a run trains begins a new search for the best") {
    Betting betting(10);
    REQUIRE(betting.best().value().best->mean_return > 2);
    betting.resume(12, Json::object(), false,
                   [](TrainingRun& run) { run.set_param("scale", 0.5); });
    CHECK(betting.best().value().steps > 64 * 10);
    CHECK(betting.best().value().best->mean_return <= 0.5);
}

TEST_CASE("what returns depend on is compared, and the first difference named") {
    const Json plain = {{"params", {{"scale", 1}, {"map", "a.npy"}}}, {"levels", 0}};
    const auto found = [&](const Json& env, const std::string& code = "c",
                           const Json& hooks = Json::object()) {
        return difference_of_problems(problem(plain), problem(env, code, hooks));
    };
    Json other = plain;
    other["count"] = 512;
    other["source"] = "elsewhere.cu";
    other["params"]["scale"] = 1.0;
    other["params"]["map"] = "b.npy";    // with the same data
    CHECK(found(other).empty());
    other["params"]["scale"] = 2;
    CHECK(found(other) == "env.params.scale is 2, and was 1");
    Json constants = plain;
    constants["constants"]["walls"] = 3;
    CHECK(found(constants) == R"(env.constants is {"walls":3}, and was not set)");
    CHECK(found(plain, "d") == "the environment's code is another one");
    CHECK(contains(found(plain, "c", {{"pay", {{"more", 1}}}}), "hooks is"));
    Json table = problem(plain);
    table["tables"]["map"] = "e";
    CHECK(difference_of_problems(problem(plain), table) ==
          "the table of env.params.map is another one");
}

TEST_CASE("a table that is read from another path has not changed, one that was edited has") {
    const auto hashes = [](const std::string& path, const std::string& data,
                           const std::string& code = "c") {
        const std::string file = path.substr(path.rfind('/') + 1);
        return FileHashes{.files = {{"game.cu", code}, {file, data}},
                          .tables = {{"map", {{"file", file}, {"path", path}, {"data", data}}}}};
    };
    const FileHashes then = hashes("/a/map.npy", "1");
    CHECK(first_difference(then, then).empty());
    CHECK(first_difference(then, hashes("/a/other.npy", "2")).empty());
    CHECK(first_difference(then, hashes("/b/map.npy", "2")).empty());
    CHECK(first_difference(then, hashes("/a/map.npy", "2")) == "map.npy");
    CHECK(first_difference(then, hashes("/a/other.npy", "1", "d")) == "game.cu");
    // A checkpoint of an earlier version.
    FileHashes earlier = then;
    earlier.tables = nullptr;
    CHECK(first_difference(earlier, then).empty());
    CHECK(first_difference(earlier, hashes("/a/other.npy", "2")).empty());
    CHECK(first_difference(earlier, hashes("/a/map.npy", "2")) == "map.npy");
}

TEST_CASE("files of one name in several folders are told apart") {
    const Folder folder;
    for (const char* const name : {"env/parts", "a", "b", "base"})
        std::filesystem::create_directories(folder.path() / name);
    const auto found = [&](const Json& params) {
        const std::filesystem::path source = folder.path() / "env/pole.cu";
        return author_files(source, read_closure(source), params);
    };
    for (const char* const name : {"a/x.h", "b/x.h", "env/parts/x.h", "env/more.h", "base/more.h"})
        folder.write(name, std::string("// of ") + name);
    folder.write("base/pole.cu", "// no one's own");
    folder.write("a/map.npy", "a");
    folder.write("b/map.npy", "b");
    folder.write("env/pole.cu", "#include \"../base/pole.cu\"\n#include \"../a/x.h\"\n"
                                "#include \"../base/more.h\"\n#include \"../b/x.h\"\n"
                                "#include \"parts/x.h\"\n#include \"more.h\"\n");
    const Json params = {
        {"first", "../a/map.npy"}, {"second", "../b/map.npy"}, {"third", "../a/map.npy"}};
    const AuthorFiles before = found(params);
    std::map<std::string, std::string> kept;
    for (const SourceFile& file : before.files) {
        CHECK((kept.count(file.path.string()) == 0 || file.path == "map.npy"));
        kept[file.path.string()] = file.text;
    }
    CHECK(kept.at("pole.cu").starts_with("#include"));
    CHECK(kept.at("pole-2.cu") == "// no one's own");
    CHECK(kept.at("x.h") == "// of a/x.h");
    CHECK(kept.at("x-2.h") == "// of b/x.h");
    CHECK(kept.at("parts/x.h") == "// of env/parts/x.h");
    CHECK(kept.at("more.h") == "// of env/more.h");
    CHECK(kept.at("more-2.h") == "// of base/more.h");
    CHECK(kept.at("map.npy") == "a");
    CHECK(kept.at("map-2.npy") == "b");
    CHECK(kept.size() == 9);
    CHECK(before.hashes.files.size() == 9);
    CHECK(before.hashes.tables["third"]["file"] == "map.npy");
    CHECK(before.places.at("x-2.h") == folder.path() / "b/x.h");

    for (const char* const name :
         {"a/x.h", "b/x.h", "env/pole.cu", "base/pole.cu", "a/map.npy", "b/map.npy"}) {
        CAPTURE(name);
        const std::string text = read_file(folder.path() / name);
        folder.write(name, text + " ");
        CHECK(first_difference(before.hashes, found(params).hashes) != "");
        folder.write(name, text);
        CHECK(first_difference(before.hashes, found(params).hashes) == "");
    }
}
