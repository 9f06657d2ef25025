#include "tools/training.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/number_text.h"
#include "engine/base/seconds_since.h"
#include "engine/base/text.h"
#include "engine/run/settings.h"
#include "engine/watch/local_viewer.h"
#include "engine/watch/training_view.h"
#include "tools/count_trials.h"
#include "tools/crash_watch.h"
#include "tools/interrupt.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/rank_watch.h"
#include "tools/ranks.h"
#include "tools/terminal_line.h"
#include "tools/training_result.h"

#include <cstdio>
#include <iostream>
#include <nacelle/plugin/failure_text.h>
#include <unistd.h>

namespace nacelle::tools {
namespace {

bool asked_to_stop() { return interrupted() || output_failed(); }

// The page of --web, if it was asked for.
class Page final {
public:
    Page(const WebOptions& options, TrainingRun& run, bool json) {
        if (!options.web) return;
        viewer_ = std::make_shared<LocalViewer>(sections_);
        view_ = std::make_unique<TrainingView>(run, viewer_, asked_to_stop);
        server_ = open_page(
            options, sections_, [this] { viewer_->look(); },
            [this](const std::string& said) { viewer_->ask(said); }, json);
    }
    void progressed() {
        if (view_) view_->progressed();
    }
    void reloaded(const RunReload& reload) {
        if (view_) view_->reloaded(reload);
    }

private:
    Sections sections_;
    std::shared_ptr<LocalViewer> viewer_;
    std::unique_ptr<TrainingView> view_;
    std::unique_ptr<WebServer> server_;
};

// What a crash leaves of a run. The source has changed when it goes on: its mistake was mended.
std::string left_of(const TrainingRun& run) {
    const std::string out = run.out().string();
    if (!run.saved()) return out + ": no checkpoint was saved yet";
    return out + ": the checkpoint of step " + std::to_string(*run.saved()) +
           " is whole; 'nacelle resume " + shell_word(out) +
           " --changed-source' goes on from it once the file is mended";
}

// What plugins tell is shown as well, such as how large a replay will be.
Log telling(const Log& log) {
    return Log([log](LogLevel level, const std::string& text) {
        if (level == LogLevel::info) std::cout << printable(text) << std::endl;
        else log.write(level, text);
    });
}

}

void add_training_options(Command command, Training& training) {
    command.flag("--quiet", training.quiet, "Say what came out, and nothing before");
    command.option("--episodes", training.episodes, "Episodes of the evaluation at the end")
        .between(1, 1000000)
        .shows_default();
    command
        .option("--until", training.until,
                "Pause after so many steps, with a checkpoint; 'resume' goes on")
        .between(uint64_t(1), uint64_t(1) << 53);
    command
        .option("--ranks", training.ranks,
                "Train by so many processes on this machine, each on a GPU of its own where there "
                "are GPUs; "
                "torchrun, srun and mpirun start them on several machines")
        .between(uint32_t(1), uint32_t(1024));
    add_record_options(command, training.record, "the first episode of every evaluation",
                       "RUN/recordings/step-N.recording");
    add_web_options(command, training.web);
}

namespace {

// Of several ranks the first one writes and shows; all train.
void train_on(const std::shared_ptr<RunsOn>& on, Plugins& plugins, CrashWatch& crash,
              const RankPlace& place, Training& training, Json configuration,
              const std::string& where, const RunStart& start) {
    const bool json = training.options.json, lines = json && !training.quiet,
               shown = !json && !training.quiet;
    RunTimes times{.opened = seconds_since(training.start)};
    const std::optional<ChosenCount> chosen =
        find_count(on, plugins, configuration, where, json, training.quiet);
    const auto loading = std::chrono::steady_clock::now();
    RunStart watching = start;
    watching.watch = true;
    watching.until = training.until;
    if (training.record.wanted()) {
        watching.record = training.record.settings();
        watching.record_to = training.record.to;
    }
    TrainingRun run(begin_environment(on, plugins, configuration, where), plugins, configuration,
                    where, watching);
    times.loaded = seconds_since(loading);
    if (chosen && !run.out().empty())
        write_file(run.out() / "count.json", json_text(count_json(*chosen)) + "\n");
    crash.add(left_of(run));
    listen_for_signals(place.ranks > 1,
                       place.rank > 0 ? ""
                                      : waits_for_iteration(run.environment().settings().source));
    // A closed pipe ends the run like Ctrl-C, with a checkpoint.
    run.stop_when(asked_to_stop);
    Page page(training.web, run, json);
    TerminalLine line(shown,
                      run.environment().name() + " on " + (on->cuda() ? "the GPU" : "the CPU") +
                          " (" + on->why + "), " +
                          (place.ranks > 1 ? std::to_string(place.ranks) + " ranks of " : "") +
                          counted(run.environment().count(), "environment"));
    run.on_reload([&](const RunReload& reload) {
        line.end();
        page.reloaded(reload);
        if (lines) print_json(reload_json(reload));
        // The reason is printed even with --quiet.
        if (!reload.taken) std::cerr << printable(reload.text) << std::endl;
        else if (shown) std::cout << reload_text(reload) << std::endl;
    });
    Diagnosis diagnosis;
    const uint64_t first = run.progress().steps;
    uint64_t said = first;
    for (bool more = true; more;) {
        const std::optional<uint64_t> saved = run.saved();
        more = run.iterate();
        if (run.saved() != saved) crash.add(left_of(run));
        if (run.progress().steps == said) continue;
        said = run.progress().steps;
        diagnosis.add(run.progress().metrics);
        page.progressed();
        if (lines) print_json(progress_json(run.progress()));
        line.show(progress_line(run.progress()));
    }
    line.end();
    run.finish();
    if (place.rank > 0) return;
    crash.add(left_of(run));
    // An interrupt is to end the run, and this too: a thousand episodes may take minutes.
    RunResult found = evaluate_run(run, training.episodes, asked_to_stop);
    const std::vector<std::filesystem::path> recordings = run.finish_recording();
    found.suspicions = suspicions_of(run, diagnosis, asked_to_stop);
    const bool interrupted = (asked_to_stop() || run.told_to_stop()) && !run.over();
    times.whole = seconds_since(training.start);
    if (json) {
        Json result = result_json(run, found, times, interrupted);
        result["backend"] = on->cuda() ? "cuda" : "cpu";
        for (const auto& path : recordings) result["recordings"].push_back(path.string());
        print_json(result);
        return;
    }
    print_result(run, found, times, interrupted);
    if (start.resume && run.progress().steps == first && !asked_to_stop()) print_how_to_go_on(run);
    for (const auto& path : recordings) std::printf("recorded in %s\n", path.c_str());
}

void train_as(const RankPlace& place, Training& training, const Json& configuration,
              const std::string& where, const RunStart& start) {
    CrashWatch crash(configuration);
    const std::shared_ptr<RunsOn> on = open_for_learner(training.options, place);
    Plugins plugins(plugin_folders(training.options), on->cache,
                    training.options.json || training.quiet ? on->log : telling(on->log));
    const double patience = rank_timeout_of(configuration, where);
    std::optional<RankMeeting> meeting;
    if (place.ranks > 1) meeting.emplace(place, patience);
    join_ranks(*on, plugins, place, configuration, where);
    std::optional<RankWatch> watch;
    if (on->ranks) watch.emplace(*on, place, patience);
    meeting.reset();
    try {
        train_on(on, plugins, crash, place, training, configuration, where, start);
    } catch (const OtherRankFailed&) {
        throw;
    } catch (const std::exception& failure) {
        if (watch) watch->failed(plugin::failure_text(failure));
        throw;
    }
}

}

void train_to_the_end(Training& training, const Json& configuration, const std::string& where,
                      const RunStart& start) {
    if (starts_ranks(training.ranks)) start_ranks(training.ranks);
    const RankPlace place = own_place(training.ranks);
    if (place.ranks == 1) return train_as(place, training, configuration, where, start);
    RunStart its = start;
    if (place.rank > 0) {
        its.out.clear();
        its.next.clear();
        training.quiet = true;
        training.record = {};
        training.web = {};
    }
    try {
        train_as(place, training, configuration, where, its);
    } catch (const std::exception& failure) {
        throw Error(rank_text(place.rank), plugin::failure_text(failure));
    }
}

}
