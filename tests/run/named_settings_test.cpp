// Settings that are named in place of an environment, a run's own among them.
#include "tests/env/workbench.h"
#include "tests/run/resolved.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

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
    // A schedule of one policy is no part of another kind for all.
    const auto with_learner = [](const Json& settings) {
        return settings["policies"]["a"]["learner"]["rate"];
    };
    Json learns = Json::parse(written);
    learns["policies"]["a"]["learner"] = {{"rate", 1}};
    CHECK(
        with_learner(changed_configuration(learns, "run",
                                           {R"(policies.a.learner.rate={"cosine": [1, 0]})",
                                            R"(policies.default.learner.rate={"linear": [2, 0]})"})
                         .json) == Json::parse(R"({"cosine": [1, 0]})"));
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
    const std::string own_list = folder.write("pole.json", "[1]").string();
    CHECK(refusal("pole") == own_list + ": expected an object, found [1]");
    std::filesystem::remove(own_list);
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
