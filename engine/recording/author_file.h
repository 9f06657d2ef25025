#pragma once
#include "engine/jit/author_source.h"
#include "engine/recording/recording.h"

namespace nacelle {

// The hashes of an author's files by their names relative to the folder of the first one, as a recording stores them.
std::map<std::string, std::string> recorded_hashes(const std::vector<SourceFile>& closure);

// Finds the author's file of a recording: the first file in the folders that equals a recorded version, with all its
// includes, and that no other user could have written. Throws with the reason if there is none.
std::filesystem::path find_author_file(const Recording& recording,
                                       const std::vector<std::filesystem::path>& folders);

}
