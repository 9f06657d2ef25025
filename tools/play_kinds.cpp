#include "tools/play_export.h"

namespace nacelle::tools {

const std::vector<std::string>& exported_kinds() {
    static const std::vector<std::string> kinds = {"jsonl", "csv", "npz", "png",
                                                   "gif",   "mp4", "webm"};
    return kinds;
}

std::string exported_ending(const std::filesystem::path& file) {
    const std::string ending = file.extension().string();
    for (const std::string& kind : exported_kinds())
        if (ending == "." + kind) return kind;
    return {};
}

}
