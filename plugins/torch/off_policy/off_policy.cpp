#include "plugins/torch/off_policy/off_policy.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/encoder.h"

namespace torch_learn {
namespace {

std::unique_ptr<OffPolicyMethod> make_method(const NetworkMaker& maker) {
    switch (maker.settings.method) {
        case Method::dqn: return make_dqn(maker);
        case Method::sac:
            return maker.settings.discrete ? make_discrete_sac(maker) : make_sac(maker);
        default: return make_td3(maker);
    }
}

}

OffPolicy::OffPolicy(const replay::Learner& learner, nacelle::plugin::Host host,
                     std::string_view config, Gpu* gpu)
    : host_(host),
      settings_(read_learner(learner, config, host.environment(), host.ranks().ranks)),
      work_(host, gpu),
      encoder_(learn::encoder_of(settings_.policy, learn::SchemaView(host.environment()))),
      replay_(host, settings_, form_of(settings_), free_bytes(gpu)) {
    use_one_thread();
    replay_.make_arrays();
    tensors_ = std::make_unique<ReplayTensors>(replay_);
    const learn::SchemaView schema(host.environment());
    const std::string group = schema.header().group[0].name;
    normal_ =
        std::make_unique<Normaliser>(*tensors_, group, encoder_, settings_.normalises_observations);
    method_ = make_method({*tensors_, settings_, encoder_, *normal_});
    const auto count = uint64_t(method_->names().size());
    numbers_ = replay_.array<double>("found", {count}, false);
    found_ = tensors_->tensors.of(numbers_, {int64_t(count)});
    updates_ = replay_.array<int64_t>("updates", {1}, true);
    count_ = tensors_->tensors.of(updates_, {1});
    policies_ = replay::policy_text(settings_, encoder_, method_->sizes(), host.environment());
    if (gpu) gpu->finish();
}

void OffPolicy::look(void* stream) {
    const at::NoGradGuard no_gradient;
    replay_.see(replay_.rows(), stream);
    tensors_->outputs.copy_(method_->outputs((*normal_)(tensors_->standing)));
}
void OffPolicy::take_step(void* stream) {
    look(stream);
    replay_.choose(true, false, replay_.rows(), stream);
    replay_.step(stream);
    const at::NoGradGuard no_gradient;
    normal_->follow(tensors_->standing, stream);
}
void OffPolicy::update(uint32_t number, void* stream) {
    replay_.draw(number, stream);
    const std::vector<at::Tensor> found =
        method_->update(tensors_->samples, is_of_policy(updates_made_ + number), stream);
    replay_.revise(stream);
    const at::NoGradGuard no_gradient;
    if (number + 1 < settings_.updates) return;
    found_.copy_(at::stack(found));
    tensors_->ranks.average(found_, stream);
}

void OffPolicy::record(void* stream) {
    if (!begun_) {    // a checkpoint may have been loaded
        steps_taken_ = replay_.steps();
        host_.read(&updates_made_, updates_, sizeof updates_made_);
        begun_ = true;
    }
    steps_taken_ += steps_per_iteration() * replay_.ranks();
    const bool learns = steps_taken_ >= settings_.warm_up &&
                        steps_taken_ >= settings_.n_step * replay_.rows() * replay_.ranks();
    const int phase = int(updates_made_ % uint64_t(settings_.policy_every));
    const auto work = [&] {
        replay_.begin(stream);
        for (uint32_t step = 0; step < settings_.horizon; ++step) take_step(stream);
        for (uint32_t i = 0; learns && i < settings_.updates; ++i) update(i, stream);
        if (learns) count_.add_(int64_t(settings_.updates));
    };
    work_.run(stream, learns ? 1 + phase : 0, work);
    updates_made_ += learns ? settings_.updates : 0;
}

void OffPolicy::act(bool greedy, void* stream) {
    work_.once(stream, [&] {
        look(stream);
        replay_.choose(false, greedy, replay_.rows(), stream);
    });
}

void OffPolicy::metrics(nacelle::plugin::Metrics& out) {
    const std::vector<const char*> names = method_->names();
    std::vector<double> found(names.size());
    host_.read(found.data(), numbers_, found.size() * sizeof(double));
    for (size_t i = 0; updates_made_ > 0 && i < names.size(); ++i) out.add(names[i], found[i]);
    const std::vector<float> dials = replay_.dials();
    out.add("learning_rate", double(dials[replay::learning_rate]));
    if (settings_.method != Method::sac) out.add("exploration", double(dials[replay::exploration]));
    out.add("updates", double(updates_made_));
    out.add("replay.steps", double(std::min(steps_taken_, replay_.capacity())));
}

}
