#pragma once
#include "engine/jit/scan.h"
#include "engine/recording/recording.h"

namespace nacelle {

// The hashes of an author's files, by their names relative to the folder of the first one: what a
// recording says of the files that it was played with.
std::map<std::string, std::string> recorded_hashes(const std::vector<SourceFile>& closure);

// Where the author's file of a recording is looked for.
struct AuthorPlaces {
    // Beside the recording and the like: a file there counts only if nobody else can have written it.
    std::vector<std::filesystem::path> nearby;
    std::vector<std::filesystem::path> folders;    // of environments: what lies there counts
};

// The file of that name which, with all that it includes, is the one that was recorded: these files and
// no others, in one of the recorded versions. Throws with the reason where there is none.
std::filesystem::path find_author_file(const Recording& recording, const AuthorPlaces& places);

}
