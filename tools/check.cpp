#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/check/check_in_child.h"
#include "engine/check/checks.h"
#include "engine/check/run_checks.h"
#include "engine/env/find_environment.h"
#include "engine/jit/author_source.h"
#include "engine/plugins/run_hook.h"
#include "engine/supervised/parent.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace nacelle::tools {
namespace {

struct CheckCommand {
    Options options;
    std::vector<std::string> environments;
    std::vector<std::string> only;
    double timeout = 60;
    int inside = -1;    // the channel, in the process that runs an author's code for another one
};

// Whether the file is to be checked: it has a NACELLE_ENV, or cannot be read, which a check says.
bool may_be_environment(const std::filesystem::path& file) {
    try {
        return !environment_uses(read_closure(file)).empty();
    } catch (const Error&) {
        return true;
    }
}

void say_what_lies(const std::filesystem::path& folder, const std::vector<std::string>& files) {
    std::string names;
    for (const std::string& file : files)
        names += (names.empty() ? "" : ", ") + std::filesystem::path(file).stem().string();
    std::printf("checks what lies in %s: %s\n\n", folder.c_str(), names.c_str());
}

// The files with environments of the first folder that has any. Says which folder that is, and what else lies there.
std::vector<std::string> all_environments(bool quiet) {
    std::string looked_in;
    for (const std::filesystem::path& folder : named_folders()) {
        std::vector<std::string> files;
        std::string others;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".cu") continue;
            if (const Stranger other = stranger_in(entry.path()); !other.reason.empty())
                std::cerr << printable(other.file.string() + " " + other.reason + ": " +
                                       entry.path().stem().string() + " is not checked")
                          << std::endl;
            else if (may_be_environment(entry.path())) files.push_back(entry.path());
            else others += (others.empty() ? "" : ", ") + entry.path().filename().string();
        }
        looked_in += (looked_in.empty() ? "" : ", ") + folder.string();
        if (!others.empty())
            std::cerr << printable(folder.string() + ": no NACELLE_ENV in " + others) << std::endl;
        if (files.empty()) continue;
        std::sort(files.begin(), files.end());
        if (!quiet) say_what_lies(folder, files);
        return files;
    }
    throw Error("check", "there is no environment in " + looked_in, "name one by its path");
}

// Starts this program again for one environment, in a process that an author's code may end.
std::vector<std::string> inner_command(const CheckCommand& check,
                                       const std::filesystem::path& named) {
    const Options& options = check.options;
    std::vector<std::string> command = {own_program(), "check", named.string(), "--backend",
                                        options.backend};
    if (options.seed) command.insert(command.end(), {"--seed", std::to_string(*options.seed)});
    if (!options.config.empty())
        command.insert(command.end(), {"--config", options.config.string()});
    for (const auto& folder : options.plugin_folders)
        command.insert(command.end(), {"--plugins", folder.string()});
    for (const std::string& one : options.assignments)
        command.insert(command.end(), {"--set", one});
    for (const std::string& one : options.models) command.insert(command.end(), {"--model", one});
    for (const std::string& one : check.only) command.insert(command.end(), {"--only", one});
    command.emplace_back("--inside");
    return command;
}

void check_inside(const CheckCommand& check, const Json& configuration, const std::string& where,
                  const Tell& tell) {
    Config top(configuration, where);
    const uint64_t seed = uint64_t(top.integer("seed", 1, 0, int64_t(1) << 53));
    const Json hooks = top.object("hooks").json();
    Subject subject{.settings = read_env_settings(top.object("env"), seed, env_folders()),
                    .loaded = {},
                    .backend = {.backend = check.options.backend,
                                .threads = check.options.threads,
                                .cache = {},
                                .env_folders = env_folders()}};
    Plugins plugins(plugin_folders(check.options),
                    std::make_shared<Cache>(Cache::default_directory()));
    const std::filesystem::path folder = subject.settings.source.parent_path();
    subject.loaded = [&](Environment& env) {
        for (const auto& [hook, config] : hooks.items())
            run_hook(plugins, env, hook, config, folder);
    };
    run_checks(std::move(subject), check.only, tell);
}

void run_inside(const CheckCommand& check) {
    Parent parent(check.inside);
    report_crashes(check.inside);
    const Tell tell = [&](const Json& word) { parent.say(json_text(word)); };
    try {
        with_configuration(
            quiet_where(true, sources_for(check.options, check.environments.front())),
            [&](const Json& configuration, const std::string& where) {
                check_inside(check, configuration, where, tell);
            });
    } catch (const Error& error) {
        tell({{"setting", {error.where(), error.reason(), error.instead()}}});
    }
    tell({{"done", true}});
}

