#include "engine/base/error.h"
#include "engine/check/inside.h"
#include "engine/run/directory.h"
#include "engine/watch/session.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/watch_terminal.h"
#include "tools/web.h"

#include <csignal>
#include <iostream>

#include <unistd.h>

namespace nacelle::tools {
namespace {

struct Watch {
    Options options;
    WebOptions web;
    WatchSettings settings;
    std::string environment;
    std::filesystem::path policy;
    std::vector<std::string> arrays;
    uint32_t count = 16, which = 0, agent = 0;
    double timeout = 10;
    int inside = -1;    // the descriptor of what is asked for, in the process that steps
};

volatile std::sig_atomic_t interrupted = 0;

// Where a policy acts all is as in its run, but for the environment's file.
Json configuration_of(const Watch& watch, std::string& where) {
    Json configuration =
        resolve_configuration(sources_for(watch.options, watch.environment), where);
    if (watch.policy.empty()) {
        configuration["env"]["count"] = watch.count;
        return configuration;
    }
    where = (watch.policy / "config.json").string();
    Json its = run_configuration(watch.policy);
    its["env"]["source"] = configuration["env"]["source"];
    for (const std::string& assignment : watch.options.assignments) set_path(its, assignment);
    if (watch.options.seed) its["seed"] = *watch.options.seed;
    return its;
}

Checkpoint best_of(const std::filesystem::path& run, const Log& log) {
    const Checkpoints checkpoints(run / "checkpoints");
    if (std::filesystem::exists(checkpoints.best())) return Checkpoints::read(checkpoints.best());
    auto newest = checkpoints.newest(
        [&](const std::string& why) { log.warn(why + "; an earlier checkpoint is taken"); });
    if (!newest) throw Error(run.string(), "has no checkpoint yet");
    return std::move(*newest);
}

void step_inside(const Watch& watch, const std::shared_ptr<LineViewer>& viewer) {
    std::string where;
    const Json configuration = configuration_of(watch, where);
    const std::shared_ptr<RunsOn> on = open_for(watch.options);
    Plugins plugins(plugin_folders(watch.options), on->cache, on->log);
    std::shared_ptr<Environment> env = load_environment(on, plugins, configuration, where);
    std::unique_ptr<Trainee> trainee;
    std::string policy = "random";
    if (!watch.policy.empty()) {
        trainee = std::make_unique<Trainee>(env, plugins, configuration, where);
        const Checkpoint checkpoint = best_of(watch.policy, on->log);
        trainee->load(checkpoint, true);
        policy = watch.policy.string() + " at step " + std::to_string(checkpoint.record.steps);
    }
    WatchSession(env, std::move(trainee), viewer, watch.settings, policy).run();
}

// This process runs an author's code for another one, which tells what has become of it.
void run_inside(const Watch& watch) {
    report_crashes();
    ::signal(SIGPIPE, SIG_IGN);
    const auto viewer = std::make_shared<LineViewer>(watch.inside);
    viewer->show("pid", std::to_string(::getpid()));
    try {
        step_inside(watch, viewer);
    } catch (const std::exception& wrong) {
        viewer->show("broken",
                     Json(wrong.what()).dump(-1, ' ', false, Json::error_handler_t::replace));
        throw CLI::RuntimeError(3);
    }
}

std::vector<std::string> inner_command(const Watch& watch) {
    const Options& options = watch.options;
    std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                        "watch",
                                        watch.environment,
                                        "--backend",
                                        options.backend,
                                        "--threads",
                                        std::to_string(options.threads),
                                        "--count",
                                        std::to_string(watch.count),
                                        "--steps",
                                        std::to_string(watch.settings.steps)};
    const auto add = [&](const char* name, const std::string& value) {
        command.insert(command.end(), {name, value});
    };
    if (options.seed) add("--seed", std::to_string(*options.seed));
    if (!options.config.empty()) add("--config", options.config.string());
    for (const auto& folder : options.plugin_folders) add("--plugins", folder.string());
    for (const std::string& one : options.assignments) add("--set", one);
    if (!watch.policy.empty()) add("--policy", watch.policy.string());
    if (watch.settings.sampled) command.emplace_back("--sampled");
    command.emplace_back("--inside");
    return command;
}

// What the command line chooses, as a page would ask for it.
std::vector<std::string> first_wishes(const Watch& watch) {
    std::vector<Json> wishes = {{{"do", "pace"}, {"value", watch.settings.pace}},
                                {{"do", "env"}, {"value", watch.which}},
                                {{"do", "agent"}, {"value", watch.agent}}};
    if (!watch.arrays.empty()) wishes.push_back({{"do", "arrays"}, {"value", watch.arrays}});
    if (watch.settings.paused) wishes.push_back({{"do", "pause"}});
    std::vector<std::string> lines;
    for (const Json& wish : wishes) lines.push_back(wish.dump());
    return lines;
}

// A line for each reload and problem, and once a second where it stands.
class WatchLines final {
public:
    WatchLines(Board& board, bool json) : board_(board), json_(json) {}
    void turn() {
        const std::string news = board_.section("news");
        if (news != news_ && news != "null") {
            news_ = news;
            const std::string words = news_words(board_);
            if (json_) say("news", news);
            else if (!words.empty()) std::cout << words << std::endl;
        }
        const auto now = std::chrono::steady_clock::now();
        if (now - said_ < std::chrono::seconds(1)) return;
        said_ = now;
        status();
    }
    void status() {
        const std::string text = board_.section("status");
        if (text == "null" || text == status_) return;
        status_ = text;
        if (json_) say("status", text);
        else std::cout << status_words(board_) << std::endl;
    }

private:
    static void say(const char* kind, const std::string& section) {
        Json line = Json::parse(section);
        line["kind"] = kind;
        std::cout << line << std::endl;
    }

