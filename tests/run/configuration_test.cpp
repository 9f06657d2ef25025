#include "engine/run/configuration.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Json resolved(const ConfigurationSources& sources) { return resolve_configuration(sources).json; }

// What becomes of a recommendation, under one key, once assignments lie over it.
Json laid_over(const std::string& recommended, const std::string& key,
               const std::vector<std::string>& assignments) {
    const Folder folder;
    const std::string source = folder.write("pole.cu", "").string();
    folder.write("pole.json", recommended);
    return resolved(
        {.env = source, .file = {}, .assignments = assignments, .env_folders = {}})[key];
}

}

TEST_CASE("assignments go before the file, the file before what lies beside the source") {
    const Folder folder;
    const std::string source = folder.write("pole.cu", "").string();
    folder.write("pole.json",
                 R"({"env": {"count": 1, "levels": 1}, "seed": 1, "run": {"total_steps": 5}})");
    const auto file = folder.write("run.json", R"({"env": {"count": 2}, "seed": 2})");
    const Json all = resolved({.env = source,
                               .file = file,
                               .assignments = {"seed=3", "env.params.gravity=1.5"},
                               .env_folders = {}});
    CHECK(all["env"]["count"] == 2);
    CHECK(all["env"]["levels"] == 1);
    CHECK(all["env"]["params"]["gravity"] == 1.5);
    CHECK(all["seed"] == 3);
    CHECK(all["run"]["total_steps"] == 5);
    CHECK(all["env"]["source"] == source);
}

TEST_CASE("the file may name the environment, and a name is looked up in the folders") {
    const Folder folder;
    const std::string source = folder.write("pole.cu", "").string();
    const auto file = folder.write("run.json", R"({"env": {"source": "pole"}})");
    CHECK(resolved({.env = "",
                    .file = file,
                    .assignments = {},
                    .env_folders = {
                        std::filesystem::path(source).parent_path()}})["env"]["source"] == source);
    CHECK(complaint([&] {
              resolved({.env = "pol",
                        .file = {},
                        .assignments = {},
                        .env_folders = {std::filesystem::path(source).parent_path()}});
          }) == "pol: there is no such environment in " + folder.path().string() +
                    " (did you mean 'pole'?)");
    std::string noted;
    const Folder first;
    const std::string taken = first.write("pole.cu", "").string();
    CHECK(resolved({.env = "pole",
                    .file = {},
                    .assignments = {},
                    .env_folders = {first.path(), folder.path()},
                    .found = [&](const auto& files) {
                        for (const auto& file : files) noted += file.string() + " ";
                    }})["env"]["source"] == taken);
    CHECK(noted == taken + " " + source + " ");
    CHECK(complaint([&] { resolved({}); }) == "env.source: no environment is named");
}

