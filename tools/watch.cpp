#include "engine/base/error.h"
#include "tools/commands.h"
#include "tools/interrupt.h"
#include "tools/output.h"
#include "tools/watch_inside.h"
#include "tools/watch_lines.h"
#include "tools/watch_terminal.h"

#include <cerrno>
#include <unistd.h>

namespace nacelle::tools {
namespace {

// The files that a save makes anew what has ended: tables, and settings where no run has them.
std::vector<std::filesystem::path> data_files(const Watch& watch, const EnvSettings& settings) {
    std::vector<std::filesystem::path> files;
    if (watch.policy.empty()) files = settings_files(watch, settings.source);
    for (const auto& [name, file] : table_files(settings.params, settings.source))
        files.push_back(file);
    return files;
}

// The path of the recording, checked on the command line. A process that is started anew takes the next free name.
void choose_recording(Watch& watch, const EnvSettings& settings, const std::string& name) {
    watch.settings.record = watch.record.settings(settings.count);
    std::filesystem::path& to = watch.record.to;
    if (to.empty()) to = free_path(name + ".recording");
    if (std::filesystem::exists(to))
        throw Error(to.string(), "is there already", "a recording overwrites nothing");
    const std::filesystem::path folder = std::filesystem::absolute(to).parent_path();
    std::error_code wrong;
    std::filesystem::create_directories(folder, wrong);
    if (wrong || ::access(folder.c_str(), W_OK) != 0)
        throw Error(
            to.string(),
            "cannot be written: " +
                (wrong ? wrong : std::error_code(errno, std::generic_category())).message());
}

// The commands of the command line, in the form of a page's.
std::vector<std::string> first_commands(const Watch& watch) {
    std::vector<Json> commands = {{{"do", "pace"}, {"value", watch.settings.pace}},
                                  {{"do", "env"}, {"value", watch.which}},
                                  {{"do", "agent"}, {"value", watch.agent}}};
    if (!watch.arrays.empty()) commands.push_back({{"do", "arrays"}, {"value", watch.arrays}});
    if (watch.settings.paused) commands.push_back({{"do", "pause"}});
    std::vector<std::string> lines;
    for (const Json& command : commands) lines.push_back(json_text(command));
    return lines;
}

bool on_terminal(const Watch& watch) {
    return !watch.options.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

void show_until_over(const Watch& watch, Sections& sections, WatchedProcess& process,
                     const std::string& title, RecordedFiles& recorded) {
    if (on_terminal(watch)) {
        WatchTerminal terminal(sections, process, title);
        while (!process.over() && !interrupted() && terminal.turn()) recorded.look(sections);
        return;
    }
    WatchLines lines(sections, watch.options.json);
    // A closed pipe ends it, unless there is a page.
    while (!process.over() && !interrupted() && (watch.web.web || !output_failed())) {
        lines.turn();
        recorded.look(sections);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    lines.turn();
    lines.prints();
    lines.status();
}

// Returns whether it failed. The process has ended then.
bool watch_until_over(const Watch& watch, const EnvSettings& settings, Sections& sections,
                      RecordedFiles& recorded) {
    WatchedProcess process(sections, {.command = inner_command(watch),
                                      .author = settings.source,
                                      .data = data_files(watch, settings),
                                      .timeout = watch.timeout,
                                      .waits = watch.settings.steps == 0,
                                      .first_commands = first_commands(watch)});
    const std::unique_ptr<WebServer> page = open_page(
        watch.web, sections, [&] { process.look(); },
        [&](const std::string& said) { process.send(said); }, watch.options.json);
    show_until_over(watch, sections, process, page ? "the page: " + page->address() : "", recorded);
    return !process.failure().empty() && !interrupted();
}

void run(Watch& watch) {
    if (watch.inside >= 0) return run_inside(watch);
    // A wrong name or setting is an error of the command line that no save repairs. The device for a policy is chosen
    // by the other process.
    EnvSettings settings;
    const ResolvedConfiguration resolved = configuration_of(watch, true);
    with_configuration(resolved, [&](const Json& configuration, const std::string& where) {
        Config top(configuration, where);
        settings = read_env_settings(top.object("env"), 1, env_folders());
    });
    const std::string name = name_of(watch.environment, resolved.json);
    watch.environment = resolved.named.string();    // the other process takes the same file
    require_environment("--env", watch.which, settings.count);
    if (!watch.web.web && !on_terminal(watch) &&
        (watch.which || watch.agent || !watch.arrays.empty()))
        throw Error("--env, --agent and --arrays",
                    "are of what is shown, and lines show none of it",
                    "a terminal without --json, or --web");
    if (watch.record.wanted()) choose_recording(watch, settings, name);
    listen_for_signals();

    Sections sections;
    RecordedFiles recorded;
    const bool failed = watch_until_over(watch, settings, sections, recorded);
    recorded.look(sections);    // what was written at the very end, too
    recorded.tell(watch.options.json);
    if (failed) throw EndWith{1};
}

}

void add_watch(CommandLine& line) {
    auto watch = std::make_shared<Watch>();
    Command command = line.add(
        "watch", "Step an environment while its file is worked on: what it does, and every save");
    add_common_options(command, watch->options);
    add_config_options(command, watch->options, false);
    command.option("environment", watch->environment, env_help).required();
    command.option("--steps", watch->settings.steps, "End after so many steps; 0: never")
        .between(uint64_t(0), uint64_t(1) << 53)
        .shows_default();
    command.option("--pace", watch->settings.pace, "Steps a second; 0: as many as can be")
        .between(0.0, 1e6)
        .shows_default();
    command.flag("--paused", watch->settings.paused, "Begin without stepping");
    const Option count = command.option("--count", watch->count, "Environments that are stepped")
                             .between(1u, most_envs)
                             .shows_default();
    command.option("--env", watch->which, "Which of them is shown").shows_default();
    command.option("--agent", watch->agent, "Which of its agents' arrays are shown")
        .shows_default();
    command.option("--arrays", watch->arrays, "Which arrays are shown, separated by commas").list();
    Option policy =
        command.option("--policy", watch->policy,
                       "Directory of a run whose best policy acts, with that run's settings; "
                       "else actions are random");
    // A policy acts as in its run, with the same number of environments.
    policy.excludes(count).excludes(command.known("--config"));
    command
        .flag("--sampled", watch->settings.sampled,
              "Draw the policy's actions as training does; else the most likely ones")
        .needs(policy);
    command
        .option("--timeout", watch->timeout,
                "Seconds after which a step that does not return is an endless loop")
        .between(0.5, 86400.0)
        .shows_default();
    add_web_options(command, watch->web);
    add_record_options(command, watch->record, "every episode", "NAME.recording here");
    command.option("--inside", watch->inside, "").hidden();
    command.run([watch] { run(*watch); });
}

}
