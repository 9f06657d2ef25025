#include "engine/run/layers.h"
#include "engine/run/model_files.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A run whose only policy has a network in a file.
struct RunWithModel {
    RunWithModel() : file(folder.write("net.pt", "code").string()) {
        settings["policies"]["default"]["model"]["script"] = file;
    }
    // What is said of the settings, or nothing if the file may be loaded.
    std::string said(const std::vector<std::string>& assignments = {}, bool of_run = true) {
        return complaint([&] {
            check_model_files(
                settings, "config.json",
                {.said = said_by(assignments), .plugin_folders = folders, .of_run = of_run});
        });
    }
    std::string hash() const { return settings["policies"]["default"]["model"].value("hash", ""); }

    const Folder folder;
    const std::string file;
    std::vector<std::filesystem::path> folders;
    Json settings;
};

}

TEST_CASE("a run's folder alone loads no file of a model") {
    RunWithModel run;
    CHECK(run.said() == "config.json: policies.default.model: is code in the file " + run.file +
                            ", which a run's folder alone does not load (--model " + run.file +
                            " loads it)");
    CHECK(run.said({"policies.default.model.script=" + run.file}) == "");
    CHECK(run.said({"policies.default.model.script=" + run.file + "x"}) != "");
    run.folders = {run.folder.path()};
    CHECK(run.said() == "");
    run.folders = {run.folder.path() / "deeper"};
    CHECK(run.said() != "");
    CHECK(run.said({}, false) == "");    // settings of the user's own name the file
}

TEST_CASE("a file of a model that other users could have written is loaded only by its name") {
    RunWithModel run;
    run.folders = {run.folder.path()};
    ::chmod(run.file.c_str(), 0666);
    CHECK(contains(run.said(), "can be written by other users, so that its code is not loaded"));
    CHECK(contains(run.said({}, false), "can be written by other users"));
    CHECK(run.said({"policies.default.model.script=" + run.file}) == "");
}

TEST_CASE("another file than the run had is refused with both hashes, unless it is named anew") {
    RunWithModel run;
    run.folders = {run.folder.path()};
    REQUIRE(run.said() == "");
    const std::string then = run.hash();
    CHECK(then.size() == 32);
    run.folder.write("net.pt", "other code");
    const std::string refusal = run.said();
    CHECK(contains(refusal, "is another file than the run had: its hash is "));
    CHECK(contains(refusal, ", and was " + then));
    CHECK(run.said({"policies.default.model.script=" + run.file}) == "");
    CHECK(run.hash() != then);
}

TEST_CASE("--model gives each policy a file of the kind that it had") {
    Json settings = Json::parse(R"({"policies": {
        "hunter": {"model": {"script": "a.pt"}}, "prey": {"model": {"package": "b.pt2"}},
        "rest": {"hidden": [8]}}})");
    CHECK(model_assignments(settings, {"prey=c=d.pt2"}) ==
          std::vector<std::string>{R"(policies.prey.model={"package":"c=d.pt2"})"});
    CHECK(
        complaint([&] { model_assignments(settings, {"c.pt"}); }) ==
        "--model c.pt: does not say which policy it is for (POLICY=FILE; there is: hunter, prey)");
    settings["policies"].erase("prey");
    CHECK(model_assignments(settings, {"c=d.pt"}) ==
          std::vector<std::string>{R"(policies.hunter.model={"script":"c=d.pt"})"});
    settings["policies"].erase("hunter");
    CHECK(complaint([&] { model_assignments(settings, {"c.pt"}); }) ==
          "--model c.pt: no policy has a model in a file (leave it out)");
}
