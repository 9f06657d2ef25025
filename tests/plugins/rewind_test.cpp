// What sinks do with a file that is there already, when a run goes on.
#include "plugins/support/unfinished_file.h"
#include "tests/plugins/bench.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A sink on a file with this text, gone on with from a step: what is left, and what the log was told.
struct Rewound {
    std::string text;
    std::vector<std::string> told;
};
Rewound rewound(const std::string& sink, const Folder& folder, const std::string& text,
                uint64_t step) {
    Rewound result;
    const auto path = folder.write("metrics." + sink, text);
    Plugins plugins({product_plugins}, shared_cache(),
                    Log([&](LogLevel, const std::string& line) { result.told.push_back(line); }));
    SinkInstance(plugins, sink, folder.path()).rewind(step);
    result.text = read_file(path);
    return result;
}

}

TEST_CASE("a run that goes on removes the records beyond its step, and no other line") {
    const Folder folder;
    const auto path = folder.path() / "metrics.jsonl";
    const std::string records[] = {"{\"step\":1}\n", "{\"step\":2,\"a \\\"b\\\"\":-1.5e-07}\n",
                                   "{\"step\":3,\"loss\":null,\"x\":2}\n"};
    const std::string ours = records[0] + records[1] + records[2];
    for (const uint64_t step : {0, 1, 2, 3, 4}) {
        CAPTURE(step);
        std::string left;
        for (uint64_t i = 0; i < 3 && i < step; ++i) left += records[i];
        const Rewound found = rewound("jsonl", folder, ours, step);
        CHECK(found.text == left);
        CHECK(found.told.empty());
    }
    // Lines that somebody else wrote, at each place; what a newer record is stays one.
    for (const std::string other :
         {"", "# a note", "{\"step\":9,\"note\":\"mine\"}", "{\"step\":9", "{\"step\":-9}", "[1]",
          "{\"step\":9} ", "{\"step\":9.5}", "{\"step\":99999999999999999999}"}) {
        CAPTURE(other);
        const std::string line = other + "\n";
        Rewound found = rewound("jsonl", folder, line + ours, 1);
        CHECK(found.text == line + records[0]);
        REQUIRE(found.told.size() == 1);
        CHECK(found.told[0] ==
              "jsonl: " + path.string() + ":1: this is no line of metrics; it stays where it is");
        found = rewound("jsonl", folder, records[0] + records[2] + line + records[1] + line, 1);
        CHECK(found.text == records[0] + line + line);
        REQUIRE(found.told.size() == 1);
        CHECK(found.told[0] == "jsonl: " + path.string() +
                                   ":3: this is no line of metrics; it stays where it is, as do 1 "
                                   "like it");
    }
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a last line without an end is cut off only where it is a record's beginning") {
    const Folder folder;
    const std::string whole = "{\"step\":1,\"a\":2}";
    for (size_t size = 1; size < whole.size(); ++size)
        CHECK(rewound("jsonl", folder, "x\n" + whole.substr(0, size), 1).text == "x\n");
    CHECK(rewound("jsonl", folder, whole, 1).text == whole + "\n");
    CHECK(rewound("jsonl", folder, "# a note", 1).text == "# a note\n");
    const std::string large = "{\"step\":1}\n" + std::string(20000, '#');
    CHECK(rewound("jsonl", folder, large, 1).text == large + "\n");
    CHECK(rewound("jsonl", folder, "x\n{\"" + std::string(20000, '#'), 1).text ==
          "x\n{\"" + std::string(20000, '#') + "\n");
    CHECK(rewound("csv", folder, "step,a\n1,2\n# a note", 1).text == "step,a\n1,2\n# a note\n");
    CHECK(rewound("csv", folder, "step,a\n1,2\n2,1e-", 1).text == "step,a\n1,2\n");
    CHECK(rewound("csv", folder, "ste", 1).text == "");
}

TEST_CASE("a table loses its rows beyond a step, and no other line") {
    const Folder folder;
    const auto path = folder.path() / "metrics.csv";
    CHECK(rewound("csv", folder, "step,a,b\n1,2,\n2,,nan\n3,-inf,1e-07\n", 1).text ==
          "step,a,b\n1,2,\n");
    CHECK(rewound("csv", folder, "step,a\n1,2\n3,4\n", 0).text == "step,a\n");
    const Rewound found =
        rewound("csv", folder, "step,a\n\n1,2\n9,8\n# note\n9,8,7\n9,x\n2,1\n9,\n", 2);
    CHECK(found.text == "step,a\n\n1,2\n# note\n9,8,7\n9,x\n2,1\n");
    REQUIRE(found.told.size() == 1);
    CHECK(found.told[0] == "csv: " + path.string() +
                               ":2: this is no line of metrics; it stays where it is, as do 3 like "
                               "it");
}

TEST_CASE("a file that is written anew keeps its mode and its place behind a link") {
    namespace fs = std::filesystem;
    const Folder folder, elsewhere;
    const auto target = elsewhere.write("kept.jsonl", "{\"step\":9}\n# a note\n");
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink(target, folder.path() / "metrics.jsonl");
    Plugins plugins({product_plugins}, shared_cache(), Log([](LogLevel, const std::string&) {}));
    {
        SinkInstance sink(plugins, "jsonl", folder.path());
        sink.rewind(1);
        sink.write(2, {});
    }
    CHECK(fs::is_symlink(folder.path() / "metrics.jsonl"));
    CHECK(read_file(target) == "# a note\n{\"step\":2}\n");
    CHECK(fs::status(target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(std::distance(fs::directory_iterator(elsewhere.path()), {}) == 1);
    // What a process leaves that is killed meanwhile, the engine knows by its name.
    CHECK(is_unfinished_file(plugins::unfinished_name()));
}
