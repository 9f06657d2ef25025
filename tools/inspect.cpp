#include "engine/base/number_text.h"
#include "engine/env/observed_numbers.h"
#include "engine/jit/author_source.h"
#include "engine/run/directory.h"
#include "engine/run/trainee.h"
#include "tools/commands.h"
#include "tools/crash_watch.h"
#include "tools/inspect_run.h"
#include "tools/options.h"
#include "tools/output.h"

#include <cstdio>
#include <span>

namespace nacelle::tools {
namespace {

struct Inspect {
    Options options;
    std::string environment;
};

Json describe_array(const NamedArray& array) {
    return {{"name", array.name()},
            {"type", dtype_name(array.dtype())},
            {"shape", array.shape()},
            {"bytes", array.bytes()}};
}

Json describe_space(const Field& field) {
    Json space = {{"name", field.name}, {"count", field.count}};
    if (field.kind == Kind::discrete) space["choices"] = field.choices;
    else space["bounds"] = {field.low, field.high};
    return space;
}

Json describe_kernel(const Kernel& kernel) {
    return {{"name", kernel.name},
            {"registers", kernel.registers},
            {"local_bytes", kernel.local_bytes},
            {"shared_bytes", kernel.shared_bytes}};
}

// The value that the text of a constant's default states; the compiler knows the others.
Json literal(const std::string& text) {
    if (text == "true" || text == "false") return text == "true";
    std::string digits = text;
    if (digits.ends_with('f') || digits.ends_with('u')) digits.pop_back();
    const std::optional<Json> number = try_parse_json(digits);
    if (number && number->is_number()) return *number;
    return "computed: " + text;
}

Json describe_groups(const EnvSchema& schema) {
    const Header& header = schema.header();
    Json groups = Json::array();
    for (const Group& group : std::span(header.group, header.groups))
        groups.push_back({{"name", group.name},
                          {"agents", group.count},
                          {"observation_width", observed_numbers(schema, uint32_t(groups.size()))},
                          {"takes_turns", group.has_turn != 0}});
    return groups;
}
Json describe_policies(const Header& header) {
    Json policies = Json::array();
    for (const Decider& policy : std::span(header.policy, header.policies))
        policies.push_back({{"name", policy.name},
                            {"agents", policy.agents},
                            {"group", header.group[policy.group].name}});
    return policies;
}

Json describe(Environment& env) {
    const Header& header = env.schema().header();
    Json all = {{"environment", env.name()},
                {"source", env.settings().source.string()},
                {"envs", env.count()},
                {"agents", header.agents},
                {"time_limit", header.time_limit},
                {"bytes_per_environment", env.schema().bytes_per_env()},
                {"observation_width", observed_numbers(env.schema(), 0)},
                {"compile_milliseconds", env.stepwise().milliseconds()},
                {"from_cache", env.stepwise().from_cache()}};
    all["threads_per_environment"] = header.env_threads;
    all["threads_per_block"] = header.block_threads;
    all["shared_bytes_per_block"] = header.shared_bytes;
    if (header.is_team) {
        all["groups"] = describe_groups(env.schema());
        all["policies"] = describe_policies(header);
    }
    for (const NamedArray& array : env.arrays().all())
        all["arrays"].push_back(describe_array(array));
    for (const Field& field : env.schema().fields())
        if (field.role == Role::action) all["actions"].push_back(describe_space(field));
    all["parameters"] = Json::object();
    for (const std::string& name : env.schema().param_names())
        all["parameters"][name] = env.param(name);
    all["constants"] = Json::object();
    for (const ConstantUse& use : constants_of(env.settings().source)) {
        const auto given = env.settings().constants.find(use.name);
        all["constants"][use.name] =
            given == env.settings().constants.end() ? literal(use.fallback) : Json(given->second);
    }
    for (const char* const name : {"nacelle_step", "nacelle_reset"})
        all["kernels"].push_back(describe_kernel(env.stepwise().kernel(name)));
    return all;
}

std::string shape_text(const Json& shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i].get<int64_t>());
    return text + "]";
}

// A number as its author wrote it: a float as a double would have spurious digits.
std::string value_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_array()) {
        std::string list;
        for (const Json& one : value) list += (list.empty() ? "" : ", ") + value_text(one);
        return "[" + list + "]";
    }
    if (!value.is_number_float()) return json_text(value);
    return shortest(value.get<double>());
}

