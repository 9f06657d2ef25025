#include "algorithms/off_policy/learner.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/run/peer_buffer.h"
#include "algorithms/replay/free_memory.h"
#include "algorithms/replay/policy.h"

#include <algorithm>

namespace off_policy {

using replay::Method;

OffPolicy::OffPolicy(const replay::Learner& learner, nacelle::plugin::Host host,
                     std::string_view config)
    : host_(host),
      settings_(replay::read_learner(learner, config, host.environment(), host.ranks().ranks)),
      place_(place_of(settings_, host.environment(), host.ranks())),
      replay_(host, settings_, replay::form_of(settings_),
              replay::free_bytes(host.environment().on_gpu)),
      kernels_(host, place_, settings_.policy.activation),
      arrays_(host, place_),
      layers_(kernels_, place_) {
    replay_.make_arrays();
    fill_arguments();
    make_numbers();
    make_policy();
    make_values();
    if (place_.peers) make_peers();
}

void OffPolicy::fill_arguments() {
    Arguments& a = arguments_;
    a.replay = replay_.arguments();
    a.method = settings_.method;
    a.normalises = settings_.normalises_observations;
    a.beta1 = settings_.beta1;
    a.beta2 = settings_.beta2;
    a.epsilon = float(settings_.epsilon);
    a.longest = float(settings_.max_gradient_norm);
    a.reward_scale = float(settings_.reward_scale);
    a.target_noise = float(settings_.target_noise);
    a.target_noise_bound = float(settings_.target_noise_bound);
    a.target_entropy = float(settings_.target_entropy);
    a.policy_every = uint32_t(settings_.policy_every);
    a.networks = settings_.method == Method::sac || settings_.method == Method::td3 ? 2 : 1;
    a.doubled = settings_.double_values;
    a.duelling = settings_.duelling;
    a.tunes = settings_.method == Method::sac && settings_.tunes_temperature;
    a.outputs = uint32_t(replay_.output_count()) + a.duelling;
}
void OffPolicy::make_numbers() {
    Arguments& a = arguments_;
    const learn::SchemaView schema(host_.environment());
    const std::string group = schema.header().group[0].name;
    const auto width = uint64_t(replay_.width());
    a.scale = arrays_.numbers<float>(group + ".obs.scale", {width}, true);
    const std::vector<float> ones(width, 1.0f);
    host_.write(a.scale, ones.data(), width * sizeof(float));
    a.mean = arrays_.numbers<float>(group + ".obs.mean", {width}, true);
    a.carried = arrays_.numbers<double>(group + ".obs.carried", {3, width}, true);
    const uint64_t size = samples(),
                   blocks = (size + learn::block_threads - 1) / learn::block_threads;
    a.log_density = arrays_.numbers<float>("log_density", {2, size}, false);
    a.gates = arrays_.numbers<double>("gates", {gate_count, learn::found_count}, false);
    a.value_tallies = arrays_.numbers<double>("tallies.values", {blocks, value_tallies}, false);
    a.policy_tallies = arrays_.numbers<double>("tallies.policy", {blocks, policy_tallies}, false);
    // If not every update is one of the policy, metrics repeat the policy's last loss: also after a resume.
    a.found = arrays_.numbers<double>("found", {names().size()}, settings_.policy_every > 1);
    a.updates = arrays_.numbers<int64_t>("updates", {1}, true);
    a.heaviest = arrays_.numbers<float>("heaviest", {1}, false);
    if (hands_over()) {
        a.tallies_of_ranks = arrays_.numbers<double>("ranks.tallies", {all_tallies}, false);
        a.seen_by_ranks = arrays_.numbers<double>("ranks.seen", {2 * width}, false);
    }
    if (!a.tunes) return;
    a.temperature = arrays_.numbers<float>("temperature.weights", {1}, true);
    a.temperature_moments = arrays_.numbers<float>("temperature.moments", {2, 1}, true);
    a.temperature_updates = arrays_.numbers<double>("temperature.updates", {1}, true);
}

Step OffPolicy::step_of(const Networks& networks, Gate learns, Gate follows) const {
    return {.of = networks,
            .gates = arguments_.gates,
            .dials = arguments_.replay.dials,
            .beta1 = settings_.beta1,
            .beta2 = settings_.beta2,
            .epsilon = float(settings_.epsilon),
            .longest = float(settings_.max_gradient_norm),
            .tau = float(settings_.tau),
            .learns = learns,
            .follows = follows,
            .ranks = replay_.ranks()};
}
void OffPolicy::make_policy() {
    Arguments& a = arguments_;
    const uint64_t rows = replay_.rows(), size = samples(), width = uint64_t(replay_.width());
    std::vector<int64_t> widths = {int64_t(width)};
    widths.insert(widths.end(), settings_.policy.hidden.begin(), settings_.policy.hidden.end());
    widths.push_back(a.outputs);
    const bool followed = settings_.method != Method::sac, kept = settings_.policy.keeps_input();
    policy_ = make_networks(arrays_, replay::policy_array, widths, 1, 0, followed, size);
    policies_ = replay::policy_text(settings_, {}, widths, host_.environment());
    a.standing = arrays_.into("rows.standing", width, rows);
    a.then = arrays_.into("rows.then", width, size);
    a.now = arrays_.into("rows.now", width, size);
    standing_ = make_levels(arrays_, "standing", policy_, a.standing, rows, false, kept);
    then_policy_ = make_levels(arrays_, "then", policy_, a.then, size, false, kept);
    now_policy_ = make_levels(arrays_, "now", policy_, a.now, size, true, kept);
    a.choices = standing_.outputs;
    a.then_choices = then_policy_.outputs;
    a.now_choices = now_policy_.outputs;
    a.policy_slopes = now_policy_.slopes.back();
    policy_step_ = step_of(policy_, acts() ? of_policy : of_values, acts() ? of_policy : of_values);
}
void OffPolicy::make_values() {
    Arguments& a = arguments_;
    const uint64_t size = samples();
    const bool kept = settings_.policy.keeps_input();
    if (!acts()) {
        then_values_[0] = then_policy_;
        // Double DQN takes the best choice there by the network that learns.
        then_values_[1] = make_levels(arrays_, "selecting", policy_, a.then, size, false, kept);
        now_values_[0] = now_policy_;
        a.value_updates = policy_.updates;
        a.norms = policy_.norms;
        a.norm_count =
            uint32_t((policy_.parameters + learn::block_threads - 1) / learn::block_threads);
    } else {
        const auto seen = uint64_t(replay_.width() + replay_.parts());
        std::vector<int64_t> widths = {int64_t(seen)};
        widths.insert(widths.end(), settings_.policy.hidden.begin(), settings_.policy.hidden.end());
        widths.push_back(1);
        values_ = make_networks(arrays_, "values", widths, a.networks, 1, true, size);
        a.then_valued = arrays_.into("rows.then_valued", seen, size);
        a.taken = arrays_.into("rows.taken", seen, size);
        a.proposed = arrays_.into("rows.proposed", seen, size);
        for (uint32_t n = 0; n < a.networks; ++n) {
            const std::string own = "value" + std::to_string(n);
            then_values_[n] =
                make_levels(arrays_, own + ".then", values_, a.then_valued, size, false, kept);
            now_values_[n] = make_levels(arrays_, own, values_, a.taken, size, true, kept);
            proposed_values_[n] = seeing(now_values_[n], a.proposed);
            a.back[n] = now_values_[n].back;
        }
        a.value_updates = values_.updates;
        a.policy_updates = policy_.updates;
        a.norms = values_.norms;
        a.norm_count = uint32_t((a.networks * values_.parameters + learn::block_threads - 1) /
                                learn::block_threads);
        value_step_ = step_of(values_, of_values, of_policy);
    }
    for (int n = 0; n < 2; ++n) {
        a.then_values[n] = then_values_[n].outputs;
        a.now_values[n] = now_values_[n].outputs;
        if (!now_values_[n].slopes.empty()) a.value_slopes[n] = now_values_[n].slopes.back();
    }
}

void OffPolicy::make_peers() {
    learn::PeerBuffer buffer(place_.ranks);
    uint32_t place = learn::gradients_of;
    for (Step* const step : {&policy_step_, &value_step_}) {
        const uint64_t parameters = uint64_t(step->of.count) * step->of.parameters;
        step->place = place++;
        step->shots = uint32_t(learn::peer_shots(parameters, place_.ranks));
        if (step->shots > 0 && parameters > 0) buffer.add(step->place, parameters);
    }
    buffer.add(learn::statistics_of, 0, all_tallies);
    buffer.add(learn::observations_of, 0, 2 * uint64_t(replay_.width()));
    arguments_.peers = policy_step_.peers = value_step_.peers = buffer.connect(host_);
}

void OffPolicy::prepare(void* stream) const {
    if (!place_.on_gpu) return;
    kernels_.launch("prepare", policy_.parameters, policy_step_, stream);
    if (acts())
        kernels_.launch("prepare", uint64_t(values_.count) * values_.parameters, value_step_,
                        stream);
}
void OffPolicy::observe(uint64_t rows, void* stream) {
    replay_.see(rows, stream);
    launch("observe_rows", rows * uint64_t(replay_.width()), stream);
    Levels levels = standing_;
    levels.rows = uint32_t(rows);
    const Pass pass{&policy_, 0, false, &levels};
    layers_.forward({&pass, 1}, nullptr, stream);
    launch("copy_outputs", rows, stream);
}
void OffPolicy::take_step(void* stream) {
    arguments_.steps_on = settings_.normalises_observations;
    observe(replay_.rows(), stream);
    arguments_.steps_on = false;
    replay_.choose(true, false, replay_.rows(), stream);
    replay_.step(stream);
    if (!settings_.normalises_observations) return;
    const uint64_t width = uint64_t(replay_.width());
    if (hands_over()) {
        launch("measure_rows", width * learn::block_threads, stream);
        host_.all_reduce(arguments_.seen_by_ranks, 2 * width, NACELLE_SUM, stream);
    }
    launch("update_normaliser", width * learn::block_threads, stream);
}

void OffPolicy::optimise(const Step& step, void* stream) const {
    const uint64_t parameters = uint64_t(step.of.count) * step.of.parameters;
    kernels_.launch("sum_gradient", parameters, step, stream);
    if (step.ranks > 1 && step.shots == 0) {
        host_.all_reduce(step.of.total, parameters, NACELLE_SUM, stream);
        kernels_.launch("measure_gradient", parameters, step, stream);
    }
    kernels_.launch("adam", parameters, step, stream);
}
void OffPolicy::update(uint32_t number, void* stream) {
    const uint64_t size = samples(), across = uint64_t(replay_.width() + replay_.parts());
    replay_.draw(number, stream);
    launch("open_gates", 1, stream);
    launch("gather", size * across, stream);
    if (settings_.prioritised()) {
        launch("largest_weight", learn::block_threads, stream);
        if (replay_.ranks() > 1) host_.all_reduce(arguments_.heaviest, 1, NACELLE_MAX, stream);
    }
    learn_values(stream);
    if (settings_.prioritised()) {
        launch("largest_priority", learn::block_threads, stream);
        if (replay_.ranks() > 1)
            host_.all_reduce(arguments_.replay.tree.most, 1, NACELLE_MAX, stream);
        replay_.revise(stream);
    }
    if (acts()) learn_policy(stream);
    if (hands_over()) {
        launch("sum_tallies", learn::block_threads, stream);
        host_.all_reduce(arguments_.tallies_of_ranks, all_tallies, NACELLE_SUM, stream);
    }
    launch("finish_update", learn::block_threads, stream);
}
void OffPolicy::learn_values(void* stream) const {
    const double* const found = gate(of_values);
    const uint64_t size = samples();
    if (!acts()) {
        const Pass passes[] = {{&policy_, 0, true, &then_values_[0]},
                               {&policy_, 0, false, &now_values_[0]},
                               {&policy_, 0, false, &then_values_[1]}};
        layers_.forward({passes, settings_.double_values ? 3u : 2u}, found, stream);
        launch("value_losses", size, stream);
        layers_.backward({passes + 1, 1}, false, found, stream);
        layers_.gradient({passes + 1, 1}, found, stream);
        return optimise(policy_step_, stream);
    }
    const bool followed = settings_.method != Method::sac;
    const Pass choosing[] = {{&policy_, 0, followed, &then_policy_},
                             {&policy_, 0, false, &now_policy_}};
    layers_.forward(choosing, found, stream);
    launch("sample_actions", size, stream);
    std::vector<Pass> passes, learning;
    for (uint32_t n = 0; n < values_.count; ++n) {
        learning.push_back({&values_, n, false, &now_values_[n]});
        passes.push_back({&values_, n, true, &then_values_[n]});
    }
    passes.insert(passes.end(), learning.begin(), learning.end());
    layers_.forward(passes, found, stream);
    launch("value_losses", size, stream);
    layers_.backward(learning, false, found, stream);
    layers_.gradient(learning, found, stream);
    optimise(value_step_, stream);
}
void OffPolicy::learn_policy(void* stream) const {
    const double* const found = gate(of_policy);
    const uint64_t size = samples();
    std::vector<Pass> passes;
    // SAC takes the lower of two values, the others the first one.
    const uint32_t climbed = settings_.method == Method::sac ? values_.count : 1;
    for (uint32_t n = 0; n < climbed; ++n)
        passes.push_back({&values_, n, false, &proposed_values_[n]});
    layers_.forward(passes, found, stream);
    launch("policy_losses", size, stream);
    layers_.backward(passes, true, found, stream);
    launch("action_slopes", size, stream);
    const Pass pass{&policy_, 0, false, &now_policy_};
    layers_.backward({&pass, 1}, false, found, stream);
    layers_.gradient({&pass, 1}, found, stream);
    optimise(policy_step_, stream);
}

void OffPolicy::record(void* stream) {
    prepare(stream);
    replay_.begin(stream);
    for (uint32_t step = 0; step < settings_.horizon; ++step) take_step(stream);
    for (uint32_t i = 0; i < settings_.updates; ++i) update(i, stream);
}
void OffPolicy::act(bool greedy, uint32_t envs, void* stream) {
    const uint64_t rows = std::min<uint64_t>(envs, replay_.rows());
    prepare(stream);
    observe(rows, stream);
    replay_.choose(false, greedy, rows, stream);
}

std::vector<const char*> OffPolicy::names() const {
    if (!acts()) return {"loss.value", "value", "gradient_norm"};
    if (settings_.method == Method::sac)
        return {"loss.value", "loss.policy", "value", "entropy", "temperature", "gradient_norm"};
    return {"loss.value", "loss.policy", "value", "gradient_norm"};
}
void OffPolicy::metrics(nacelle::plugin::Metrics& out) {
    const std::vector<const char*> its_names = names();
    std::vector<double> found(its_names.size());
    int64_t updates = 0;
    host_.read(found.data(), arguments_.found, found.size() * sizeof(double));
    host_.read(&updates, arguments_.updates, sizeof updates);
    for (size_t i = 0; updates > 0 && i < its_names.size(); ++i) out.add(its_names[i], found[i]);
    const std::vector<float> dials = replay_.dials();
    out.add("learning_rate", double(dials[replay::learning_rate]));
    if (settings_.method != Method::sac) out.add("exploration", double(dials[replay::exploration]));
    out.add("updates", double(updates));
    out.add("replay.steps", double(std::min(replay_.steps(), replay_.capacity())));
}

}
