#include "tests/recording/sample.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Written plainly: write_file syncs, which thousands of files would wait for.
void put(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Where each block of a file begins, and the file's end.
std::vector<size_t> edges(const std::string& bytes) {
    std::vector<size_t> edges{recording_start};
    while (edges.back() < bytes.size()) {
        const auto* const at = reinterpret_cast<const std::byte*>(bytes.data() + edges.back());
        const auto head = read_block_head(std::span<const std::byte, block_head_size>(at, 32));
        REQUIRE(head.has_value());
        edges.push_back(edges.back() + block_head_size + head->body());
    }
    return edges;
}

// What is wrong with what was read, or an empty text.
std::string fault(const Recording& recording, const std::vector<RecordedEpisode>& expected,
                  const std::vector<size_t>& which) {
    if (recording.episodes().size() != which.size())
        return "has " + std::to_string(recording.episodes().size()) + " episodes";
    for (size_t i = 0; i < which.size(); ++i)
        if (recording.episode(i).columns != expected[which[i]].columns)
            return "episode " + std::to_string(i) + " differs";
    return {};
}

}

TEST_CASE(
    "a recording that is cut at any byte opens up to its last whole episode, or says why not") {
    const Folder folder;
    const std::string bytes = sample_recording(folder.path() / "whole.recording");
    const std::vector<RecordedEpisode> episodes = sample_episodes(sample_header());
    // Prologue, header, table, three episodes, end.
    const std::vector<size_t> edge = edges(bytes);
    REQUIRE(edge.size() == 7);
    const std::filesystem::path path = folder.path() / "cut.recording";
    for (size_t size = 0; size < bytes.size(); ++size) {
        CAPTURE(size);
        put(path, std::string_view(bytes).substr(0, size));
        std::string said;
        std::unique_ptr<Recording> cut;
        try {
            cut = std::make_unique<Recording>(path);
        } catch (const Error& error) {
            said = error.what();
        }
        if (size < edge[1]) {
            const bool explained = contains(said, "is cut short") || contains(said, "is empty");
            REQUIRE(explained);
            continue;
        }
        REQUIRE(cut);
        std::vector<size_t> whole;
        uint64_t kept = edge[1];
        for (size_t i = 0; i < edge.size() && edge[i] <= size; ++i) {
            kept = std::max<uint64_t>(kept, edge[i]);
            if (i >= 3 && i <= 5) whole.push_back(i - 3);
        }
        REQUIRE(fault(*cut, episodes, whole) == "");
        REQUIRE(cut->dropped() == size - kept);
        REQUIRE(!cut->finished());
        REQUIRE(cut->problems().size() == 1);
        REQUIRE(contains(cut->problems()[0], size == kept ? "was not finished" : "is cut") == true);
    }
    put(path, bytes);
    const Recording whole(path);
    CHECK(fault(whole, episodes, {0, 1, 2}) == "");
    CHECK(whole.finished());
    CHECK(whole.problems().empty());
    CHECK(whole.dropped() == 0);
}

TEST_CASE("a bit that is turned anywhere costs at most its own block and what cannot be found "
          "behind it") {
    const Folder folder;
    const std::string bytes = sample_recording(folder.path() / "whole.recording");
    const std::vector<RecordedEpisode> episodes = sample_episodes(sample_header());
    const std::vector<size_t> edge = edges(bytes);
    const std::filesystem::path path = folder.path() / "damaged.recording";
    std::string damaged = bytes;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        CAPTURE(bit);
        const size_t byte = bit / 8,
                     block = size_t(std::upper_bound(edge.begin(), edge.end(), byte) -
                                    edge.begin());    // 0 is the prologue
        damaged[byte] = char(damaged[byte] ^ (1 << bit % 8));
        put(path, damaged);
        damaged[byte] = bytes[byte];
        std::string said;
        try {
            const Recording recording(path);
            const bool in_head = byte < edge[block - 1] + block_head_size;
            std::vector<size_t> left;
            for (size_t i = 0; i < 3; ++i)
                if (i + 3 != block && (!in_head || i + 3 < block)) left.push_back(i);
            REQUIRE(block >= 2);
            REQUIRE(fault(recording, episodes, left) == "");
            REQUIRE(!recording.problems().empty());
            REQUIRE(recording.dropped() > 0);
        } catch (const Error& error) {
            said = error.what();
            REQUIRE(block < 2);
        }
    }
}

TEST_CASE("what is behind the end, and what is no recording, is said") {
    const Folder folder;
    const std::string bytes = sample_recording(folder.path() / "whole.recording");
    const std::filesystem::path path = folder.path() / "other";
    const auto said = [&](const std::string& content) {
        put(path, content);
        return complaint([&] { Recording{path}; });
    };
    CHECK(contains(said("{\"json\": 1}"), "is no recording: it does not begin as one"));
    CHECK(contains(said(""), "is empty"));
    std::string other = bytes;
    other[8] = 2;
    CHECK(contains(said(other),
                   "is a recording of version 2, or damaged; this engine reads version 1"));
    CHECK(contains(complaint([&] { Recording{folder.path()}; }), "is a directory"));
    CHECK(contains(complaint([&] { Recording{folder.path() / "none"}; }), "does not exist"));
    put(path, bytes + "more");
    const Recording longer(path);
    CHECK(longer.dropped() == 4);
    CHECK(longer.problems() ==
          std::vector<std::string>{"4 bytes behind episode 3 stand behind its end"});
}
