#include "engine/run/settings.h"

#include "engine/config/describe.h"
#include "engine/run/metrics_file.h"

#include <algorithm>

namespace nacelle {
namespace {

constexpr int64_t largest_setting = int64_t(1) << 53;

// Fifty evaluations and ten checkpoints in a run, unless asked otherwise.
constexpr uint64_t evaluations = 50, checkpoints = 10;

uint64_t count(Config& run, const char* key, uint64_t fallback, int64_t low) {
    return static_cast<uint64_t>(run.integer(key, int64_t(fallback), low, largest_setting));
}

uint64_t report_every(Config& run) {
    if (run.any("report_every", "auto") == "auto") return 0;
    return count(run, "report_every", 1, 1);
}

double rank_timeout(Config& run) {
    return run.number("rank_timeout", RunSettings().rank_timeout, 1, 86400);
}

std::optional<bool> stagger(Config& run) {
    if (run.any("stagger", "auto") == "auto") return {};
    return run.flag("stagger", false);
}

std::string file_of(const SinkSettings& sink) {
    return std::filesystem::path(sink_file(sink.name, sink.config)).lexically_normal().string();
}

std::vector<SinkSettings> read_sinks(Config& run) {
    const Json list = run.any("sinks", Json::array({"jsonl"}));
    if (!list.is_array())
        run.fail("sinks", "expected a list of names and objects, found " + describe(list));
    std::vector<SinkSettings> sinks;
    for (const Json& one : list) {
        const std::string key = "sinks[" + std::to_string(sinks.size()) + "]";
        if (!one.is_string() && !one.is_object())
            run.fail(key, "expected a name or an object with a name, found " + describe(one));
        Config sink(one.is_string() ? Json{{"name", one}} : one, run.where(), "run." + key);
        SinkSettings settings{sink.text("name", ""), sink.json()};
        if (settings.name.empty()) sink.fail("name", "is missing", "csv");
        if (sink.has("out")) sink.fail("out", "is the run's directory, which every sink is told");
        settings.config.erase("name");
        for (size_t i = 0; i < sinks.size(); ++i)
            if (file_of(sinks[i]) == file_of(settings))
                run.fail(key,
                         "writes the file of sinks[" + std::to_string(i) + "], " +
                             file_of(settings),
                         "a sink that is named twice has two files: {\"name\": \"csv\", \"file\": "
                         "\"other.csv\"}");
        sinks.push_back(std::move(settings));
    }
    return sinks;
}

constexpr const char* way_names[] = {"greedy", "sampled", "both"};

EvaluatedWay evaluated_way(Config& run) {
    const std::string name = run.choice("evaluate", way_names[0], {"greedy", "sampled", "both"});
    return EvaluatedWay(std::find(way_names, std::end(way_names), name) - way_names);
}

Json sinks_json(const std::vector<SinkSettings>& sinks) {
    Json list = Json::array();
    for (const SinkSettings& sink : sinks) {
        Json one = sink.config;
        one["name"] = sink.name;
        list.push_back(sink.config.empty() ? Json(sink.name) : std::move(one));
    }
    return list;
}

}

RunSettings read_run_settings(const Json& configuration, const std::string& where,
                              uint64_t steps_per_iteration) {
    Config top(configuration, where);
    for (const char* const key : {"env", "seed", "hooks", "learner", "policies"}) top.any(key);
    RunSettings settings;
    Config run = top.object("run");
    settings.total_steps = count(run, "total_steps", settings.total_steps, 1);
    const uint64_t iterations = settings.total_steps / std::max<uint64_t>(1, steps_per_iteration);
    settings.evaluate_every =
        count(run, "evaluate_every", std::max<uint64_t>(1, iterations / evaluations), 0);
    settings.evaluate = evaluated_way(run);
    settings.report_every = report_every(run);
    settings.checkpoint_every = count(run, "checkpoint_every",
                                      std::max<uint64_t>(1, settings.total_steps / checkpoints), 0);
    settings.keep = count(run, "keep", settings.keep, 1);
    settings.communicator = run.text("communicator", settings.communicator);
    settings.peer_memory = run.flag("peer_memory", settings.peer_memory);
    settings.ranks = uint32_t(run.integer("ranks", 0, 1, 1 << 16));
    settings.rank_timeout = rank_timeout(run);
    settings.stagger = stagger(run);
    settings.sinks = read_sinks(run);
    run.finish("run");
    Config solved = top.object("solved");
    // null takes back what ENV.json says.
    if (!solved.any("return").is_null()) settings.solved_return = solved.number("return", 0);
    settings.episodes =
        static_cast<uint64_t>(solved.integer("episodes", int64_t(settings.episodes), 1, 1000000));
    solved.finish("solved");
    settings.reload = read_reload_settings(top.object("reload"));
    if (settings.solved_return && settings.evaluate_every == 0)
        run.fail("evaluate_every", "is 0, so that nobody would see whether the run is solved",
                 "give it a number, or set solved.return to null");
    top.finish("the configuration");
    return settings;
}

std::string communicator_of(const Json& configuration, const std::string& where, bool on_gpu) {
    const std::string name =
        Config(configuration, where).object("run").text("communicator", "auto");
    return name != "auto" ? name : on_gpu ? "nccl" : "gloo";
}

bool peer_memory_of(const Json& configuration, const std::string& where) {
    return Config(configuration, where).object("run").flag("peer_memory", true);
}

double rank_timeout_of(const Json& configuration, const std::string& where) {
    Config run = Config(configuration, where).object("run");
    return rank_timeout(run);
}

void write_run_settings(const RunSettings& settings, Json& configuration) {
    configuration["run"] = {
        {"total_steps", settings.total_steps},
        {"evaluate", way_names[size_t(settings.evaluate)]},
        {"evaluate_every", settings.evaluate_every},
        {"report_every", settings.report_every ? Json(settings.report_every) : Json("auto")},
        {"checkpoint_every", settings.checkpoint_every},
        {"keep", settings.keep},
        {"stagger", settings.stagger ? Json(*settings.stagger) : Json("auto")},
        {"sinks", sinks_json(settings.sinks)}};
    // One rank says what it was told alone: several may go on.
    Json& run = configuration["run"];
    const RunSettings usual;
    const bool several = settings.ranks > 1;
    if (several) run["ranks"] = settings.ranks;
    if (several || settings.communicator != usual.communicator)
        run["communicator"] = settings.communicator;
    if (several || settings.peer_memory != usual.peer_memory)
        run["peer_memory"] = settings.peer_memory;
    if (several || settings.rank_timeout != usual.rank_timeout)
        run["rank_timeout"] = settings.rank_timeout;
    const std::optional<double>& wanted = settings.solved_return;
    configuration["solved"] = {{"return", wanted ? Json(*wanted) : Json()},
                               {"episodes", settings.episodes}};
    configuration["reload"] = reload_json(settings.reload);
}

}
