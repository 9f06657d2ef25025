#include "tests/plugins/bench.h"

#include <cmath>
#include <limits>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A csv sink in a folder of its own.
struct Bench {
    Folder folder;
    std::filesystem::path path = folder.path() / "metrics.csv";
    Plugins plugins = plugins_of({product_plugins});

    SinkInstance open() { return SinkInstance(plugins, "csv", folder.path()); }
    std::string text() const { return read_file(path); }
};

}

TEST_CASE("csv writes a header, then a row a step") {
    Bench bench;
    SinkInstance sink = bench.open();
    sink.write(128, {{"return", 21.5}, {"loss", 0.1}});
    sink.write(256, {{"loss", 1e-300}, {"return", -3}});
    CHECK(bench.text() == "");
    sink.flush();
    CHECK(bench.text() == "step,return,loss\n128,21.5,0.1\n256,-3,1e-300\n");
}

TEST_CASE("a metric that is missing leaves its cell empty") {
    Bench bench;
    SinkInstance sink = bench.open();
    sink.write(1, {{"a", 1}, {"b", 2}});
    sink.write(2, {{"b", 3}});
    sink.write(3, {});
    sink.flush();
    CHECK(bench.text() == "step,a,b\n1,1,2\n2,,3\n3,,\n");
}

TEST_CASE("a metric that comes later adds a column, and the rows before it stay whole") {
    Bench bench;
    SinkInstance sink = bench.open();
    sink.write(1, {{"loss", 1}});
    sink.flush();
    sink.write(2, {{"loss", 2}});
    sink.write(3, {{"return", 5}, {"length", 9}, {"loss", 3}});
    sink.write(4, {{"loss", 4}});
    sink.flush();
    CHECK(bench.text() == "step,loss,return,length\n1,1,,\n2,2,,\n3,3,5,9\n4,4,,\n");
    CHECK(std::distance(std::filesystem::directory_iterator(bench.folder.path()), {}) == 1);
}

TEST_CASE("csv quotes names that need it, and says what is not finite") {
    Bench bench;
    SinkInstance sink = bench.open();
    const double infinity = std::numeric_limits<double>::infinity();
    sink.write(1, {{"a,b", std::nan("")}, {"say \"c\"", infinity}, {"line\nbreak", -infinity}});
    sink.write(2, {{"say \"c\"", 2}, {"later", 1}});
    sink.flush();
    CHECK(bench.text() ==
          "step,\"a,b\",\"say \"\"c\"\"\",line_break,later\n1,nan,inf,-inf,\n2,,2,,1\n");
}

TEST_CASE("csv continues a table with its columns, less a row that a crash cut") {
    Bench bench;
    bench.folder.write("metrics.csv", "step,\"a,b\",\"say \"\"c\"\"\"\n1,1,1\n2,2");
    {
        SinkInstance sink = bench.open();
        sink.write(3, {{"say \"c\"", 7}, {"a,b", 3}});
    }
    CHECK(bench.text() == "step,\"a,b\",\"say \"\"c\"\"\"\n1,1,1\n3,3,7\n");
}

TEST_CASE("csv leaves a file alone that is no table of metrics") {
    Bench bench;
    bench.folder.write("metrics.csv", "name,value\nx,1\n");
    CHECK(complaint([&] { bench.open(); }) ==
          "csv: " + bench.path.string() + " is no table of metrics: its first column is 'name'");
    CHECK(bench.text() == "name,value\nx,1\n");
}

TEST_CASE("a column more leaves files beside the table and lines within it alone") {
    Bench bench;
    bench.folder.write("metrics.csv.new", "somebody's\n");
    bench.folder.write("metrics.csv", "step,loss\n# a note\n1,1\n");
    SinkInstance sink = bench.open();
    sink.write(2, {{"loss", 2}, {"return", 5}});
    sink.flush();
    CHECK(bench.text() == "step,loss,return\n# a note\n1,1,\n2,2,5\n");
    CHECK(read_file(bench.folder.path() / "metrics.csv.new") == "somebody's\n");
    CHECK(std::distance(std::filesystem::directory_iterator(bench.folder.path()), {}) == 2);
}

TEST_CASE("csv does not touch a file whose only line is somebody else's") {
    Bench bench;
    bench.folder.write("metrics.csv", "name,value");
    CHECK(contains(complaint([&] { bench.open(); }), "its first column is 'name'"));
    CHECK(bench.text() == "name,value");
}
