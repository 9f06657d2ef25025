#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace nacelle {

// What a checkpoint keeps of the author's files.
struct FileHashes {
    nlohmann::json files = nlohmann::json::object();    // the hash of each, by its name
    // Of those that are tables, by parameter: the file, and hashes of its path as it was written and of its data. Null
    // where an earlier version did not tell.
    nlohmann::json tables = nullptr;
};
// The name of the first file that has changed; empty where none has. A table that is read from another path has not: who
// names that path means its data.
std::string first_difference(const FileHashes& then, const FileHashes& now);

}
