#include "engine/config/config.h"

#include "engine/env/param_values.h"
#include "engine/run/settings.h"
#include "tests/env/workbench.h"
#include "tests/fuzz/json_mutation.h"
#include "tests/fuzz/target.h"

namespace nacelle::fuzz {
namespace {

const char* const whole =
    R"({"env": {"source": "cartpole", "count": 64, "levels": 3, "strict": true,
 "constants": {"width": 3, "on": true}, "params": {"gravity": 9.8, "mass": {"uniform": [1, 2]},
 "pole": {"length": {"choice": [0.5, 1, 2]}, "angle": {"normal": [0, 1]}}, "map": "map.npy",
 "list": [1, 2, 3], "on": true, "k": {"log_uniform": [1e-3, 10]}}},
 "seed": 3, "hooks": [], "learner": {"name": "ppo", "rate": {"linear": [1e-3, 0]}},
 "policies": {"one": {"learner": {"name": "a2c"}}},
 "run": {"total_steps": 100000, "evaluate_every": 5, "report_every": "auto", "checkpoint_every": 9,
 "keep": 2, "sinks": ["jsonl", "csv"]}, "solved": {"return": 475, "episodes": 50},
 "reload": {"watch": false}})";

class Configuration final : public Target {
public:
    std::vector<std::string> samples() override {
        std::vector<std::string> texts{whole, "{}", "[]"};
        for (const auto& entry : std::filesystem::directory_iterator(test::env_folder))
            if (entry.path().extension() == ".json") texts.push_back(read_file(entry.path()));
        return texts;
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        return mutated_json_text(input, other, dice);
    }

    // The three parts are read each by itself: one that is refused hides no other.
    void read(const std::string& input) override {
        const std::string where = "run.json";
        const Json json = parse_json(input, where);
        if (!json.is_object()) throw Error(where, "expected an object");
        const std::string wrong = test::complaint([&] {
            const EnvSettings settings =
                read_env_settings(Config(json, where).object("env"), 1, {test::env_folder});
            read_params(settings.params, where);
        });
        const std::string more = test::complaint([&] {
            Json again = Json::object();
            write_run_settings(read_run_settings(json, where, 4096), again);
        });
        if (const auto env = json.find("env"); env != json.end() && env->is_object())
            if (const auto params = env->find("params");
                params != env->end() && params->is_object())
                read_params(*params, where);
        if (!wrong.empty() || !more.empty()) throw Error(where, wrong, more);
    }

private:
    static void read_params(const Json& params, const std::string& where) {
        const std::vector<ParamEntry> entries = flatten_params(params);
        varied_params(entries);
        for (const ParamEntry& entry : entries)
            for (int dtype = 0; dtype <= int(Dtype::b8); ++dtype)
                test::complaint([&] { read_draw(entry.value, Dtype(dtype), where, entry.name); });
    }
};

}

std::unique_ptr<Target> configuration_target() { return std::make_unique<Configuration>(); }

}