TEST_CASE("settings that are named stand for the environment that they are for") {
    const Folder folder, own;
    const std::string source = folder.write("pole.cu", "").string();
    folder.write("pole.json", R"({"env": {"count": 1, "levels": 1}, "seed": 1,
                                  "learner": {"name": "ppo", "horizon": 8}})");
    const auto duel = folder.write("duel.json", R"({"env": {"source": "pole", "count": 2},
                                                    "learner": {"horizon": 9}, "seed": 2})");
    const auto file = own.write("mine.json", R"({"seed": 3})");
    std::string noted;
    const auto note = [&](const auto& files) {
        for (const auto& one : files) noted += one.string() + " ";
    };
    ConfigurationSources sources{.env = "duel",
                                 .file = {},
                                 .assignments = {},
                                 .env_folders = {own.path(), folder.path()},
                                 .found = note};
    const Json by_name = resolved(sources);
    CHECK(by_name ==
          Json::parse(R"({"env": {"source": ")" + source + R"(", "count": 2, "levels": 1},
                                     "learner": {"name": "ppo", "horizon": 9}, "seed": 2})"));
    CHECK(noted == duel.string() + " " + source + " ");
    // A path does as well, and finds the environment beside it; what is given on top is above.
    sources = {.env = duel.string(), .file = {}, .assignments = {}, .env_folders = {own.path()}};
    CHECK(resolved(sources) == by_name);
    sources.file = file;
    CHECK(resolved(sources)["seed"] == 3);
    sources.assignments = {"seed=4", "learner.name=search"};
    CHECK(resolved(sources)["seed"] == 4);
    CHECK(resolved(sources)["learner"] == Json::parse(R"({"name": "search"})"));
    CHECK(resolved(sources)["env"]["count"] == 2);
    sources.assignments = {"env.source=pole"};
    CHECK(complaint([&] { resolved(sources); }) ==
          "--set env.source=pole: the environment is named already: " + duel.string() +
              " (one of both)");
    // Of an environment and settings of one name the nearer is meant, and beside each other the environment.
    own.write("pole.json", R"({"env": {"source": "pole", "count": 7}})");
    sources = {.env = "pole",
               .file = {},
               .assignments = {},
               .env_folders = {own.path(), folder.path()},
               .found = note};
    noted.clear();
    CHECK(resolved(sources)["env"]["count"] == 7);
    CHECK(resolved(sources)["env"]["levels"] == 1);
    CHECK(noted.starts_with((own.path() / "pole.json").string() + " " + source + " "));
    own.write("pole.cu", "");
    CHECK(resolved(sources)["env"]["source"] == (own.path() / "pole.cu").string());
    own.write("pole.json", R"({"seed": 1})");
    std::filesystem::remove(own.path() / "pole.cu");
    CHECK(resolved(sources)["env"]["source"] == source);
    // A path begins beside the settings that say it.
    folder.write("duel.json", R"({"env": {"source": "./pole.cu"}})");
    CHECK(resolved({.env = duel.string(),
                    .file = {},
                    .assignments = {},
                    .env_folders = {}})["env"]["source"] == source);
}

TEST_CASE("what is said of all policies over a run's own configuration is said of each") {
    const Folder folder;
    folder.write("pole.cu", "");
    std::filesystem::create_directories(folder.path() / "run/source");
    const std::string written = R"({"env": {"source": ")" + (folder.path() / "pole.cu").string() +
                                R"("}, "policies": {"default": {"hidden": [4]},
        "a": {"hidden": [4], "opponents": {"pool": 2, "every": 3}, "train": true},
        "b": {"hidden": [5], "opponents": false, "train": true}, "c": {"train": "random"}}})";
    const auto own = folder.write("run/config.json", written);
    const auto over = [&](const std::vector<std::string>& assignments) {
        const Json by_name = resolved({.env = own.string(),
                                       .file = {},
                                       .assignments = assignments,
                                       .env_folders = {}})["policies"];
        // As the file behind an environment, and as the run's own where it goes on.
        CHECK(resolved({.env = (folder.path() / "pole.cu").string(),
                        .file = own,
                        .assignments = assignments,
                        .env_folders = {}})["policies"] == by_name);
        CHECK(changed_configuration(Json::parse(written), "run", assignments).json["policies"] ==
              by_name);
        return by_name;
    };
    Json now = over({"policies.default.hidden=[8]"});
    CHECK(now["a"]["hidden"] == Json{8});
    CHECK(now["b"]["hidden"] == Json{8});
    CHECK(now["c"] == Json::parse(R"({"train": "random"})"));
    now = over({"policies.a.hidden=[6]", "policies.default.hidden=[8]"});
    CHECK(now["a"]["hidden"] == Json{6});
    CHECK(now["b"]["hidden"] == Json{8});
    const Json whole = changed_configuration(Json::parse(written), "run",
                                             {R"(policies.default={"opponents": false})"})
                           .json["policies"];
    CHECK(whole["a"]["opponents"] == false);
    CHECK(whole["b"]["hidden"] == Json{5});
    CHECK(over({"policies.b.opponents={}", "policies.default.opponents.pool=7"})["a"] ==
          Json::parse(R"({"hidden": [4], "opponents": {"pool": 7, "every": 3}, "train": true})"));
    // Beside what is said of one, which is above it.
    CHECK(over({"policies.a.opponents.every=9",
                "policies.default.opponents.pool=7"})["a"]["opponents"] ==
          Json::parse(R"({"pool": 7, "every": 9})"));
    now = resolved({.env = own.string(),
                    .file = {},
                    .assignments = {R"(policies={"default": {"hidden": [8]}})"},
                    .env_folders = {}})["policies"];
    CHECK(now["b"]["hidden"] == Json{8});
    // What lies beside the source today is not below what a run was made of.
    folder.write("pole.json", R"({"seed": 9, "policies": {"d": {"hidden": [1]}}})");
    CHECK(over({}).contains("d") == false);
    std::filesystem::remove(folder.path() / "pole.json");
    // Of a file over it, and of a configuration that no run wrote, in which a policy's own settings are above.
    const auto more = folder.write("more.json", R"({"policies": {"default": {"hidden": [7]}}})");
    now = resolved(
        {.env = own.string(), .file = more, .assignments = {}, .env_folders = {}})["policies"];
    CHECK(now["a"]["hidden"] == Json{7});
    folder.write("pole.json", R"({"policies": {"a": {"hidden": [3]}}})");
    now = resolved({.env = (folder.path() / "pole.cu").string(),
                    .file = {},
                    .assignments = {"policies.default.hidden=[8]"},
                    .env_folders = {}})["policies"];
    CHECK(now["a"]["hidden"] == Json{3});
}

