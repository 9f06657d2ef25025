#include "tests/recording/sample.h"
#include "tests/support/skip.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <zlib.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The first episode of a recording whose first episode was changed, and what is said of the file.
template <class Change> std::vector<std::string> problems_after(Change change) {
    const Folder folder;
    sample_recording(folder.path() / "whole.recording");
    std::vector<ForgedBlock> blocks = blocks_of(folder.path() / "whole.recording");
    change(blocks);
    const Recording recording(forged_recording(folder.path() / "a.recording", blocks));
    std::vector<std::string> said = recording.problems();
    for (std::string& one : said) one = one.substr(one.find(" behind "));
    return said;
}

constexpr size_t table = 1, first_episode = 2;    // behind the header
const std::vector<std::string> no_episode{
    " behind episode 0 are no episode that this engine understands"};

}

TEST_CASE("an episode that no environment can have played is left out") {
    CHECK(problems_after([](auto&) {}).empty());
    const std::vector<std::pair<std::string, Json>> wrong{{"steps", 0},
                                                          {"steps", -1},
                                                          {"steps", 5.0},
                                                          {"steps", 6},
                                                          {"steps", ~uint64_t(0)},
                                                          {"steps", uint64_t(1) << 32},
                                                          {"steps", "5"},
                                                          {"environment", -1},
                                                          {"environment", uint64_t(1) << 32},
                                                          {"ended", "won"},
                                                          {"ended", 1},
                                                          {"ended", "cut"},
                                                          {"returns", Json::array()},
                                                          {"returns", 1},
                                                          {"returns", std::vector<int>(65)},
                                                          {"returns", std::vector<bool>(1)},
                                                          {"tick", -1},
                                                          {"seed", 0.5},
                                                          {"progress_per_tick", 1e300},
                                                          {"progress_per_tick", nullptr},
                                                          {"params", 3},
                                                          {"params", Json::array()},
                                                          {"trained", -1}};
    for (const auto& [key, value] : wrong) {
        const auto said = problems_after(
            [&, &key = key, &value = value](auto& all) { all[first_episode].about[key] = value; });
        const std::string which = key + " " + value.dump();
        CHECK_MESSAGE(said == no_episode, which);
    }
}

TEST_CASE("an episode whose data is not of the size that its steps say is left out unread") {
    // 80 MB of zeros in 80 kB.
    const auto said = problems_after(
        [](auto& all) { all[first_episode].data.assign(size_t(80) << 20, std::byte(0)); });
    CHECK(said == no_episode);
}

TEST_CASE("a return that is not finite comes back as none") {
    const Folder folder;
    const RecordingHeader header = sample_header();
    RecordedEpisode episode = sample_episode(header, 0, 5, "cut");
    episode.summary.returns = {NAN};
    RecordingWriter writer(folder.path() / "a.recording", header, {});
    writer.add(episode);
    writer.finish();
    const Recording recording(folder.path() / "a.recording");
    REQUIRE(recording.episodes().size() == 1);
    CHECK(std::isnan(recording.episodes()[0].returns[0]));
}

TEST_CASE("a header whose layout is no whole number is not understood") {
    for (const Json& layout : {Json(1.8e32), Json(-1), Json("3")})
        CHECK(contains(
            complaint([&] { problems_after([&](auto& all) { all[0].about["layout"] = layout; }); }),
            "has a header that this engine does not understand"));
}

TEST_CASE("a header whose values are of other types is told in a sentence") {
    for (const char* const key : {"environment", "source", "files", "constants", "varied"})
        for (const Json& wrong : {Json(3), Json::array({3}), Json()}) {
            CAPTURE(key);
            CHECK(
                complaint([&] { problems_after([&](auto& all) { all[0].about[key] = wrong; }); })
                    .ends_with("a.recording: has a header that this engine does not understand: a "
                               "value is missing, or of another type"));
        }
}

TEST_CASE("a header that bounds neither steps nor columns is not understood") {
    const auto refused = [](const auto& change) {
        return complaint(
            [&] { problems_after([&](auto& all) { change(all[0].about["arrays"]); }); });
    };
    CHECK(contains(refused([](Json& arrays) {
                       std::erase_if(arrays.get_ref<Json::array_t&>(),
                                     [](const Json& one) { return one["moment"] != "end"; });
                       REQUIRE_FALSE(arrays.empty());
                   }),
                   "arrays: there is none of each step"));
    CHECK(contains(refused([](Json& arrays) { arrays[0]["dims"] = {1 << 30}; }),
                   "does not understand: dims"));
}

