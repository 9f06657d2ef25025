#include "tests/plugins/bench.h"
#include "tests/support/skip.h"

#include <cmath>
#include <limits>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::vector<Json> lines_of(const std::filesystem::path& path) {
    std::vector<Json> lines;
    const std::string text = read_file(path);
    CHECK((text.empty() || text.ends_with('\n')));
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        lines.push_back(Json::parse(text.substr(at, end - at)));
        at = end + 1;
    }
    return lines;
}

}

TEST_CASE("jsonl writes one object a line") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    SinkInstance sink(plugins, "jsonl", folder.path());
    sink.write(128, {{"return", 21.5}, {"loss", 1.0 / 3.0}});
    sink.write(18446744073709551615u, {{"a \"b\"\\\n\x01", std::numeric_limits<double>::infinity()},
                                       {"nan", std::nan("")},
                                       {"tiny", 5e-324}});
    sink.flush();
    const std::vector<Json> lines = lines_of(folder.path() / "metrics.jsonl");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == Json{{"step", 128}, {"return", 21.5}, {"loss", 1.0 / 3.0}});
    CHECK(lines[1] == Json{{"step", 18446744073709551615u},
                           {"a \"b\"\\\n\x01", nullptr},
                           {"nan", nullptr},
                           {"tiny", 5e-324}});
}

TEST_CASE("jsonl keeps lines until it is flushed or closed") {
    const Folder folder;
    const auto path = folder.path() / "metrics.jsonl";
    Plugins plugins = plugins_of({product_plugins});
    {
        SinkInstance sink(plugins, "jsonl", folder.path());
        sink.write(1, {{"loss", 1}});
        CHECK(lines_of(path).empty());
        sink.flush();
        CHECK(lines_of(path).size() == 1);
        sink.write(2, {{"loss", 1}});
    }
    CHECK(lines_of(path).size() == 2);
}

TEST_CASE("jsonl continues a file, less a line that a crash cut") {
    const Folder folder;
    const auto path = folder.write("metrics.jsonl", "{\"step\":1}\n{\"step\":2,\"lo");
    Plugins plugins = plugins_of({product_plugins});
    SinkInstance sink(plugins, "jsonl", folder.path());
    sink.write(3, {});
    sink.flush();
    CHECK(lines_of(path) == std::vector<Json>{{{"step", 1}}, {{"step", 3}}});
}

TEST_CASE("two jsonl sinks write two files") {
    const Folder one, other;
    Plugins plugins = plugins_of({product_plugins});
    SinkInstance first(plugins, "jsonl", one.path()), second(plugins, "jsonl", other.path());
    first.write(1, {});
    second.write(2, {});
    first.flush();
    second.flush();
    CHECK(lines_of(one.path() / "metrics.jsonl") == std::vector<Json>{{{"step", 1}}});
    CHECK(lines_of(other.path() / "metrics.jsonl") == std::vector<Json>{{{"step", 2}}});
}

TEST_CASE("a file that cannot be written is a sentence") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    const auto nowhere = folder.path() / "none";
    const auto file = folder.write("file", "");
    for (const std::string name : {"jsonl", "csv"}) {
        const std::string target = "/metrics." + name;
        CHECK(complaint([&] { SinkInstance(plugins, name, nowhere); }) ==
              name + ": " + nowhere.string() + target +
                  " cannot be written: No such file or directory");
        CHECK(complaint([&] { SinkInstance(plugins, name, file); }) ==
              name + ": " + file.string() + target + " cannot be written: Not a directory");
        CHECK(complaint([&] {
                  SinkInstance(plugins, name, folder.path(), {{"uot", 1}});
              }) == name + ": uot: there is no such setting (did you mean 'out'?)");
    }
}

TEST_CASE("a full disk is a sentence") {
    if (!std::filesystem::exists("/dev/full")) NACELLE_SKIP("there is no /dev/full");
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    for (const std::string name : {"jsonl", "csv"}) {
        const auto path = folder.path() / ("metrics." + name);
        std::filesystem::create_symlink("/dev/full", path);
        SinkInstance sink(plugins, name, folder.path());
        sink.write(1, {{"loss", 1}});
        CHECK(complaint([&] { sink.flush(); }) ==
              name + ": " + path.string() + " cannot be written: the disk is full");
    }
}

TEST_CASE("a sink writes the first reading after each so many steps, also when a run goes on") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    const auto open = [&](const std::string& name) {
        return SinkInstance(plugins, name, folder.path(),
                            {{"every", 10}, {"file", "slow." + name}});
    };
    for (const std::string name : {"jsonl", "csv"}) {
        {
            SinkInstance sink = open(name);
            for (const uint64_t step : {4, 8, 12, 16, 20, 24, 28}) sink.write(step, {{"a", 1}});
        }
        SinkInstance sink = open(name);
        sink.rewind(24);
        for (const uint64_t step : {28, 32, 36, 55}) sink.write(step, {{"a", 1}});
    }
    CHECK(read_file(folder.path() / "slow.csv") == "step,a\n12,1\n20,1\n32,1\n55,1\n");
    CHECK(lines_of(folder.path() / "slow.jsonl").size() == 4);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a sink's file is one of its kind in the run's folder") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    for (const std::string file : {"config.json", "../metrics.csv", ".csv", ""})
        CHECK(complaint([&] {
                  SinkInstance(plugins, "csv", folder.path(), {{"file", file}});
              }) ==
              "csv: file: expected the name of a .csv file in the run's folder, without a folder");
    CHECK(complaint([&] {
              SinkInstance(plugins, "tensorboard", folder.path(), {{"every", 0}});
          }).starts_with("tensorboard: every: expected a number from 1 to "));
}
