#pragma once
#include "engine/run/checkpoint.h"

namespace nacelle {

// The JSON of a checkpoint: the record, and the file of its tensors.
struct CheckpointJson {
    CheckpointRecord record;
    std::string file;        // its name, in the JSON's folder
    uint64_t bytes = 0;      // of that file
    std::string checksum;    // of that file
};

std::string checkpoint_checksum(std::string_view bytes);
// The text of the JSON, with a checksum of its own.
std::string checkpoint_text(const CheckpointJson&);
// Throws where the file is damaged or of another format. A correct checksum does not make the content trusted: every
// value is checked.
CheckpointJson read_checkpoint_json(const std::filesystem::path&);
// The same of a text, which `path` names in messages.
CheckpointJson checkpoint_of_text(const std::string& text, const std::filesystem::path& path);

}