TEST_CASE("settings that are named and say nothing of an environment are refused") {
    const Folder folder;
    folder.write("pole.cu", "");
    folder.write("duel.json", R"({"env": {"source": "pole"}})");
    const auto refusal = [&](const std::string& name) {
        return complaint([&] {
            resolved({.env = name, .file = {}, .assignments = {}, .env_folders = {folder.path()}});
        });
    };
    const std::string none = folder.write("none.json", R"({"env": {"count": 2}})").string(),
                      list = folder.write("list.json", "[1]").string(),
                      three = folder.write("three.json", R"({"env": {"source": 3}})").string();
    CHECK(refusal("none") ==
          none + ": does not say which environment its settings are for (\"env\": "
                 "{\"source\": NAME} in it, or NAME and this file as its configuration)");
    CHECK(refusal("list") == list + ": expected an object, found [1]");
    CHECK(refusal(three) == three + ": env.source: expected a text, found 3");
    CHECK(refusal("x.json") ==
          "x.json: no such file (a name, as x, is looked for in other folders, too)");
    folder.write("lost.json", R"({"env": {"source": "poll"}})");
    const std::string lost = (folder.path() / "lost.json").string();
    CHECK(refusal("lost") == lost + ": env.source: poll: there is no such environment in " +
                                 folder.path().string() + " (did you mean 'pole'?)");
    folder.write("lost.json", R"({"env": {"source": "duel"}})");
    CHECK(refusal("lost") == lost + ": env.source: duel names settings (name an environment)");
    folder.write("lost.json", R"({"env": {"source": "far/pole.cu"}})");
    CHECK(refusal("lost") == lost + ": env.source: far/pole.cu: no such file");
    // What lies beside an environment is that one's.
    const std::string own = folder.write("pole.json", R"({"seed": 5})").string();
    const Json beside = resolved({.env = own, .file = {}, .assignments = {}, .env_folders = {}});
    CHECK(beside["env"]["source"] == (folder.path() / "pole.cu").string());
    CHECK(beside["seed"] == 5);
    // Those that can be named are among the names.
    CHECK(contains(refusal("dual"), "did you mean 'duel'?"));
    std::filesystem::create_directory(folder.path() / "room.json");
    CHECK(refusal((folder.path() / "room.json").string()) ==
          (folder.path() / "room.json").string() +
              ": is a directory, not settings (name a .json file)");
}