// A colour on a terminal.
const char* colour(Verdict verdict, bool terminal) {
    if (!terminal) return "";
    switch (verdict) {
        case Verdict::ok: return "\033[32m";
        case Verdict::advice: return "\033[33m";
        case Verdict::skipped: return "\033[2m";
        case Verdict::refused: return "\033[31m";
    }
    return "";
}

void show(const Finding& finding, bool terminal) {
    std::string what = finding.what;
    // A compiler's message has lines of its own.
    for (size_t at = what.find('\n'); at != what.npos; at = what.find('\n', at + 1))
        what.insert(at + 1, 31, ' ');
    std::printf("  %s%-8s%s %-19s %s\n", colour(finding.verdict, terminal),
                verdict_name(finding.verdict), terminal ? "\033[0m" : "", finding.check.c_str(),
                what.c_str());
    if (!finding.remedy.empty()) std::printf("  %-8s %-19s %s\n", "", "", finding.remedy.c_str());
    std::fflush(stdout);
}

// "12 ok, 1 advice, 2 skipped"
std::string counts_text(const std::array<int, 4>& counts) {
    std::string text;
    for (size_t i = 0; i < counts.size(); ++i)
        if (counts[i])
            text += (text.empty() ? "" : ", ") + std::to_string(counts[i]) + " " +
                    verdict_name(Verdict(i));
    return text;
}

bool check_one(const CheckCommand& check, const std::string& environment) {
    const bool terminal = !check.options.json && isatty(STDOUT_FILENO);
    // A wrong name or setting is an error of the command line, not of the environment.
    const ResolvedConfiguration resolved =
        resolve_configuration(sources_for(check.options, environment));
    const std::filesystem::path author = resolved.json["env"]["source"].get<std::string>();
    const std::string name = author.stem().string();
    std::array<int, 4> counts{};
    bool begun = false;
    const bool passes =
        check_in_child({.command = inner_command(check, resolved.named),
                        .author = author,
                        .timeout = check.timeout},
                       [&](const Finding& finding) {
                           ++counts[size_t(finding.verdict)];
                           if (!check.options.json) {
                               if (!begun) std::printf("%s  (%s)\n", name.c_str(), author.c_str());
                               begun = true;
                               return show(finding, terminal);
                           }
                           Json line = as_json(finding);
                           line["environment"] = name;
                           print_json(line);
                       });
    if (check.options.json)
        print_json({{"environment", name},
                    {"passes", passes},
                    {"ok", counts[0]},
                    {"advice", counts[1]},
                    {"skipped", counts[2]},
                    {"refused", counts[3]}});
    else
        std::printf("%s%s %s%s: %s\n\n", colour(passes ? Verdict::ok : Verdict::refused, terminal),
                    name.c_str(), passes ? "passes" : "is refused", terminal ? "\033[0m" : "",
                    counts_text(counts).c_str());
    return passes;
}

void run(CheckCommand& check) {
    if (check.inside >= 0) return run_inside(check);
    const bool all = check.environments.empty();
    if (all) check.environments = all_environments(check.options.json);
    std::vector<std::string> refused;
    for (const std::string& environment : check.environments)
        if (!check_one(check, environment))
            refused.push_back(all ? std::filesystem::path(environment).stem().string()
                                  : environment);
    if (!check.options.json && check.environments.size() > 1) {
        std::printf("%zu of %zu environments pass", check.environments.size() - refused.size(),
                    check.environments.size());
        for (size_t i = 0; i < refused.size(); ++i)
            std::printf("%s%s", i ? ", " : "; refused: ", refused[i].c_str());
        std::printf("\n");
    }
    std::fflush(stdout);
    if (!refused.empty()) throw EndWith{1};
}

}

void add_check(CommandLine& line) {
    auto check = std::make_shared<CheckCommand>();
    Command command = line.add(
        "check", "Hold environments to their contract: memory, determinism, races, CPU and GPU");
    add_common_options(command, check->options);
    add_config_options(command, check->options, false);
    command.option("environments", check->environments,
                   "Names or paths; where none is given, all environments in this folder, or of "
                   "env_sources where there are none");
    command
        .option("--timeout", check->timeout,
                "Seconds after which a function that does not return is an endless loop")
        .between(0.1, 86400.0)
        .shows_default();
    std::vector<std::string> names;
    for (const Check& one : all_checks()) names.emplace_back(one.name);
    command.option("--only", check->only, "Only these checks, separated by commas")
        .list()
        .one_of(names);
    command.option("--inside", check->inside, "").hidden();
    command.run([check] { run(*check); });
}

}
