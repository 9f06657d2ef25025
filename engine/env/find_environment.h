#pragma once
#include "engine/jit/author_source.h"

#include <filesystem>
#include <string>
#include <vector>

namespace nacelle {

// Whether an environment is named by a path.
bool is_path(const std::string& name);
// Finds "cartpole" in the first folder that has it, or takes a path to a .cu. Throws with the folders and the
// nearest name, of settings too where those may be named in its place. Throws if other users could have written a file
// that only a name was given for.
std::filesystem::path find_environment(const std::string& name,
                                       const std::vector<std::filesystem::path>& folders,
                                       bool or_settings = false);

// Whether the file is settings that say which environment they are for, and may be named in its place.
bool says_environment(const std::filesystem::path& file);

// A file that other users could have written, and the words that say so.
struct Stranger {
    std::filesystem::path file;
    std::string reason;    // empty: there is none
};
// Looks at files, an environment's own first. Environments that ship with the program are trusted as the program is.
Stranger stranger_among(const std::vector<SourceFile>& files);
// The same for the file of a name and the files that an environment includes.
Stranger stranger_in(const std::filesystem::path& named);
// The reason not to compile a saved version of a source that was closed to other users at first; empty: there is none.
// True if nobody else could write a file beside an environment, or only those who could write the environment, too.
bool is_as_open(const std::filesystem::path& beside, const std::filesystem::path& environment);
std::string refused_version(const std::vector<SourceFile>& files);
// Throws if there is a stranger.
void require_no_stranger(const std::filesystem::path& named);

// All files of this name in the folders, in their order; a path names none.
std::vector<std::filesystem::path> files_of_name(const std::string& name,
                                                 const std::vector<std::filesystem::path>& folders);

// The files of settings that the name stands for: a path to a .json; or every NAME.json of the folders that says whose
// it is, in their order, where no environment in the same or an earlier folder has the name. Where nothing else has
// the name, those too that do not say whose they are.
std::vector<std::filesystem::path>
settings_of_name(const std::string& name, const std::vector<std::filesystem::path>& folders);

}