TEST_CASE("who names another learner gets nothing that was recommended for the usual one") {
    const std::string recommended =
        R"({"learner": {"name": "ppo", "horizon": 8, "epochs": 2},
            "policies": {"default": {"hidden": [8]}}, "seed": 4})";
    const auto learner = [&](const std::vector<std::string>& assignments) {
        return laid_over(recommended, "learner", assignments);
    };
    CHECK(learner({"learner.name=search"}) == Json::parse(R"({"name": "search"})"));
    CHECK(learner({"learner.name=search", "learner.elite=0.1"}) ==
          Json::parse(R"({"name": "search", "elite": 0.1})"));
    CHECK(laid_over(recommended, "policies", {"learner.name=search"}).is_null());
    CHECK(laid_over(recommended, "policies", {"learner.name=search", "policies.a.train=false"}) ==
          Json::parse(R"({"a": {"train": false}})"));
    CHECK(laid_over(recommended, "seed", {"learner.name=search"}) == 4);
    // The same one, or none.
    CHECK(learner({"learner.name=ppo", "learner.epochs=3"}) ==
          Json::parse(R"({"name": "ppo", "horizon": 8, "epochs": 3})"));
    CHECK(learner({"learner.epochs=3"})["horizon"] == 8);
    // One that is named after it is the same algorithm by other means.
    CHECK(learner({"learner.name=torch_ppo", "learner.epochs=3"}) ==
          Json::parse(R"({"name": "torch_ppo", "horizon": 8, "epochs": 3})"));
    CHECK(laid_over(recommended, "policies", {"learner.name=torch_ppo"}) ==
          Json::parse(R"({"default": {"hidden": [8]}})"));
    CHECK(learner({"learner.name=myppo"}) == Json::parse(R"({"name": "myppo"})"));
    CHECK(learner({"learner.name=ppo_torch"}) == Json::parse(R"({"name": "ppo_torch"})"));
    CHECK(laid_over(recommended, "policies", {"policies.default.trunk=separate"}) ==
          Json::parse(R"({"default": {"hidden": [8], "trunk": "separate"}})"));
    // Where no learner is recommended there is no other one.
    CHECK(laid_over(R"({"policies": {"default": {"hidden": [8]}}})", "policies",
                    {"learner.name=search"}) == Json::parse(R"({"default": {"hidden": [8]}})"));
}

TEST_CASE("a file names another learner as an assignment does, and keeps its own settings") {
    const Folder folder;
    const std::string source = folder.write("pole.cu", "").string();
    folder.write("pole.json", R"({"learner": {"name": "ppo", "horizon": 8}})");
    const auto file = folder.write("run.json", R"({"learner": {"name": "search", "elite": 0.1}})");
    CHECK(
        resolved({.env = source, .file = file, .assignments = {}, .env_folders = {}})["learner"] ==
        Json::parse(R"({"name": "search", "elite": 0.1})"));
    const auto broken = folder.write("broken.json", R"({"learner": 5})");
    CHECK(resolved(
              {.env = source, .file = broken, .assignments = {}, .env_folders = {}})["learner"] ==
          5);
}

TEST_CASE("a schedule takes the place of another, for all policies and for one") {
    CHECK(laid_over(R"({"learner": {"name": "ppo", "gamma": 0.9, "rate": {"linear": [1, 0]}}})",
                    "learner", {R"(learner.rate={"cosine": [1, 0]})"}) ==
          Json::parse(R"({"name": "ppo", "gamma": 0.9, "rate": {"cosine": [1, 0]}})"));
    CHECK(
        laid_over(R"({"policies": {"a": {"learner": {"rate": {"linear": [1, 0]}, "clip": 1},
                                           "gains": {"value": 2}}}})",
                  "policies",
                  {R"(policies.a.learner.rate={"cosine": [1, 0]})", "policies.a.gains.choice=3"}) ==
        Json::parse(R"({"a": {"learner": {"rate": {"cosine": [1, 0]}, "clip": 1},
                                "gains": {"value": 2, "choice": 3}}})"));
}

TEST_CASE("a distribution takes the place of another, and structs of parameters are merged") {
    const std::string recommended =
        R"({"env": {"params": {"force": {"uniform": [1, 2]}, "size": {"x": 1, "y": {"normal": [0, 1]}},
                               "mass": 3}}})";
    const auto params = [&](const std::vector<std::string>& assignments) {
        return laid_over(recommended, "env", assignments)["params"];
    };
    CHECK(params({R"(env.params.force={"choice": [1, 5]})"})["force"] ==
          Json::parse(R"({"choice": [1, 5]})"));
    CHECK(params({R"(env.params.mass={"uniform": [1, 5]})"})["mass"] ==
          Json::parse(R"({"uniform": [1, 5]})"));
    CHECK(params({"env.params.force=4"})["force"] == 4);
    CHECK(params({"env.params.size.x=4"})["size"] ==
          Json::parse(R"({"x": 4, "y": {"normal": [0, 1]}})"));
    CHECK(params({R"(env.params.size.y={"uniform": [0, 1]})"})["size"] ==
          Json::parse(R"({"x": 1, "y": {"uniform": [0, 1]}})"));
}
