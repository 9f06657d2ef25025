#include "algorithms/replay/learner_settings.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/hidden_layers.h"
#include "algorithms/policy_gradient/settings/schedules.h"
#include "algorithms/policy_gradient/settings/setting_words.h"
#include "algorithms/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace replay {
namespace {

using learn::wrong;
using nacelle::plugin::Config;
using nacelle::plugin::JsonValue;

// A replay that is larger than this is not part of checkpoints unless it is asked for: a run keeps several.
constexpr uint64_t most_saved_bytes = 100'000'000;

// What these learners do not do yet, in a sentence.
void check_environment(const Learner& learner, const nacelle_environment& environment) {
    const learn::SchemaView schema(environment);
    const std::string name = environment.name, prefix = learner.on_torch ? "'torch_" : "'",
                      own = std::string("'") + learner.name + "'";
    if (environment.schema->is_team || schema.header().policies > 1)
        throw std::runtime_error(name + " is a team of " +
                                 std::to_string(environment.schema->agents) +
                                 " agents, and this learner trains one agent alone; 'ppo', 'a2c', "
                                 "'torch_ppo' and 'torch_a2c' train teams");
    if (schema.seen(0) == 0)
        throw std::runtime_error(name + ": a network needs something to see; Obs is empty");
    const uint32_t reals = schema.count(0, nacelle::Kind::continuous),
                   discrete = schema.count(0, nacelle::Kind::discrete);
    const std::string has = name + " has " + std::to_string(discrete) + " Discrete and " +
                            std::to_string(reals) + " Continuous in its Action; " + own;
    const bool real = reals && !discrete, one = discrete == 1 && !reals;
    if (learner.method == Method::dqn && !one)
        throw std::runtime_error(has + " takes one Discrete" +
                                 (discrete ? ""
                                           : " (" + prefix + "sac', " + prefix + "td3' and " +
                                                 prefix + "ddpg' take Continuous)"));
    if (learner.method == Method::sac && !real && !(learner.on_torch && one))
        throw std::runtime_error(has + " takes Continuous alone" +
                                 (learner.on_torch ? ", or one Discrete"
                                  : one            ? " ('dqn' and 'torch_sac' take a Discrete)"
                                                   : ""));
    if (learner.method > Method::sac && !real)
        throw std::runtime_error(
            has + " takes Continuous alone" +
            (reals ? "" : " (" + prefix + "dqn' and 'torch_sac' take a Discrete)"));
}

class Reader final {
public:
    Reader(LearnerSettings& settings, const Learner& learner, Config& config,
           const nacelle_environment& environment, uint32_t ranks)
        : s_(settings),
          learner_(learner),
          config_(config),
          environment_(environment),
          ranks_(ranks) {}

