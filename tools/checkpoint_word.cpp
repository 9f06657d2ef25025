#include "tools/checkpoint_word.h"

namespace nacelle::tools {

CheckpointWord checkpoint_word(const std::string& word) {
    std::error_code ignored;
    const size_t at = word.rfind('@');
    if (at == std::string::npos || std::filesystem::exists(word, ignored)) return {.path = word};
    return {.path = word.substr(0, at), .checkpoint = word.substr(at + 1)};
}

}