    Board& board_;
    bool json_;
    std::string news_, status_;
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

void show_until_over(const Watch& watch, Board& board, WatchedProcess& process,
                     const std::string& title) {
    if (!watch.options.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        WatchTerminal terminal(board, process, title);
        while (!process.over() && !interrupted && terminal.turn())
            ;
        return;
    }
    WatchLines lines(board, watch.options.json);
    while (!process.over() && !interrupted) {
        lines.turn();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    lines.turn();
    lines.status();
}

void run(Watch& watch) {
    if (watch.inside >= 0) return run_inside(watch);
    std::string where;
    // A wrong name or setting is a mistake of the command line, and no save mends it.
    const Json configuration = configuration_of(watch, where);
    if (!watch.policy.empty() && !holds_run(watch.policy)) run_configuration(watch.policy);
    Config top(configuration, where);
    const EnvSettings settings = read_env_settings(top.object("env"), 1, env_folders());
    if (watch.which >= settings.count)
        throw Error("--env", "there is no environment " + std::to_string(watch.which),
                    "there are 0 to " + std::to_string(settings.count - 1));
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);

    Board board;
    WatchedProcess process(board, {.command = inner_command(watch),
                                   .author = settings.source,
                                   .timeout = watch.timeout,
                                   .waits = watch.settings.steps == 0,
                                   .wishes = first_wishes(watch)});
    const std::unique_ptr<WebServer> page = open_page(
        watch.web, board, [&] { process.look(); },
        [&](const std::string& said) { process.send(said); }, watch.options.json);
    show_until_over(watch, board, process, page ? "the page: " + page->address() : "");
    if (!process.failure().empty() && !interrupted) throw CLI::RuntimeError(1);
}

}

void add_watch(CLI::App& app) {
    auto watch = std::make_shared<Watch>();
    CLI::App* const command = app.add_subcommand(
        "watch", "Step an environment while its file is worked on: what it does, and every save");
    add_common_options(*command, watch->options);
    add_config_options(*command, watch->options, false);
    command
        ->add_option("environment", watch->environment, "A name in env_sources or a path to a .cu")
        ->required();
    command->add_option("--steps", watch->settings.steps, "End after so many steps; 0: never")
        ->check(CLI::Range(uint64_t(0), uint64_t(1) << 53))
        ->capture_default_str();
    command->add_option("--pace", watch->settings.pace, "Steps a second; 0: as many as can be")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    command->add_flag("--paused", watch->settings.paused, "Begin without stepping");
    command->add_option("--count", watch->count, "Environments that are stepped")
        ->check(CLI::Range(1u, most_envs))
        ->capture_default_str();
    command->add_option("--env", watch->which, "Which of them is shown")->capture_default_str();
    command->add_option("--agent", watch->agent, "Which of its agents' arrays are shown")
        ->capture_default_str();
    command->add_option("--arrays", watch->arrays, "Which arrays are shown, separated by commas")
        ->delimiter(',');
    CLI::Option* const policy =
        command->add_option("--policy", watch->policy,
                            "Directory of a run whose best policy acts, with that run's settings; "
                            "else actions are random");
    command
        ->add_flag("--sampled", watch->settings.sampled,
                   "Draw the policy's actions as training does; else the most likely ones")
        ->needs(policy);
    command
        ->add_option("--timeout", watch->timeout,
                     "Seconds after which a step that does not return is an endless loop")
        ->check(CLI::Range(0.5, 86400.0))
        ->capture_default_str();
    add_web_options(*command, watch->web);
    command->add_option("--inside", watch->inside)->group("");
    command->callback([watch] { run(*watch); });
}

}
