#pragma once
#include "engine/base/descriptor.h"
#include "engine/run/author_files.h"
#include "engine/run/checkpoint.h"

namespace nacelle {

// A run's directory:
//
//     config.json          all settings, every default written out; what makes it a run's directory
//     source/STEP/         the author's files as they were compiled from that step on
//     checkpoints/         see Checkpoints
//     metrics.jsonl, ...   the sinks' files
class RunDirectory final {
public:
    // Makes the directory, or takes over one that is there and holds no run. One process at a time: another
    // is refused. So is a file that a run of these files of the author's would have to write over.
    static RunDirectory create(const std::filesystem::path& path,
                               const std::vector<SourceFile>& files);
    // Makes the first of stem-1, stem-2, ... that is not there.
    static RunDirectory create_next(const std::filesystem::path& stem);
    // One that holds a run.
    static RunDirectory open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    Checkpoints checkpoints() const { return Checkpoints(path_ / "checkpoints"); }
    void write_configuration(const Json& configuration) const;
    // Keeps a version of the author's files, unless the last one that is kept of the steps up to this one is
    // the same.
    void keep_source(uint64_t step, const std::vector<SourceFile>& files) const;

private:
    explicit RunDirectory(std::filesystem::path path);

    std::filesystem::path path_;
    Descriptor lock_;
};

bool holds_run(const std::filesystem::path& path);
// Throws, with what there is instead, where it does.
void require_no_run(const std::filesystem::path& path);
// The configuration of a run's directory. Throws where it holds none.
Json run_configuration(const std::filesystem::path& path);

// A version of the source that a run's directory keeps.
struct SourceVersion {
    uint64_t step = 0;
    std::filesystem::path folder;
};
// By step, the first one first.
std::vector<SourceVersion> source_versions(const std::filesystem::path& run);

}