// Who acts, which agents share a network, and how a team maps to the GPU.
void print_team(const Json& all, const RunsOn& on) {
    if (on.cuda())
        std::printf("each environment on %s threads; %s threads and %s bytes of shared memory in a "
                    "block\n",
                    json_text(all["threads_per_environment"]).c_str(),
                    json_text(all["threads_per_block"]).c_str(),
                    json_text(all["shared_bytes_per_block"]).c_str());
    else std::printf("each environment on one thread of the CPU\n");
    std::printf("\ngroups\n");
    for (const Json& group : all["groups"])
        std::printf("  %-28s %s agents, %s numbers observed%s\n",
                    group["name"].get<std::string>().c_str(), json_text(group["agents"]).c_str(),
                    json_text(group["observation_width"]).c_str(),
                    group["takes_turns"].get<bool>() ? ", takes turns" : "");
    std::printf("\npolicies\n");
    for (const Json& policy : all["policies"])
        std::printf("  %-28s %s agents of %s\n", policy["name"].get<std::string>().c_str(),
                    json_text(policy["agents"]).c_str(),
                    policy["group"].get<std::string>().c_str());
}

void print(const Json& all, const RunsOn& on) {
    std::printf("%s  (%s)\n", all["environment"].get<std::string>().c_str(),
                all["source"].get<std::string>().c_str());
    std::printf("on %s: %s\n", on.cuda() ? "cuda" : "cpu", on.why.c_str());
    std::printf("compiled in %.0f ms%s; %zu bytes per environment",
                all["compile_milliseconds"].get<double>(),
                all["from_cache"].get<bool>() ? " (from the cache)" : "",
                all["bytes_per_environment"].get<size_t>());
    if (all["time_limit"].get<int>())
        std::printf("; episodes end after %d steps", all["time_limit"].get<int>());
    std::printf("\n");
    if (all.contains("groups")) print_team(all, on);
    std::printf("\nactions\n");
    for (const Json& space : all["actions"]) {
        const std::string what =
            space.contains("choices")
                ? "one of " + json_text(space["choices"])
                : "from " + json_text(space["bounds"][0]) + " to " + json_text(space["bounds"][1]);
        std::printf("  %-28s %s%s\n", space["name"].get<std::string>().c_str(), what.c_str(),
                    space["count"] == 1 ? ""
                                        : (", " + json_text(space["count"]) + " of them").c_str());
    }
    if (!all["parameters"].empty()) std::printf("\nparameters\n");
    for (const auto& [name, value] : all["parameters"].items())
        std::printf("  %-28s %s\n", name.c_str(), value_text(value).c_str());
    if (!all["constants"].empty()) std::printf("\nconstants\n");
    for (const auto& [name, value] : all["constants"].items())
        std::printf("  %-28s %s\n", name.c_str(), value_text(value).c_str());
    std::printf("\narrays of %s environments\n", json_text(all["envs"]).c_str());
    for (const Json& array : all["arrays"])
        std::printf("  %-28s %-4s %-22s %12zu bytes\n", array["name"].get<std::string>().c_str(),
                    array["type"].get<std::string>().c_str(), shape_text(array["shape"]).c_str(),
                    array["bytes"].get<size_t>());
    if (!on.cuda()) return;
    std::printf("\nkernels\n");
    for (const Json& kernel : all["kernels"])
        std::printf("  %-28s %d registers, %zu bytes of stack and spills\n",
                    kernel["name"].get<std::string>().c_str(), kernel["registers"].get<int>(),
                    kernel["local_bytes"].get<size_t>());
}

void run(const Inspect& inspect) {
    if (holds_run(inspect.environment) || holds_seeds(inspect.environment)) {
        const Json all = describe_run(inspect.environment);
        if (inspect.options.json) print_json(all);
        else print_run(all);
        return;
    }
    const std::shared_ptr<RunsOn> on = open_for(inspect.options);
    Plugins plugins(plugin_folders(inspect.options), on->cache, on->log);
    with_configuration(sources_for(inspect.options, inspect.environment),
                       [&](const Json& configuration, const std::string& where) {
                           const CrashWatch crash(configuration);
                           const auto env = load_environment(on, plugins, configuration, where);
                           const Json all = describe(*env);
                           if (inspect.options.json) print_json(all);
                           else print(all, *on);
                       });
}

}

void add_inspect(CommandLine& line) {
    auto inspect = std::make_shared<Inspect>();
    Command command =
        line.add("inspect",
                 "Show an environment's arrays, spaces, parameters, bytes and registers; or what a "
                 "run's directory holds");
    add_common_options(command, inspect->options);
    add_config_options(command, inspect->options, false);
    command
        .option("environment", inspect->environment,
                std::string(env_help) + "; or the directory of a run")
        .required();
    command.run([inspect] { run(*inspect); });
}

}
