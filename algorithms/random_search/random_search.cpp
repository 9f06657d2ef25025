// Random search as a learner: cross-entropy over linear policies, all of it on the device.
#include "algorithms/policy_gradient/plan/spaces_text.h"
#include "algorithms/random_search/headers.h"

#include <nacelle/plugin/config.h>
#include <nacelle/plugin/learner.h>
#include <random_search/arguments.h>

namespace {

namespace plugin = nacelle::plugin;
using random_search::Arguments;
constexpr uint32_t block = 128;

// The outputs and the inputs of a linear policy for this environment.
struct Sizes {
    uint32_t outputs = 0, inputs = 0;
};
Sizes sizes_of(const nacelle_environment& environment) {
    const plugin::Schema schema(environment);
    Sizes sizes{.outputs = 0, .inputs = schema.header().group[0].obs_width + 1};
    for (uint32_t i = 0; i < schema.header().fields; ++i) {
        const nacelle::Field& field = schema.field(i);
        if (field.role != nacelle::Role::action) continue;
        sizes.outputs +=
            field.count * (field.kind == nacelle::Kind::discrete ? uint32_t(field.choices) : 1);
    }
    return sizes;
}

// How the one policy acts, for checkpoints: the mean of the search, a row of weights and a constant for each output.
std::string policies_of(const nacelle_environment& environment, const Sizes& sizes) {
    using learn::JsonText;
    const learn::SchemaView schema(environment);
    const std::string network =
        JsonText()
            .text("weights", "mean")
            .list("sizes", {double(sizes.inputs - 1), double(sizes.outputs)})
            .text("biases", "in rows")
            .done();
    const std::string policy = JsonText()
                                   .raw("observation", learn::observation_text(schema, 0, false))
                                   .raw("actions", learn::actions_text(schema, 0))
                                   .raw("network", network)
                                   .raw("draws", "false")
                                   .raw("squash", "true")
                                   .done();
    return JsonText().raw(schema.header().policy[0].name, policy).done();
}

class RandomSearch final {
public:
    static constexpr const char* name = "random_search";

    RandomSearch(plugin::Host host, std::string_view config) : host_(host) {
        const nacelle_environment environment = host.environment();
        const nacelle_schema& schema = *environment.schema;
        if (schema.is_team)
            throw std::runtime_error(
                std::string(environment.name) + " is a team of " + std::to_string(schema.agents) +
                " agents, and this learner trains one agent alone; a team needs a learner of its "
                "own, which 'nacelle plugins' would list ('nacelle stage' plays at random)");
        const Sizes sizes = sizes_of(environment);
        if (sizes.inputs < 2)
            throw std::runtime_error("a linear policy needs numbers in Obs; " +
                                     std::string(environment.name) + " has only arrays");
        policies_ = policies_of(environment, sizes);
        envs_ = environment.envs;
        all_envs_ = envs_ * host.ranks().ranks;
        weights_ = sizes.outputs * sizes.inputs;
        read(plugin::Config(config), environment);
        // First: arrays are there once the environment is compiled, and programs compile beside it.
        const std::span<const nacelle_header> headers = random_search::kernel_headers();
        const uint32_t program =
            host.program("#include <random_search/kernels.h>\nRANDOM_SEARCH_KERNELS()\n", headers);
        for (const char* const symbol : {"search_propose", "search_play", "search_score",
                                         "search_order", "search_update", "search_summarise"})
            kernels_.push_back(host.kernel(program, symbol));
        act_ = host.kernel(program, "search_act");
        make_arrays();
    }

    uint64_t steps_per_iteration() const noexcept { return uint64_t(envs_) * arguments_.steps; }

    void record(void* stream) {
        host_.restart(stream);
        const uint64_t items[] = {uint64_t(weights_) * arguments_.members,
                                  envs_,
                                  arguments_.members,
                                  arguments_.members,
                                  weights_,
                                  1};
        for (size_t i = 0; i < kernels_.size(); ++i) {
            host_.launch(kernels_[i], items[i], block, arguments_, stream);
            if (i == played && all_envs_ > envs_)    // each rank plays a part of the population
                host_.all_reduce(arguments_.score, all_envs_, NACELLE_SUM, stream);
        }
        host_.advance(arguments_.steps, stream);
    }

