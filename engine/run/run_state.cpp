#include "engine/run/run_state.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/config/config.h"

#include <cmath>
#include <fstream>

namespace nacelle {
namespace {

std::string text_or_nothing(const std::filesystem::path& path) {
    try {
        return read_plain_file(path);
    } catch (const Error&) {
        return {};
    }
}

}

std::filesystem::path state_file_of(const std::filesystem::path& run) { return run / "state.json"; }

RunState read_run_state(const std::filesystem::path& run) {
    const Json json = try_parse_json(text_or_nothing(state_file_of(run))).value_or(Json());
    RunState state;
    if (!json.is_object()) return state;
    if (const auto found = json.find("seconds"); found != json.end() && found->is_number())
        state.seconds = found->get<double>();
    if (!(std::isfinite(state.seconds) && state.seconds >= 0)) state.seconds = 0;
    if (const auto found = json.find("failure"); found != json.end() && found->is_string())
        state.failure = found->get<std::string>();
    return state;
}

void write_run_state(const std::filesystem::path& run, const RunState& state) {
    Json json = {{"seconds", state.seconds}};
    if (!state.failure.empty()) json["failure"] = state.failure;
    const std::filesystem::path target = state_file_of(run);
    const UnfinishedFile beside(target);
    std::ofstream file(beside.path());
    file << json_text(json) << '\n';
    file.close();
    std::error_code failed;
    if (file) std::filesystem::rename(beside.path(), target, failed);
    if (file && !failed) return;
    throw Error(target.string(), "cannot be written");
}

}
