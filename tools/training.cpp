#include "tools/training.h"

#include "engine/base/text.h"
#include "engine/watch/local_viewer.h"
#include "engine/watch/training_view.h"
#include "tools/interrupt.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/terminal_line.h"

#include <cstdio>
#include <iostream>
#include <optional>
#include <unistd.h>

namespace nacelle::tools {
namespace {

bool asked_to_stop() { return interrupted() || output_failed(); }

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

struct Times {
    double opened = 0, loaded = 0, whole = 0;
};

const char* how_it_ended(const TrainingRun& run) {
    return run.solved()      ? "Solved"
           : run.stopped()   ? "Stopped"
           : asked_to_stop() ? "Interrupted"
                             : "Ended";
}

void print_result(const TrainingRun& run, const std::optional<Evaluation>& found,
                  const Times& times) {
    std::printf("%s after %llu steps%s\n", how_it_ended(run),
                static_cast<unsigned long long>(run.progress().steps),
                found ? (": " + evaluation_text(*found)).c_str() : "; 'nacelle resume' goes on");
    std::printf(
        "%.2f s in all: start %.2f, compile and load %.2f, train %.3f, save %.3f; results in %s\n",
        times.whole, times.opened, times.loaded, run.train_seconds(), run.save_seconds(),
        run.out().string().c_str());
}

Json result_json(const TrainingRun& run, const std::optional<Evaluation>& found, const Times& times,
                 bool cuda) {
    Json result = {{"kind", "result"},
                   {"solved", run.solved()},
                   {"interrupted", asked_to_stop()},
                   {"stopped", run.stopped()},
                   {"steps", run.progress().steps},
                   {"seconds", times.whole},
                   {"start_seconds", times.opened},
                   {"compile_seconds", times.loaded},
                   {"train_seconds", run.train_seconds()},
                   {"save_seconds", run.save_seconds()},
                   {"backend", cuda ? "cuda" : "cpu"},
                   {"out", run.out().string()}};
    if (found) add_evaluation(*found, result);
    return result;
}

}

void add_training_options(Command command, Training& training) {
    command.flag("--quiet", training.quiet, "Say what came out, and nothing before");
    command.option("--episodes", training.episodes, "Episodes of the evaluation at the end")
        .between(1, 1000000)
        .shows_default();
    add_record_options(command, training.record, "the first episode of every evaluation",
                       "RUN/recordings/step-N.recording");
    add_web_options(command, training.web);
}

void train_to_the_end(Training& training, const Json& configuration, const std::string& where,
                      const RunStart& start) {
    const bool json = training.options.json, lines = json && !training.quiet,
               shown = !json && !training.quiet && isatty(STDOUT_FILENO);
    const std::shared_ptr<RunsOn> on = open_for_learner(training.options);
    Plugins plugins(plugin_folders(training.options), on->cache, on->log);
    Times times{.opened = seconds_since(training.start)};
    const auto loading = std::chrono::steady_clock::now();
    RunStart watching = start;
    watching.watch = true;
    if (training.record.wanted()) {
        watching.record = training.record.settings();
        watching.record_to = training.record.to;
    }
    TrainingRun run(begin_environment(on, plugins, configuration, where), plugins, configuration,
                    where, watching);
    times.loaded = seconds_since(loading);
    if (shown)
        std::printf("%s on %s (%s), %u environments\n", run.environment().name().c_str(),
                    on->cuda() ? "the GPU" : "the CPU", on->why.c_str(), run.environment().count());
    listen_for_signals();
    // A closed pipe ends the run like Ctrl-C, with a checkpoint.
    run.stop_when(asked_to_stop);
    Page page(training.web, run, json);
    TerminalLine line(shown);
    run.on_reload([&](const RunReload& reload) {
        line.end();
        page.reloaded(reload);
        if (lines) print_json(reload_json(reload));
        // The reason is printed even with --quiet.
        if (!reload.taken) std::cerr << printable(reload.text) << std::endl;
        else if (shown) std::cout << reload_text(reload) << std::endl;
    });
    uint64_t said = run.progress().steps;
    for (bool more = true; more;) {
        more = run.iterate();
        if (run.progress().steps == said) continue;
        said = run.progress().steps;
        page.progressed();
        if (lines) print_json(progress_json(run.progress()));
        line.show(progress_line(run.progress()));
    }
    line.end();
    run.finish();
    // An interrupt is to end the run; a thousand episodes may take minutes.
    std::optional<Evaluation> found;
    if (!asked_to_stop()) found = run.evaluate(training.episodes);
    const std::vector<std::filesystem::path> recordings = run.finish_recording();
    times.whole = seconds_since(training.start);
    if (json) {
        Json result = result_json(run, found, times, on->cuda());
        for (const auto& path : recordings) result["recordings"].push_back(path.string());
        print_json(result);
        return;
    }
    print_result(run, found, times);
    for (const auto& path : recordings) std::printf("recorded in %s\n", path.c_str());
}

}
