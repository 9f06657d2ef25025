#pragma once
#include "engine/jit/author_source.h"
#include "engine/recording/recording.h"

namespace nacelle {

// The hashes of an author's files by their names relative to the folder of the first one, as a recording stores them.
std::map<std::string, std::string> recorded_hashes(const std::vector<SourceFile>& closure);

// Where to search for the author's file of a recording.
struct AuthorPlaces {
    // The folder of the recording and the like: a file there is used only if nobody else can have written it.
    std::vector<std::filesystem::path> nearby;
    std::vector<std::filesystem::path> folders;    // of environments, which are trusted
};

// Finds the file of that name which, together with all that it includes, equals one of the recorded versions. Throws
// with the reason where there is none.
std::filesystem::path find_author_file(const Recording& recording, const AuthorPlaces& places);

}
