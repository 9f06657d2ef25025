#include "algorithms/replay/policy.h"

#include "algorithms/policy_gradient/plan/policies_text.h"
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/spaces_text.h"

#include <cmath>
#include <nacelle/random.h>

namespace replay {

Form form_of(const LearnerSettings& settings) {
    if (settings.method == Method::dqn) return Form::values;
    if (settings.method != Method::sac) return Form::means;
    return settings.discrete ? Form::scores : Form::normal;
}

std::string policy_text(const LearnerSettings& settings, const learn::Encoder& encoder,
                        const std::vector<int64_t>& sizes, const nacelle_environment& environment) {
    using learn::JsonText;
    if (sizes.empty()) return "";
    const learn::SchemaView schema(environment);
    JsonText text;
    text.raw("observation", learn::observation_text(schema, 0, true));
    text.raw("actions", learn::actions_text(schema, 0));
    if (settings.normalises_observations)
        text.raw("normaliser", learn::normaliser_text(schema.header().group[0].name));
    text.raw("network", learn::network_text(settings.policy, encoder, sizes,
                                            std::string(policy_array) + ".weights"));
    const bool draws = settings.method == Method::sac;
    text.raw("draws", draws ? "true" : "false");
    if (!settings.discrete) {
        text.raw("squash", "true");
        if (draws)
            text.list("log_deviation", {double(least_log_deviation), double(most_log_deviation)})
                .number("noise_steps", double(settings.noise_steps));
    }
    return JsonText().raw(settings.policy.name, text.done()).done();
}

std::vector<float> first_weights(const std::vector<learn::MatrixSize>& layers, uint64_t seed,
                                 uint32_t number) {
    nacelle::Rng rng(seed, nacelle::Domain::initialisation, 1, number);
    std::vector<float> weights;
    for (const learn::MatrixSize& layer : layers) {
        const float bound = float(1 / std::sqrt(double(layer.in)));
        for (int64_t i = 0; i < learn::parameters_in(layer); ++i)
            weights.push_back(rng.uniform(-bound, bound));
    }
    return weights;
}

}
