#include "tests/plugins/bench.h"

#include <cstdlib>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// What the version plugin says of itself: its code's version, then the writes that it has seen.
std::string said_by(SinkInstance& sink) {
    return complaint([&] { sink.flush(); });
}

}

TEST_CASE("listing names each plugin, or why it is refused") {
    const Folder folder;
    folder.write("text.so", "not a library");
    folder.write("notes.txt", "not even a candidate");
    put(product_plugins / "csv.so", folder.path() / "csv.so");
    put(made_plugins / "no_manifest.so", folder.path() / "no_manifest.so");
    const std::vector<PluginFile> list =
        plugins_of({folder.path(), folder.path() / "missing"}).list();
    REQUIRE(list.size() == 3);
    CHECK(list[0].path == folder.path() / "csv.so");
    REQUIRE(list[0].manifest);
    CHECK(list[0].manifest->id == "nacelle.csv");
    CHECK(list[1].refused == "is no plugin: it has no symbol nacelle_plugin");
    CHECK(list[2].path.filename() == "text.so");
    CHECK(list[2].refused == "is no shared library");
}

TEST_CASE("listing and looking for a plugin open no library") {
    const Folder folder;
    const auto mark = folder.path() / "mark";
    put(made_plugins / "marks.so", folder.path() / "marks.so");
    ::setenv("NACELLE_TEST_MARK", mark.c_str(), 1);
    Plugins plugins = plugins_of({folder.path()});
    CHECK(plugins.list().size() == 1);
    CHECK_THROWS(plugins.find({"sink/1", "later"}));
    CHECK_FALSE(std::filesystem::exists(mark));
    plugins.load(folder.path() / "marks.so");
    CHECK(std::filesystem::exists(mark));
    ::unsetenv("NACELLE_TEST_MARK");
}

TEST_CASE("a name that nobody offers is an error with what there is") {
    Plugins plugins = plugins_of({product_plugins});
    CHECK(complaint([&] {
              plugins.find({"sink/1", "cvs"});
          }) == "cvs: there is no such sink (did you mean 'csv'?)");
    CHECK(contains(complaint([&] {
                       plugins.find({"sink/1", "elsewhere"});
                   }),
                   "elsewhere: there is no such sink (there is: csv, jsonl"));
    CHECK(complaint([&] {
              plugins_of({"/nowhere", "/no"}).find({"sink/1", "csv"});
          }) == "csv: there is no such sink (no plugin of that kind was found in /nowhere, /no)");
    // What a build may be without.
    for (const auto& [kind, name] : {std::pair("learner", "torch_ppo"), {"communicator", "gloo"}})
        CHECK(complaint([&, kind = kind, name = name] {
                  plugins_of({"/nowhere"}).find({std::string(kind) + "/1", name});
              }) == std::string(name) + ": there is no such " + kind +
                        " ('tools/nacelle torch' installs LibTorch and builds what is on it)");
}

TEST_CASE("a name that only a refused plugin bears is an error with the reason") {
    const Folder folder;
    folder.write("csv.so", "not a library");
    put(made_plugins / "marks.so", folder.path() / "marks.so");
    Plugins plugins = plugins_of({folder.path()});
    CHECK(complaint([&] { plugins.find({"sink/1", "csv"}); }) == "csv.so: is no shared library");
    CHECK(complaint([&] {
              plugins.find({"sink/1", "later"});
          }) == "marks.so: offers 'later' as sink/2; this host speaks sink/1");
}

TEST_CASE("loading says what is wrong with a file") {
    const Folder folder;
    Plugins plugins = plugins_of({});
    CHECK(complaint([&] { plugins.load(folder.path() / "none.so"); }) ==
          (folder.path() / "none.so").string() + ": does not exist");
    CHECK(complaint([&] { plugins.load(folder.write("text.so", "text")); }) ==
          "text.so: is no shared library");
    CHECK(complaint([&] { plugins.load(made_plugins / "no_get.so"); }) ==
          "no_get.so: has no function nacelle_plugin_get");
    CHECK(plugins.load(made_plugins / "version_1.so").id == "test.version");
}

TEST_CASE("a table that lacks a function that is needed, or is missing, is refused") {
    Plugins plugins = plugins_of({});
    plugins.load(made_plugins / "tables.so");
    const auto try_one = [&](const char* name) {
        return complaint([&] { SinkInstance(plugins, name, "."); });
    };
    CHECK(try_one("short") == "tables.so: its table of sink/1 'short' has no function create()");
    CHECK(try_one("hole") == "tables.so: its table of sink/1 'hole' has no function write()");
    CHECK(try_one("missing") ==
          "tables.so: its table of sink/1 'missing' is missing, though the manifest names it");
}

TEST_CASE("two instances of one sink keep their own state") {
    Plugins plugins = plugins_of({});
    plugins.load(made_plugins / "version_1.so");
    SinkInstance one(plugins, "version", "."), other(plugins, "version", ".");
    one.write(1, {});
    one.write(2, {});
    other.write(1, {});
    CHECK(said_by(one) == "version: version 1, 2 of 3");
    CHECK(said_by(other) == "version: version 1, 1 of 3");
}

TEST_CASE("a new file under the same path is the new code, and living instances keep the old") {
    const Folder folder;
    const auto path = put(made_plugins / "version_1.so", folder.path() / "version.so");
    bool named = false;
    SUBCASE("that was named") { named = true; }
    SUBCASE("of a folder") {}
    Plugins plugins = named ? plugins_of({}) : plugins_of({folder.path()});
    if (named) plugins.load(path);
    SinkInstance old(plugins, "version", ".");
    old.write(1, {});
    put(made_plugins / "version_2.so", path);
    if (named) plugins.load(path);
    SinkInstance fresh(plugins, "version", ".");
    CHECK(said_by(fresh) == "version: version 2, 0 of 0");
    CHECK(said_by(old) == "version: version 1, 1 of 1");
}

TEST_CASE("a named plugin goes before the folders', and an earlier folder before a later one") {
    const Folder first, second;
    put(made_plugins / "version_1.so", first.path() / "z.so");
    put(made_plugins / "version_2.so", second.path() / "a.so");
    Plugins plugins = plugins_of({first.path(), second.path()});
    SinkInstance of_first(plugins, "version", ".");
    CHECK(said_by(of_first) == "version: version 1, 0 of 0");
    plugins.load(second.path() / "a.so");
    SinkInstance named(plugins, "version", ".");
    CHECK(said_by(named) == "version: version 2, 0 of 0");
    CHECK(plugins.list().size() == 2);
}

TEST_CASE("what a plugin logs bears its name") {
    std::string seen;
    Plugins plugins({}, shared_cache(), Log([&](LogLevel level, const std::string& text) {
                        CHECK(level == LogLevel::warning);
                        seen += text;
                    }));
    plugins.load(made_plugins / "version_1.so");
    SinkInstance(plugins, "version", ".");
    CHECK(seen == "version: version 1 is made");
}