TEST_CASE("tables have names, and each stands there once") {
    const std::vector<std::string> no_table{
        " behind episode 0 are no table that this engine understands"};
    CHECK(problems_after([](auto& all) { all[table].about["name"] = "../map"; }) == no_table);
    CHECK(problems_after([](auto& all) { all[table].about["name"] = 3; }) == no_table);
    CHECK(problems_after([](auto& all) { all.insert(all.begin() + 1, all[table]); }) == no_table);
    CHECK(problems_after([](auto& all) {
              all[table].kind = "vers";
              all[table].about = {{"files", {{"other.cu", std::string(32, 'a')}}}};
          }) == std::vector<std::string>{
                    " behind episode 0 are no version that this engine understands"});
}

TEST_CASE("JSON that nests without end is not read") {
    Json deep = 1;
    for (int i = 0; i < 98; ++i) deep = Json::array({std::move(deep)});
    CHECK(problems_after([&](auto& all) { all[first_episode].about["more"] = deep; }).empty());
    deep = Json::array({Json::array({std::move(deep)})});
    const std::vector<std::string> no_text{
        " behind episode 0 hold no text that this engine understands"};
    CHECK(problems_after([&](auto& all) { all[first_episode].about["more"] = deep; }) == no_text);
    // Far deeper than any stack: as text, since JSON itself could not be made of it.
    const Folder folder;
    const std::string head = "{\"more\":", body = head + std::string(400000, '[');
    std::string text = block_text("head", Json(std::string(body.size() - 2, 'x')), {});
    text.replace(text.find('"', block_head_size), body.size(), body);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    const auto block = read_block_head(std::span<const std::byte, block_head_size>(bytes, 32));
    REQUIRE(block);
    CHECK(!about_of(*block, std::span(bytes + block_head_size, text.size() - block_head_size)));
}

TEST_CASE("text that a terminal would obey is not read") {
    const std::vector<std::string> no_text{
        " behind episode 0 hold no text that this engine understands"};
    for (const char* const text : {"\x1b[2J", "a\nb", "\x7f",
                                   "\xc2\x9b"
                                   "2J"}) {
        const auto as_value = [&](auto& all) { all[first_episode].about["who"] = text; };
        const auto as_key = [&](auto& all) { all[first_episode].about["params"][text] = 1; };
        CHECK(problems_after(as_value) == no_text);
        CHECK(problems_after(as_key) == no_text);
    }
    CHECK(contains(complaint([] {
                       problems_after([](auto& all) { all[0].about["about"]["who"] = "\x1b[2J"; });
                   }),
                   "has a header that this engine does not understand (a JSON object of printable "
                   "text that nests at most 100 deep)"));
}

TEST_CASE("what is larger than this machine's memory is told by its size") {
    const Folder folder;
    const std::filesystem::path path = folder.path() / "a.recording";
    std::string text = recording_prologue() + block_text("head", Json::object(), {});
    // A head that claims 4 TB of data, in a file that has them, as a hole.
    constexpr uint64_t claimed = uint64_t(1) << 42;
    char* const head = text.data() + recording_start;
    std::memcpy(head + 8, &claimed, sizeof claimed);
    std::memset(head + 4, 0, 4);
    const auto check =
        uint32_t(::crc32_z(0, reinterpret_cast<const Bytef*>(head), block_head_size));
    std::memcpy(head + 4, &check, sizeof check);
    write_file(path, text);
    std::error_code trouble;
    std::filesystem::resize_file(path, recording_start + block_head_size + 2 + claimed, trouble);
    if (trouble) NACELLE_SKIP("this file system has no files of 4 TB");
    CHECK(contains(complaint([&] { Recording{path}; }),
                   "a block takes 4398046511106 bytes of memory (this machine has not got them)"));
}

TEST_CASE("what could not be read is not written") {
    const Folder folder;
    RecordingHeader header = sample_header();
    header.source = "pond.cpp";
    const std::filesystem::path path = folder.path() / "a.recording";
    CHECK(contains(complaint([&] { RecordingWriter(path, header, {}); }),
                   "'pond.cpp' is no plain name of a .cu file"));
    CHECK(!std::filesystem::exists(path));
}
