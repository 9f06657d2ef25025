#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/export/c_policy.h"
#include "engine/export/policy_file.h"
#include "engine/policy/read_policy_description.h"
#include "engine/run/directory.h"
#include "engine/run/run_summary.h"
#include "tools/checkpoint_word.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/run_curves.h"

#include <algorithm>
#include <cstdio>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

struct Export {
    std::string run, format, policy;
    fs::path out;
    bool json = false;
};

// Given by the option, else by the end of the file's name, which may not say otherwise.
const PolicyFormatName& format_of(const Export& wanted) {
    if (wanted.format.empty() && wanted.out.empty())
        throw UsageError("export: name a format, --to onnx, safetensors or c");
    const PolicyFormatName *asked = nullptr, *named = nullptr;
    for (const PolicyFormatName& one : policy_formats) {
        if (wanted.format == one.name) asked = &one;
        if (wanted.out.extension() == one.suffix) named = &one;
    }
    if (asked && named && asked != named)
        throw Error("--out",
                    "'" + wanted.out.string() + "' is a name of " + named->name + ", and --to is " +
                        asked->name,
                    "leave --to out, or name another file");
    if (asked || named) return asked ? *asked : *named;
    throw Error("--out", "'" + wanted.out.string() + "' does not say what is to be written",
                "name one of .onnx, .safetensors and .h, or --to");
}

// The run's name, and that of one of several policies.
std::string stem_of(const fs::path& path, const Checkpoint& checkpoint, const std::string& policy) {
    std::error_code ignored;
    const std::string run =
        fs::is_directory(path, ignored) ? folder_name(path) : path.stem().string();
    return policies_in(checkpoint).size() > 1 ? run + "-" + policy : run;
}

// Whether the path is that of a run's own file, or lies in one of its folders, there or not.
bool is_of_run(const fs::path& file) {
    for (fs::path part = file; part.has_relative_path(); part = part.parent_path()) {
        const fs::path folder = part.parent_path(), name = part.filename();
        for (const char* const own : {"checkpoints", "config.json", "state.json", "metrics.jsonl",
                                      "metrics.csv", "count.json", "recordings"})
            if (name == own && is_run(folder)) return true;
        if (name.string().starts_with("events.out.tfevents") && is_run(folder)) return true;
        if (holds_seeds(folder) && part == seeds_file_of(folder)) return true;
        for (const SourceVersion& version : source_versions(folder.parent_path()))
            if (version.folder == part && is_run(folder.parent_path())) return true;
    }
    return false;
}

// Whichever run it is of; a checkpoint may also lie in a folder of no run.
void require_free(const fs::path& out) {
    std::error_code ignored;
    const fs::path folder = resolved_path(fs::absolute(out).parent_path());
    if (is_of_run(folder / out.filename()))
        throw Error("--out", out.string() + " lies among a run's own files",
                    "a file in another folder");
    if (Checkpoints::is_named(out.filename()) && fs::exists(out, ignored))
        throw Error("--out", out.string() + " is part of a checkpoint", "a file of another name");
}

void run(Export& wanted) {
    const PolicyFormatName& format = format_of(wanted);
    const auto [path, checkpoint_name] = checkpoint_word(wanted.run);
    require_one_run(path);
    const Checkpoint checkpoint = checkpoint_at(path, checkpoint_name);
    const OpenedPolicy opened = open_policy(checkpoint, wanted.policy);
    const PolicyDescription& description = opened.policy->description();
    if (wanted.out.empty())
        wanted.out = stem_of(path, checkpoint, description.name) + format.suffix;
    require_free(wanted.out);
    const std::string file = exported(opened, format.format, c_name(wanted.out.stem().string()));
    write_file(wanted.out, file);
    if (wanted.json)
        return print_json({{"kind", "policy"},
                           {"out", wanted.out.string()},
                           {"format", format.name},
                           {"policy", description.name},
                           {"environment", opened.environment},
                           {"steps", opened.steps},
                           {"bytes", file.size()}});
    std::printf("'%s' of %s at step %llu, %zu bytes of %s: written to %s\n",
                printable(description.name).c_str(), printable(opened.environment).c_str(),
                static_cast<unsigned long long>(opened.steps), file.size(), format.name,
                printable(wanted.out.string()).c_str());
}

}

void add_export(CommandLine& line) {
    auto wanted = std::make_shared<Export>();
    Command command =
        line.add("export", "Write a trained policy as a file for others: ONNX, safetensors, C");
    command
        .option("run", wanted->run,
                "Directory of a run (its best checkpoint), RUN@latest, RUN@STEPS, or a "
                "checkpoint's .json")
        .required();
    command
        .option("--to", wanted->format,
                "onnx, safetensors or c; else what the name of --out ends with")
        .one_of({"onnx", "safetensors", "c"});
    command.option("--out", wanted->out,
                   "The file; RUN.onnx, RUN.safetensors or RUN.h here where none is named");
    command.option("--policy", wanted->policy, "One of a team's policies by its name");
    command.flag("--json", wanted->json, "One JSON object, nothing else on standard output");
    command.run([wanted] { run(*wanted); });
}

}
