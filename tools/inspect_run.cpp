#include "tools/inspect_run.h"

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/run/directory.h"
#include "engine/run/run_diagnosis.h"
#include "tools/inspect_pool.h"
#include "tools/learner_text.h"
#include "tools/units.h"

#include <cstdio>
#include <map>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

Json describe_checkpoint(const fs::path& path) {
    Json one = {{"file", path.filename().string()}};
    try {
        const Checkpoint checkpoint = Checkpoints::read(path);
        const CheckpointRecord& record = checkpoint.record;
        one["whole"] = true;
        one["steps"] = record.steps;
        one["iteration"] = record.iteration;
        one["bytes"] = checkpoint.file->size();
        one["environment"] = record.environment;
        one["evaluation"] = record.evaluation ? Json(record.evaluation->mean_return) : Json();
        for (const Tensor& tensor : checkpoint.tensors)
            one["tensors"].push_back({{"name", tensor.name}, {"form", tensor.form()}});
        const Json pools = describe_pools(checkpoint);
        if (!pools.empty()) one["pools"] = pools;
    } catch (const Error& wrong) {
        one["whole"] = false;
        one["reason"] = wrong.what();
    }
    return one;
}

Json describe_files(const fs::path& run) {
    Json files = Json::array();
    std::map<std::string, uint64_t> found;
    for (const auto& entry : fs::directory_iterator(run))
        if (entry.is_regular_file()) found[entry.path().filename()] = entry.file_size();
    for (const auto& [name, bytes] : found) files.push_back({{"name", name}, {"bytes", bytes}});
    return files;
}

std::string text_of(const Json& value) {
    return printable(value.is_string() ? value.get<std::string>() : json_text(value));
}

void print_checkpoint(const Json& one) {
    if (!one["whole"].get<bool>()) {
        std::printf("  %-28s %s\n", text_of(one["file"]).c_str(), text_of(one["reason"]).c_str());
        return;
    }
    std::printf("  %-28s %12s bytes  step %s", text_of(one["file"]).c_str(),
                text_of(one["bytes"]).c_str(), text_of(one["steps"]).c_str());
    if (!one["evaluation"].is_null())
        std::printf("  policy %s", return_text(one["evaluation"].get<double>()).c_str());
    std::printf("\n");
}

}

Json describe_run(const fs::path& run) {
    const Json configuration = run_configuration(run);
    const Checkpoints checkpoints(run / "checkpoints");
    Json all = {{"run", run.string()},          {"configuration", configuration},
                {"checkpoints", Json::array()}, {"best", nullptr},
                {"sources", Json::array()},     {"files", describe_files(run)}};
    for (const CheckpointFile& one : checkpoints.list())
        all["checkpoints"].push_back(describe_checkpoint(one.path));
    if (fs::exists(checkpoints.best())) all["best"] = describe_checkpoint(checkpoints.best());
    for (const SourceVersion& version : source_versions(run))
        all["sources"].push_back({{"step", version.step}, {"folder", version.folder.string()}});
    for (const Suspicion& one : suspicions_in(run, configuration))
        all["suspicious"].push_back({{"what", one.what}, {"try", one.remedy}});
    if (fs::exists(run / "count.json")) all["count"] = load_json(run / "count.json");
    return all;
}

void print_run(const Json& all) {
    const Json& its = all["configuration"];
    const auto setting = [&](const char* path) {
        const Json::json_pointer place(path);
        return its.contains(place) ? text_of(its[place]) : std::string("?");
    };
    std::printf("%s: a run of %s with %s\n", text_of(all["run"]).c_str(),
                setting("/env/source").c_str(), printable(learner_text(its)).c_str());
    const bool several = its.contains(Json::json_pointer("/run/ranks"));
    std::printf("%s environments%s, seed %s, %s steps in all\n", setting("/env/count").c_str(),
                several ? (" on each of " + setting("/run/ranks") + " ranks").c_str() : "",
                setting("/seed").c_str(), setting("/run/total_steps").c_str());
    if (const Json::json_pointer trials("/count/trials"), reason("/count/reason");
        all.contains(trials) && all.contains(reason))
        std::printf("that number was found by %zu trials: %s (count.json)\n", all[trials].size(),
                    text_of(all[reason]).c_str());
    if (all.contains("suspicious"))
        for (const Json& one : all["suspicious"])
            std::printf("%s\n", printable(suspicion_text({one["what"], one["try"]})).c_str());
    std::printf("\ncheckpoints%s\n", all["checkpoints"].empty() ? ": none yet" : "");
    for (const Json& one : all["checkpoints"]) print_checkpoint(one);
    if (!all["best"].is_null()) print_checkpoint(all["best"]);
    for (const Json& one : all["checkpoints"]) {
        if (!one["whole"].get<bool>()) continue;
        std::printf("\narrays of the newest whole one\n");
        for (const Json& tensor : one["tensors"])
            std::printf("  %-28s %s\n", text_of(tensor["name"]).c_str(),
                        text_of(tensor["form"]).c_str());
        if (one.contains("pools")) print_pools(one["pools"]);
        break;
    }
    std::printf("\nsource\n");
    for (const Json& version : all["sources"])
        std::printf("  from step %-18s %s\n", text_of(version["step"]).c_str(),
                    text_of(version["folder"]).c_str());
    std::printf("\nfiles\n");
    for (const Json& file : all["files"])
        std::printf("  %-28s %12s bytes\n", text_of(file["name"]).c_str(),
                    text_of(file["bytes"]).c_str());
}

}
