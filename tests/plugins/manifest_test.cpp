#include "tests/plugins/bench.h"

#include <cstring>
#include <nacelle/plugin/abi.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

const std::string& csv_file() {
    static const std::string file = read_file(product_plugins / "csv.so");
    return file;
}

PluginManifest manifest_of(const std::string& file) {
    return read_manifest(std::as_bytes(std::span(file)), "csv.so");
}

// What is said of the csv plugin once its manifest was changed.
template <class Change> std::string complaint_after(Change change) {
    std::string file = csv_file();
    const size_t at = file.find(std::string(NACELLE_PLUGIN_MAGIC, 8));
    REQUIRE(at != std::string::npos);
    nacelle_manifest manifest;
    std::memcpy(&manifest, file.data() + at, sizeof manifest);
    change(manifest);
    std::memcpy(file.data() + at, &manifest, sizeof manifest);
    return complaint([&] { manifest_of(file); });
}

}

TEST_CASE("a manifest is read from the file") {
    const PluginManifest manifest = manifest_of(csv_file());
    CHECK(manifest.id == "nacelle.csv");
    CHECK(manifest.version == "1.0.0");
    CHECK(manifest.description == "Metrics as a table");
    CHECK(manifest.offers == std::vector<PluginOffer>{{"sink/1", "csv"}});
}

TEST_CASE("what is no shared library is called so") {
    CHECK(complaint([] { manifest_of("just a text"); }) == "csv.so: is no shared library");
    CHECK(complaint([] { manifest_of(""); }) == "csv.so: is no shared library");
    CHECK(complaint([] { manifest_of(csv_file().substr(0, 20)); }) == "csv.so: is cut short");
    CHECK(complaint([] { manifest_of(csv_file().substr(0, csv_file().size() / 2)); }) ==
          "csv.so: is cut short");
    std::string object = csv_file();
    object[16] = 1;    // an object file
    CHECK(complaint([&] { manifest_of(object); }) == "csv.so: is no shared library");
    std::string foreign = csv_file();
    foreign[18] = 8;    // MIPS
    CHECK(complaint([&] { manifest_of(foreign); }) ==
          "csv.so: is built for another kind of processor");
}

TEST_CASE("a shared library without a manifest is no plugin") {
    const std::string file = read_file(made_plugins / "no_manifest.so");
    CHECK(complaint([&] { manifest_of(file); }) ==
          "csv.so: is no plugin: it has no symbol nacelle_plugin");
}

TEST_CASE("a manifest of another boundary is refused with both numbers") {
    CHECK(
        complaint_after([](nacelle_manifest& m) { m.abi = 3; }) ==
        "csv.so: is built for version 3 of the plugins' boundary, and this host speaks version 2: "
        "compile it again with the headers of this nacelle, its folder sdk/");
}

TEST_CASE("a manifest is as long as its size says") {
    // With room for one offer, as an earlier header might have.
    CHECK(complaint_after([](nacelle_manifest& m) {
              m.size = offsetof(nacelle_manifest, offer) + sizeof(nacelle_offer);
          }) == "");
    CHECK(complaint_after([](nacelle_manifest& m) {
              m.size = offsetof(nacelle_manifest, offer) + sizeof(nacelle_offer);
              m.offers = 2;
          }) == "csv.so: its manifest names 2 offers and has room for 1");
}

TEST_CASE("a damaged manifest is refused with what is wrong") {
    CHECK(complaint_after([](nacelle_manifest& m) { m.magic[7] = '!'; }) ==
          "csv.so: its manifest does not begin as one");
    CHECK(complaint_after([](nacelle_manifest& m) { m.size = 64; }) ==
          "csv.so: its manifest is cut short");
    CHECK(complaint_after([](nacelle_manifest& m) { m.size += 65536; }) ==
          "csv.so: its manifest is cut short");
    CHECK(complaint_after([](nacelle_manifest& m) { m.id[0] = 0; }) ==
          "csv.so: its manifest has no id");
    CHECK(complaint_after([](nacelle_manifest& m) { std::memset(m.id, 'x', sizeof m.id); }) ==
          "csv.so: its manifest's id has no end within 64 characters");
    CHECK(complaint_after([](nacelle_manifest& m) {
              std::memset(m.version, 'x', sizeof m.version);
          }) == "csv.so: its manifest's version has no end within 32 characters");
    CHECK(complaint_after([](nacelle_manifest& m) { std::memset(m.offer[0].name, 'x', 32); }) ==
          "csv.so: its manifest's name of an offer has no end within 32 characters");
    CHECK(complaint_after([](nacelle_manifest& m) { m.offers = 17; }) ==
          "csv.so: its manifest names 17 offers and has room for 16");
}

TEST_CASE("a manifest whose text a terminal would obey is refused") {
    const auto put = [](auto& member, const char* text) {
        std::memset(member, 0, sizeof member);
        std::memcpy(member, text, std::strlen(text));
    };
    const std::string behind =
        " has bytes that are no UTF-8, or control characters (one line of text)";
    CHECK(complaint_after([&](nacelle_manifest& m) { put(m.id, "a\x1b]0;x\x07"); }) ==
          "csv.so: its manifest's id" + behind);
    CHECK(complaint_after([&](nacelle_manifest& m) { put(m.version, "1\n2"); }) ==
          "csv.so: its manifest's version" + behind);
    CHECK(complaint_after([&](nacelle_manifest& m) {
              put(m.description, "a\xc2\x9b"
                                 "2J");
          }) == "csv.so: its manifest's description" + behind);
    CHECK(complaint_after([&](nacelle_manifest& m) { put(m.offer[0].name, "\x7f"); }) ==
          "csv.so: its manifest's name of an offer" + behind);
    CHECK(complaint_after([&](nacelle_manifest& m) { put(m.offer[0].kind, "\x01"); }) ==
          "csv.so: its manifest's kind of an offer" + behind);
    CHECK(complaint_after([&](nacelle_manifest& m) { put(m.description, "Größen, \"so\""); }) ==
          "");
}

TEST_CASE("a kind that this host does not know is listed") {
    const PluginManifest manifest = manifest_of(read_file(made_plugins / "marks.so"));
    CHECK(manifest.offers == std::vector<PluginOffer>{{"sink/2", "later"}, {"viewer/1", "window"}});
}
