#pragma once
#include "engine/run/author_files.h"
#include "engine/run/checkpoint.h"
#include "engine/run/locked_directory.h"

namespace nacelle {

// A run's directory:
//
//     config.json          all settings, every default written out; what makes it a run's directory
//     source/STEP/         the author's files as they were compiled from that step on
//     checkpoints/         see Checkpoints
//     state.json           see RunState
//     metrics.jsonl, ...   the sinks' files
class RunDirectory final {
public:
    // Creates the directory, or takes an existing one without a run. Refuses a directory that another process uses,
    // and one with a file that a run of these author's files would overwrite.
    static RunDirectory create(const std::filesystem::path& path,
                               const std::vector<SourceFile>& files);
    // Creates the first of stem-1, stem-2, ... that does not exist.
    static RunDirectory create_next(const std::filesystem::path& stem);
    // Opens the directory of an existing run.
    static RunDirectory open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    Checkpoints checkpoints() const { return Checkpoints(held() / "checkpoints", synced_); }
    // The path, for a write. Throws if the path or `checkpoints` leads to another directory than at first: a user with the
    // right to write a folder above could put another run's directory there.
    const std::filesystem::path& held() const;
    // Whether what is written from now on is on the disk when it is there.
    void sync(bool synced) { synced_ = synced; }
    // Removes the directory and its content if this object created it.
    void discard() const;
    void write_configuration(const Json& configuration) const;
    // Stores a version of the author's files, unless the last version stored up to this step is equal.
    void keep_source(uint64_t step, const std::vector<SourceFile>& files) const;

private:
    explicit RunDirectory(LockedDirectory locked);
    static RunDirectory create(LockedDirectory locked, const std::vector<SourceFile>& files);
    void make_checkpoints();

    std::filesystem::path path_;
    Descriptor lock_, checkpoints_;
    bool made_ = false, synced_ = true;
};

// Creates a directory and its parents; whether it did not exist.
bool make_directory(const std::filesystem::path& path);
bool holds_run(const std::filesystem::path& path);
// The file that makes a folder a SeedsFolder, and whether it is there.
std::filesystem::path seeds_file_of(const std::filesystem::path& path);
bool holds_seeds(const std::filesystem::path& path);
// Throws, with the alternatives, where it holds a run.
void require_no_run(const std::filesystem::path& path);
// Refuses a folder with links to the outside, with pipes, or with folders of another user.
void require_own_folder(const std::filesystem::path& run);
// Throws, with what to name instead, where it holds the runs of several seeds.
void require_one_run(const std::filesystem::path& path);
// The configuration in a run's directory. Throws where there is none.
Json run_configuration(const std::filesystem::path& path);

// A version of the source in a run's directory.
struct SourceVersion {
    uint64_t step = 0;
    std::filesystem::path folder;
};
// In the order of steps.
std::vector<SourceVersion> source_versions(const std::filesystem::path& run);

}
