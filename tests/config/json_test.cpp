#include "engine/base/files.h"
#include "engine/config/config.h"
#include "tests/base/helpers.h"

#include <doctest/doctest.h>
#include <string>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string set(const std::string& start, const std::string& assignment) {
    Json json = Json::parse(start);
    set_path(json, assignment);
    return json.dump();
}

}

TEST_CASE("writing JSON never fails, whatever bytes its texts hold") {
    CHECK(json_text({{"path", "caf\xe9/run"}, {"n", 1}}) ==
          "{\"n\":1,\"path\":\"caf\xef\xbf\xbd/run\"}");
    CHECK(json_text(Json("\xff\xfe"), 2) == "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    CHECK(json_text(Json::object()) == "{}");
}

TEST_CASE("a path is set through objects, which are made where they are missing") {
    CHECK(set("{}", "a.b.c=3") == R"({"a":{"b":{"c":3}}})");
    CHECK(set(R"({"a":{"x":1,"b":2}})", "a.b=3") == R"({"a":{"b":3,"x":1}})");
    CHECK(set("null", "seed=1") == R"({"seed":1})");
    CHECK(set(R"({"a":5})", "a={}") == R"({"a":{}})");
}

TEST_CASE("a value is JSON where it parses as JSON, else text") {
    CHECK(set("{}", "k=2.5") == R"({"k":2.5})");
    CHECK(set("{}", "k=true") == R"({"k":true})");
    CHECK(set("{}", "k=\"3\"") == R"({"k":"3"})");
    CHECK(set("{}", "k={\"uniform\": [8, 12]}") == R"({"k":{"uniform":[8,12]}})");
    CHECK(set("{}", "k=cpu") == R"({"k":"cpu"})");
    CHECK(set("{}", "k=runs/a=b.json") == R"({"k":"runs/a=b.json"})");
    CHECK(set("{}", "k=") == R"({"k":""})");
    CHECK(set("{}", "k=1e999") == R"({"k":"1e999"})");
}

TEST_CASE("a path that leads nowhere is an error and changes nothing") {
    const auto error_for = [](const std::string& assignment) {
        Json json = Json::parse(R"({"a": 1, "list": [1], "o": {"n": null}})");
        const Json before = json;
        const std::string text = error_of([&] { set_path(json, assignment); });
        CHECK(json == before);
        return text;
    };
    CHECK(error_for("a") == "--set a: has no '=' (env.params.gravity=3)");
    for (const std::string bad : {"=1", ".a=1", "a.=1", "o..a=1", ".=1"}) {
        CHECK(error_for(bad) ==
              "--set " + bad + ": the path has an empty part (env.params.gravity=3)");
    }
    CHECK(error_for("a.b=1") == "--set a.b=1: a is 1, not an object");
    CHECK(error_for("list.0=1") == "--set list.0=1: list is [1], not an object");
    CHECK(error_for("o.n.x=1") == "--set o.n.x=1: o.n is null, not an object");
    Json without = Json::parse(R"({"policies": {"a": {"opponents": false}}})");
    CHECK(error_of([&] { set_path(without, "policies.a.opponents.pool=2"); }) ==
          "--set policies.a.opponents.pool=2: policies.a.opponents is false, not an object "
          "(--set \"policies.a.opponents={\\\"pool\\\":2}\" gives one)");
    Json text = "text";
    CHECK(error_of([&] { set_path(text, "a=1"); }) ==
          "--set a=1: the configuration is \"text\", not an object");
}

TEST_CASE("objects are merged key by key and everything else is replaced") {
    Json base = Json::parse(R"({"a": {"x": 1, "y": [1, 2]}, "b": 1, "c": {"z": 1}, "d": 4})");
    merge_json(base, Json::parse(R"({"a": {"y": [3], "w": {"v": 1}}, "b": {"n": 1},
                                     "c": 2, "e": null})"));
    CHECK(base == Json::parse(R"({"a": {"x": 1, "y": [3], "w": {"v": 1}}, "b": {"n": 1},
                                  "c": 2, "d": 4, "e": null})"));
    merge_json(base, Json::object());
    CHECK(base["d"] == 4);
}

TEST_CASE("a file is loaded, and its errors carry its path") {
    const Folder folder;
    const std::string path = (folder / "run.json").string();
    write_file(path, "{\"seed\": 7}\n");
    CHECK(load_json(path) == Json{{"seed", 7}});
    write_file(path, "{\n  \"seed\": 7,\n}\n");
    CHECK(error_of([&] { load_json(path); }) == path + ":3:1: a comma too much before '}'");
    std::filesystem::remove(path);
    CHECK(error_of([&] { load_json(path); }) == path + ": does not exist");
}
