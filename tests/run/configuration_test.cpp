#include "engine/run/configuration.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Json resolved(const ConfigurationSources& sources) {
    std::string where;
    return resolve_configuration(sources, where);
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
          }) == "pol: there is no such environment (did you mean 'pole'?)");
    CHECK(complaint([&] { resolved({}); }) == "env.source: no environment is named");
}
