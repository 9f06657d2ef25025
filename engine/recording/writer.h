#pragma once
#include "engine/base/descriptor.h"
#include "engine/recording/episode.h"

namespace nacelle {

// Data that all environments share: a Table of Params.
struct RecordedTable {
    std::string name;    // of its parameter
    std::vector<std::byte> data;
};

// Writes a recording, an episode with one call: what a crash leaves is whole up to the last of them.
class RecordingWriter final {
public:
    // Throws where there is a file of that name already.
    RecordingWriter(const std::filesystem::path& path, const RecordingHeader& header,
                    const std::vector<RecordedTable>& tables);

    const std::filesystem::path& path() const { return path_; }
    const RecordingHeader& header() const { return header_; }
    uint64_t episodes() const { return episodes_; }
    void add(const RecordedEpisode& episode);
    // From here on episodes are played with these files; nothing else in the header has changed.
    void add_version(const std::map<std::string, std::string>& files);
    // Notes that nothing more comes, and puts all on the disk.
    void finish();

private:
    void append(std::string_view bytes);

    std::filesystem::path path_;
    RecordingHeader header_;
    Descriptor file_;
    uint64_t episodes_ = 0;
};

}
