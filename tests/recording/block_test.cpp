#include "tests/recording/sample.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("a header says the same when it is read") {
    const RecordingHeader header = sample_header();
    const RecordingHeader again = read_header(header_json(header), "here");
    CHECK(header_json(again) == header_json(header));
    CHECK(again.layout == header.layout);
    CHECK(again.arrays[1].bytes() == 6);
    CHECK(again.arrays[1].shape() == std::vector<int64_t>{2, 3});
    CHECK(again.find("reward")->moment == Moment::step);
    CHECK(again.find("rewards") == nullptr);
}

TEST_CASE("a header that another hand wrote is refused with its reason") {
    const auto said = [](auto&& change) {
        Json json = header_json(sample_header());
        change(json);
        return complaint([&] { read_header(json, "x.recording"); });
    };
    CHECK(contains(said([](Json& j) { j.erase("layout"); }), "x.recording: has a header that"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["type"] = "f99"; }), "f99"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["dims"] = {0}; }), "out of bounds"));
    CHECK(contains(said([](Json& j) {
                       j["arrays"][0]["dims"] = {4000000000u, 4000000000u, 4000000000u};
                   }),
                   "out of bounds"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["dims"] = {1, 1, 1, 1, 1}; }), "too many"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["rows"] = 0; }), "out of bounds"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["name"] = std::string(200, 'x'); }),
                   "too long"));
    CHECK(contains(said([](Json& j) { j["arrays"] = 3; }), "has a header that"));
    CHECK(contains(said([](Json& j) { j["arrays"] = Json::array(); }), "there is none"));
    // 2^32 numbers were counted as none, and divided by.
    CHECK(contains(said([](Json& j) {
                       j["arrays"][0]["dims"] = {65536, 65536};
                   }),
                   "out of bounds"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["rows"] = -1; }), "out of bounds"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["rows"] = 4294967297u; }), "out of bounds"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["rows"] = 2; }), "are of agents alone"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["choices"] = 1e300; }), "out of bounds"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["bounds"] = {0, 1e300}; }), "no finite"));
    CHECK(contains(said([](Json& j) { j["arrays"][1] = j["arrays"][0]; }), "stands there twice"));
    // The reward of each step is read, and one at the end would be all.
    CHECK(contains(said([](Json& j) { j["arrays"][2]["moment"] = "end"; }),
                   "moment: is not that of its role"));
    CHECK(contains(said([](Json& j) { j["arrays"][0]["role"] = "total"; }),
                   "moment: is not that of its role"));
}

TEST_CASE("names in a header are names and lead nowhere") {
    const auto said = [](const char* key, const Json& value) {
        Json json = header_json(sample_header());
        json[Json::json_pointer(key)] = value;
        return complaint([&] { read_header(json, "x.recording"); });
    };
    const std::string hash = std::string(32, 'a');
    for (const char* const source : {"/etc/pond.cu", "../pond.cu", "a/pond.cu", "..", ".", "",
                                     "pond.txt", ".cu", "po\x1bnd.cu"})
        CHECK_MESSAGE(contains(said("/source", source), "is no plain name of a .cu file"), source);
    CHECK(contains(said("/files", Json::object()), "they lack pond.cu itself"));
    CHECK(contains(said("/files", {{"pond.cu", hash}, {"/etc/x.h", hash}}), "no relative name"));
    CHECK(contains(said("/files", {{"pond.cu", hash}, {"x\x9b.h", hash}}), "no relative name"));
    CHECK(said("/files", {{"pond.cu", hash}, {"../x.h", hash}}) == "");
    CHECK(contains(said("/files", {{"pond.cu", "0123"}}), "'0123' is no hash"));
    CHECK(contains(said("/environment", "Pond\x1b[2J"), "'Pond\\x1b[2J' is no name"));
    CHECK(said("/environment", "ponds::Pond<3>") == "");
    CHECK(contains(said("/arrays/0/name", "../state"), "'../state' is no name of an array"));
    CHECK(contains(said("/arrays/0/name", "a\"b"), "is no name of an array"));
    CHECK(contains(said("/constants", {{"a\"", 1}}), "is no name"));
    CHECK(contains(said("/varied", {"a b"}), "'a b' is no name"));
    CHECK(said("/varied", {"joints.angle"}) == "");
}

TEST_CASE("an episode comes back as it was, and one of another size does not") {
    const Folder folder;
    const std::filesystem::path path = folder.path() / "a.recording";
    sample_recording(path);
    const Recording recording(path);
    const std::vector<RecordedEpisode> expected = sample_episodes(sample_header());
    REQUIRE(recording.episodes().size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        const RecordedEpisode episode = recording.episode(i);
        CHECK(episode.columns == expected[i].columns);
        CHECK(episode.summary.ended == expected[i].summary.ended);
        CHECK(episode.summary.seed == expected[i].summary.seed);
        CHECK(episode.summary.returns == expected[i].summary.returns);
        CHECK(episode.summary.params == expected[i].summary.params);
        CHECK(episode.summary.trained == 1000);
    }
    CHECK(recording.table_bytes("map") == 9);
    CHECK(recording.table("map") == std::vector<std::byte>(9, std::byte(3)));
    CHECK(!recording.table_bytes("maps"));
    CHECK(contains(complaint([&] { recording.table("maps"); }), "holds no table 'maps'"));
    CHECK(contains(complaint([&] { recording.episode(3); }),
                   "there is no episode 3 (there are 0 to 2)"));
    RecordedEpisode wrong = expected[0];
    wrong.columns[2].pop_back();
    CHECK(contains(complaint([&] { episode_text(recording.header(), wrong); }), "bytes of reward"));
    EpisodeSummary longer = expected[0].summary;
    longer.steps = ~uint64_t(0) / 2;
    CHECK(!read_episode(recording.header(), longer, std::vector<std::byte>(100)));
}

TEST_CASE("a recording overwrites nothing") {
    const Folder folder;
    const std::filesystem::path path = folder.write("a.recording", "mine");
    CHECK(contains(complaint([&] { sample_recording(path); }), "is there already"));
    CHECK(read_file(path) == "mine");
}

TEST_CASE("a block that claims to unpack to more than zlib can is not believed") {
    const std::vector<std::byte> data(100);
    const std::string text = block_text("epis", Json::object(), data);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    const auto head = read_block_head(std::span<const std::byte, block_head_size>(bytes, 32));
    REQUIRE(head);
    const std::span body(bytes + block_head_size, text.size() - block_head_size);
    CHECK(data_of(*head, body) == data);
    BlockHead huge = *head;
    huge.unpacked = uint64_t(1) << 50;
    CHECK(!data_of(huge, body));
    huge.unpacked = 101;
    CHECK(!data_of(huge, body));
}