    void read() {
        config_.text("name", s_.name);
        s_.emulates = !learner_.on_torch && config_.flag("emulate", false);
        if (s_.emulates && environment_.on_gpu)
            wrong("emulate", "stands in for a GPU on a CPU; here is a GPU");
        s_.horizon = uint32_t(config_.integer("horizon", 1, 1, 1 << 16));
        s_.updates = uint32_t(config_.integer("updates", 1, 1, 1 << 12));
        s_.batch = uint32_t(config_.integer("batch", usual_batch(), 1, 1 << 22));
        s_.n_step = uint32_t(config_.integer("n_step", s_.method == Method::sac ? 1 : 3, 1, 1024));
        s_.capacity = uint64_t(config_.integer("capacity", 1000000, 1, int64_t(1) << 40));
        s_.warm_up = uint64_t(config_.integer(
            "warm_up", std::max<int64_t>(1000, 4 * int64_t(s_.batch)), 0, int64_t(1) << 40));
        s_.normalises_observations = config_.flag("normalise_observations", true);
        s_.reward_scale = config_.number("reward_scale", 1, -1e9, 1e9);
        s_.tau = config_.number("tau", 0.02, 1e-6, 1);
        s_.max_gradient_norm = config_.number("max_gradient_norm", 0, 0, 1e9);
        s_.beta1 = config_.number("beta1", 0.9, 0, 0.999999);
        s_.beta2 = config_.number("beta2", 0.999, 0, 0.999999);
        s_.epsilon = config_.number("epsilon", 1e-8, 1e-12, 1);
        s_.priority = config_.number("priority", 0, 0, 10);
        s_.saves_replay = config_.flag(
            "save_replay",
            s_.capacity * bytes_of_step(environment_, s_.prioritised()) <= most_saved_bytes);
        dial(learning_rate, "learning_rate", 1e-3, 0, 10);
        dial(gamma, "gamma", 0.99, 0, 1);
        if (s_.prioritised()) dial(correction, "priority_correction", 0.4, 0, 10);
        if (s_.method == Method::sac) read_entropy();
        else read_exploration();
        if (s_.method == Method::dqn) read_values();
        if (!s_.discrete) s_.noise_steps = config_.integer("noise_steps", 1, 1, 1 << 20);
        s_.policy_every =
            s_.method == Method::td3 ? config_.integer("policy_every", 2, 1, 1000) : 1;
        read_policies();
        config_.finish();
        check();
    }
    void write() const {
        learn::JsonText json;
        json.text("name", s_.name).number("horizon", s_.horizon).number("updates", s_.updates);
        json.number("batch", s_.batch).number("n_step", s_.n_step);
        json.number("capacity", double(s_.capacity)).number("warm_up", double(s_.warm_up));
        json.raw("save_replay", word(s_.saves_replay));
        json.raw("normalise_observations", word(s_.normalises_observations));
        json.number("reward_scale", s_.reward_scale).number("tau", s_.tau);
        json.number("max_gradient_norm", s_.max_gradient_norm);
        json.number("beta1", s_.beta1).number("beta2", s_.beta2).number("epsilon", s_.epsilon);
        json.number("priority", s_.priority);
        learn::write_schedule(json, "learning_rate", s_.dials[learning_rate]);
        learn::write_schedule(json, "gamma", s_.dials[gamma]);
        if (s_.prioritised())
            learn::write_schedule(json, "priority_correction", s_.dials[correction]);
        if (s_.method == Method::sac) {
            if (s_.tunes_temperature) json.text("temperature", "tuned");
            else learn::write_schedule(json, "temperature", s_.dials[temperature]);
            if (s_.tunes_temperature) json.number("target_entropy", s_.target_entropy);
        } else {
            learn::write_schedule(json, "exploration", s_.dials[exploration]);
            json.number("least_exploration", s_.least_exploration);
        }
        if (s_.method == Method::td3) {
            json.number("target_noise", s_.target_noise);
            json.number("target_noise_bound", s_.target_noise_bound);
            json.number("policy_every", double(s_.policy_every));
        }
        if (s_.method == Method::dqn) {
            json.raw("double", word(s_.double_values)).raw("duelling", word(s_.duelling));
            json.number("atoms", double(s_.atoms));
            if (s_.atoms > 1)
                json.number("least_value", s_.least_value).number("most_value", s_.most_value);
        }
        if (!s_.discrete) json.number("noise_steps", double(s_.noise_steps));
        json.begin("policies").begin(s_.policy.name);
        json.raw("hidden", learn::hidden_text(s_.policy)).text("activation", s_.policy.activation);
        json.text("precision", s_.policy.precision).end().end();
        if (s_.emulates) json.raw("emulate", "true");
        s_.resolved = json.done();
    }

private:
    // As many as environments of all ranks, within bounds, for each rank as many.
    int64_t usual_batch() const {
        const int64_t all = std::clamp<int64_t>(int64_t(environment_.envs) * ranks_, 256, 4096);
        return (all + ranks_ - 1) / ranks_ * ranks_;
    }
    static std::string word(bool value) { return value ? "true" : "false"; }
    void dial(Dial which, const char* name, double fallback, double low, double high) {
        s_.dials[which] = learn::read_schedule(config_.find(name), low, high, name,
                                               {learn::Schedule::constant, float(fallback), 0});
    }
    void read_entropy() {
        const learn::SchemaView schema(environment_);
        const JsonValue* const given = config_.find("temperature");
        s_.tunes_temperature =
            !given || (given->kind == JsonValue::Kind::text && given->text == "tuned");
        if (!s_.tunes_temperature) {
            if (given->kind == JsonValue::Kind::text)
                wrong("temperature",
                      "there is no '" + given->text + "' (there is: tuned, or a number)");
            dial(temperature, "temperature", 0.2, 0, 1e6);
        }
        // Of each real number -1, as Haarnoja and others (2018) have it; of choices 0.89 of the most that there can be.
        const double usual = s_.discrete ? 0.89 * std::log(double(schema.choices(0)))
                                         : -double(schema.count(0, nacelle::Kind::continuous));
        if (s_.tunes_temperature)
            s_.target_entropy = config_.number("target_entropy", usual, -1e6, 1e6);
    }
    void read_exploration() {
        const bool share =
            s_.method == Method::dqn;    // of choices at random, or a standard deviation
        dial(exploration, "exploration", share ? 0.4 : 0.8, 0, share ? 1 : 10);
        s_.least_exploration =
            config_.number("least_exploration", share ? 0.001 : 0.05, 0, share ? 1 : 10);
        if (s_.method != Method::td3) return;
        s_.target_noise = config_.number("target_noise", 0.2, 0, 10);
        s_.target_noise_bound = config_.number("target_noise_bound", 0.5, 0, 10);
    }
    void read_values() {
        s_.double_values = config_.flag("double", true);
        s_.duelling = config_.flag("duelling", false);
        s_.atoms = config_.integer("atoms", 1, 1, 1024);
        if (s_.atoms == 1) return;
        if (!learner_.on_torch)
            wrong("atoms", "'" + s_.name + "' learns values alone; 'torch_" + s_.name +
                               "' learns distributions of them");
        s_.least_value = config_.number("least_value", -10);
        s_.most_value = config_.number("most_value", 10);
        if (!(s_.least_value < s_.most_value))
            wrong("most_value",
                  "expected a number above least_value, " + learn::text_of(s_.least_value));
    }
    void read_policies() {
        const learn::SchemaView schema(environment_);
        learn::PolicySettings& policy = s_.policy;
        policy.name = schema.header().policy[0].name;
        policy.agents = 1;
        policy.hidden = {256, 256};
        policy.cells = {learn::Cell::linear, learn::Cell::linear};
        policy.activation = "relu";
        policy.deviation = "state";
        policy.precision = "auto";
        Config policies = config_.object("policies");
        std::vector<std::string> keys = {"default"};
        if (policy.name != keys[0]) keys.push_back(policy.name);
        for (const std::string& key : keys) {
            if (!policies.has(key)) continue;
            Config own = policies.object(key);
            const std::string path = "policies." + key + ".";
            if (const JsonValue* const hidden = own.find("hidden"))
                learn::read_hidden(policy, *hidden, path + "hidden");
            policy.activation = learn::one_of(own, path, "activation", policy.activation,
                                              {"tanh", "relu", "gelu", "silu"});
            policy.precision =
                learn::one_of(own, path, "precision", policy.precision,
                              learner_.on_torch ? std::vector<std::string>{"auto", "f32"}
                                                : std::vector<std::string>{"auto", "f32", "bf16"});
            if (policy.remembers())
                wrong(path + "hidden", "a replay has single steps, from which layers that remember "
                                       "do not learn; 'ppo' and 'torch_ppo' train them");
            if (!learner_.on_torch && !policy.convolutions.empty())
                wrong(path + "hidden", "'" + s_.name + "' has layers of neurons alone; 'torch_" +
                                           s_.name + "' has convolutions, too");
            if (policy.precision == "bf16" && !environment_.on_gpu && !s_.emulates)
                wrong(path + "precision", "a CPU computes in f32; bf16 needs a GPU");
            own.finish();
        }
        if (policy.precision == "auto")
            policy.precision = environment_.on_gpu && !learner_.on_torch ? "bf16" : "f32";
        policies.finish();
    }
    void check() const {
        if (s_.batch % ranks_)
            wrong("batch", "there are " + std::to_string(ranks_) + " ranks, and " +
                               std::to_string(s_.batch) +
                               " samples cannot be dealt out to them evenly");
        const uint64_t rows = uint64_t(environment_.envs) * ranks_, slots = s_.capacity / rows;
        const uint64_t least = uint64_t(s_.n_step) + s_.horizon + 1;
        if (slots < least)
            wrong("capacity", std::to_string(s_.capacity) + " steps are " + std::to_string(slots) +
                                  " of each of " + std::to_string(rows) +
                                  " environments; expected " + std::to_string(least * rows) +
                                  " or more");
        // Slots have numbers of 32 bits, and the tree of priorities so many levels.
        const uint64_t most =
            std::min<uint64_t>(std::numeric_limits<uint32_t>::max(),
                               s_.prioritised() ? most_leaves / environment_.envs
                                                : std::numeric_limits<uint32_t>::max());
        if (slots > most)
            wrong("capacity", std::to_string(s_.capacity) + " steps; expected at most " +
                                  std::to_string(most * rows) +
                                  (s_.prioritised() ? " where priorities are kept" : ""));
        if (s_.warm_up > s_.capacity)
            wrong("warm_up",
                  "expected at most the capacity of " + std::to_string(s_.capacity) + " steps");
    }

    LearnerSettings& s_;
    const Learner& learner_;
    Config& config_;
    const nacelle_environment& environment_;
    const int64_t ranks_;
};

}

LearnerSettings read_learner(const Learner& learner, std::string_view text,
                             const nacelle_environment& environment, uint32_t ranks) {
    LearnerSettings settings;
    settings.method = learner.method;
    settings.name = learner.name;
    check_environment(learner, environment);
    settings.discrete = learn::SchemaView(environment).choices(0) > 0;
    Config config(text);
    Reader reader(settings, learner, config, environment, ranks);
    reader.read();
    reader.write();
    return settings;
}

}
