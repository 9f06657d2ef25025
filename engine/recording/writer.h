#pragma once
#include "engine/base/descriptor.h"
#include "engine/recording/episode.h"

namespace nacelle {

// Data that all environments share: a Table of Params.
struct RecordedTable {
    std::string name;    // of its parameter
    std::vector<std::byte> data;
};

// Writes a recording, one call for an episode: after a crash the file is readable up to the last one.
class RecordingWriter final {
public:
    // Throws where the file exists.
    RecordingWriter(const std::filesystem::path& path, const RecordingHeader& header,
                    const std::vector<RecordedTable>& tables);

    const std::filesystem::path& path() const { return path_; }
    const RecordingHeader& header() const { return header_; }
    uint64_t episodes() const { return episodes_; }
    void add(const RecordedEpisode& episode);
    // Later episodes are played with these files; nothing else in the header has changed.
    void add_version(const std::map<std::string, std::string>& files);
    // Marks the recording as complete and syncs it.
    void finish();

private:
    void append(std::string_view bytes);

    std::filesystem::path path_;
    RecordingHeader header_;
    Descriptor file_;
    uint64_t episodes_ = 0;
};

}
