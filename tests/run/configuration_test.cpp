#include "tests/env/workbench.h"
#include "tests/run/resolved.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

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
