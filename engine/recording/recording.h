#pragma once
#include "engine/recording/writer.h"

namespace nacelle {

// An open recording, readable up to its last whole episode. Each episode is unpacked when it is requested. Any thread
// may read.
class Recording final {
public:
    // Scans the file. Throws with the reason where not even its header is whole.
    explicit Recording(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    const RecordingHeader& header() const { return header_; }
    uint64_t bytes() const { return size_; }
    const std::vector<EpisodeSummary>& episodes() const { return summaries_; }
    RecordedEpisode episode(size_t index) const;
    // The size of a parameter's table, before anything is unpacked; nothing where there is none.
    std::optional<uint64_t> table_bytes(const std::string& name) const;
    std::vector<std::byte> table(const std::string& name) const;
    // The hashes of the author's files in all versions that episodes were played with; the header's version comes
    // first.
    const std::vector<std::map<std::string, std::string>>& versions() const { return versions_; }
    // Missing or damaged parts, as sentences without the name of the file; empty where the file is whole.
    const std::vector<std::string>& problems() const { return problems_; }
    // The bytes that belong to no readable block.
    uint64_t dropped() const { return dropped_; }
    // Whether the writer has marked it as complete.
    bool finished() const { return finished_; }

private:
    struct Place {
        uint64_t at;    // of the body
        BlockHead head;
    };

    void read_start();
    void read_blocks(uint64_t at);
    void take(const Place& place, const Json& about);
    void take_episode(const Place& place, const Json& about);
    void take_table(const Place& place, const Json& about);
    void drop(uint64_t bytes, const std::string& why);
    std::vector<std::byte> read(uint64_t at, size_t count) const;
    std::vector<std::byte> unpacked(const Place& place, const std::string& what) const;
    // Calls take(), which needs this many bytes. Throws where this machine lacks the memory.
    template <class Take>
    auto with_memory(uint64_t bytes, const std::string& what, Take take) const;

    std::filesystem::path path_;
    Descriptor file_;
    uint64_t size_ = 0, dropped_ = 0;
    RecordingHeader header_;
    std::vector<EpisodeSummary> summaries_;
    std::vector<Place> episodes_;
    std::map<std::string, Place> tables_;
    std::vector<std::map<std::string, std::string>> versions_;
    std::vector<std::string> problems_;
    bool finished_ = false;
};

}
