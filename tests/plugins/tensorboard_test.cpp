#include "tests/plugins/bench.h"

#include <cstring>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string event_file(const Folder& folder, int number) {
    return read_file(folder.path() /
                     ("events.out.tfevents.00000" + std::to_string(number) + ".nacelle"));
}

// The bytes of the records, by their lengths alone.
std::vector<std::string> bodies(const std::string& file) {
    std::vector<std::string> found;
    for (size_t at = 0; at < file.size();) {
        uint64_t length = 0;
        std::memcpy(&length, file.data() + at, sizeof length);
        found.push_back(file.substr(at + 12, length));
        at += length + 16;
    }
    return found;
}

}

// The format is held against a reader of its own in tests/tools/runs.py.
TEST_CASE("an event file begins with its version and has an event for each write") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    {
        SinkInstance sink(plugins, "tensorboard", folder.path());
        sink.write(300, {{"loss", 0.5}});
    }
    const std::string file = event_file(folder, 1);
    const std::vector<std::string> found = bodies(file);
    REQUIRE(found.size() == 2);
    CHECK(found[0].ends_with("\x1a\x0d"
                             "brain.Event:2"));
    // Step 300; a summary of one value with its tag and 0.5f.
    CHECK(found[1].substr(9) ==
          std::string("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 18));
}

TEST_CASE("a run that goes on has another event file, which undoes what came behind its step") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    for (int process = 0; process < 2; ++process) {
        SinkInstance sink(plugins, "tensorboard", folder.path());
        if (process) sink.rewind(127);
        sink.write(128, {});
    }
    const std::vector<std::string> found = bodies(event_file(folder, 2));
    REQUIRE(found.size() == 3);
    CHECK(found[1].substr(9) == std::string("\x10\x80\x01\x3a\x02\x08\x01", 7));
    CHECK(bodies(event_file(folder, 1)).size() == 2);
}

TEST_CASE("lines and rows behind the step at which a run goes on are cut off") {
    const Folder folder;
    Plugins plugins = plugins_of({product_plugins});
    for (const std::string name : {"jsonl", "csv"}) {
        {
            SinkInstance sink(plugins, name, folder.path());
            for (const uint64_t step : {5, 10, 15, 100}) sink.write(step, {{"loss", double(step)}});
        }
        SinkInstance sink(plugins, name, folder.path());
        sink.rewind(10);
        sink.write(12, {{"loss", 12}});
        sink.flush();
    }
    CHECK(read_file(folder.path() / "metrics.jsonl") ==
          "{\"step\":5,\"loss\":5}\n{\"step\":10,\"loss\":10}\n{\"step\":12,\"loss\":12}\n");
    CHECK(read_file(folder.path() / "metrics.csv") == "step,loss\n5,5\n10,10\n12,12\n");
}
