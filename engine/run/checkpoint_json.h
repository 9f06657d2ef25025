#pragma once
#include "engine/run/checkpoint.h"

namespace nacelle {

// What a checkpoint's JSON says: the record, and which file holds the tensors.
struct CheckpointJson {
    CheckpointRecord record;
    std::string file;        // its name, in the JSON's folder
    uint64_t bytes = 0;      // of that file
    std::string checksum;    // of that file
};

std::string checkpoint_checksum(std::string_view bytes);
// The JSON's text, with a checksum of its own.
std::string checkpoint_text(const CheckpointJson&);
// Throws where the file is damaged or of another format. A checksum that fits proves nothing about who
// wrote the rest: every value is looked at.
CheckpointJson read_checkpoint_json(const std::filesystem::path&);

}