    void act(bool, void* stream) { host_.launch(act_, envs_, block, arguments_, stream); }

    const std::string& policies() const { return policies_; }

    void metrics(plugin::Metrics& out) {
        float values[random_search::metric_count];
        host_.read(values, arguments_.metrics, sizeof values);
        out.add("search.mean_return", values[random_search::mean_return]);
        out.add("search.best_return", values[random_search::best_return]);
        out.add("search.elite_return", values[random_search::elite_return]);
        out.add("search.policy_return", values[random_search::policy_return]);
        out.add("search.deviation", values[random_search::deviation_left]);
    }

private:
    void read(plugin::Config config, const nacelle_environment& environment) {
        config.text("name", name);
        const int64_t episodes =
            config.integer("episodes", std::min<int64_t>(8, all_envs_), 1, all_envs_);
        const int64_t members =
            config.integer("population", int64_t(all_envs_) / episodes, 2, int64_t(all_envs_));
        if (members * episodes > int64_t(all_envs_))
            throw std::runtime_error("a population of " + std::to_string(members) + " with " +
                                     std::to_string(episodes) + " episodes each needs " +
                                     std::to_string(members * episodes) +
                                     " environments; env.count is " + std::to_string(envs_) +
                                     (all_envs_ > envs_ ? " on each rank" : ""));
        const double elite = config.number("elite", 0.1, 1e-6, 1);
        deviation_ = float(config.number("deviation", 1, 1e-6, 1e6));
        const float least = float(config.number("least_deviation", 0.02, 0, 1e6));
        const int64_t steps = config.integer(
            "steps", environment.time_limit ? environment.time_limit : 1000, 1, 1000000);
        config.finish();
        arguments_.members = uint32_t(members);
        arguments_.episodes = uint32_t(episodes);
        arguments_.elite = std::max(1u, uint32_t(elite * double(members)));
        arguments_.steps = uint32_t(steps);
        arguments_.all_envs = all_envs_;
        arguments_.weight_count = weights_;
        arguments_.least_deviation = least;
    }

    template <class T>
    T* array(const char* array_name, nacelle::Dtype dtype, std::initializer_list<int64_t> shape,
             bool persistent) {
        return static_cast<T*>(host_
                                   .array_create(array_name, uint32_t(dtype),
                                                 std::span(shape.begin(), shape.size()), persistent)
                                   .data);
    }
    void make_arrays() {
        using nacelle::Dtype;
        const int64_t members = arguments_.members, envs = envs_, all_envs = all_envs_,
                      weights = weights_;
        arguments_.mean = array<float>("mean", Dtype::f32, {weights}, true);
        arguments_.deviation = array<float>("deviation", Dtype::f32, {weights}, true);
        arguments_.weights = array<float>("weights", Dtype::f32, {weights, members}, false);
        arguments_.score = array<float>("score", Dtype::f32, {all_envs}, false);
        arguments_.over = array<uint8_t>("over", Dtype::u8, {envs}, false);
        arguments_.fitness = array<float>("fitness", Dtype::f32, {members}, false);
        arguments_.rank = array<uint32_t>("rank", Dtype::u32, {members}, false);
        arguments_.metrics =
            array<float>("metrics", Dtype::f32, {random_search::metric_count}, false);
        const std::vector<float> spread(weights_, deviation_);
        host_.write(arguments_.deviation, spread.data(), spread.size() * sizeof(float));
    }

    plugin::Host host_;
    Arguments arguments_{};
    std::string policies_;
    static constexpr size_t played = 1;    // of the kernels
    uint32_t envs_ = 0, all_envs_ = 0, weights_ = 0;
    float deviation_ = 1;
    std::vector<nacelle_kernel> kernels_;
    nacelle_kernel act_{};
};

}

NACELLE_PLUGIN("nacelle.random_search", "1.0.0", "Cross-entropy search over linear policies",
               nacelle::plugin::Learner<RandomSearch>)
