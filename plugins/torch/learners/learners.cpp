// The learners on LibTorch: those beside `ppo` and `a2c`, whose settings they take, and those with a replay.
#include "algorithms/policy_gradient/run/policy_gradient.h"
#include "plugins/torch/learners/autograd_critic.h"
#include "plugins/torch/learners/autograd_policy.h"
#include "plugins/torch/learners/captured_work.h"
#include "plugins/torch/learners/own_models.h"
#include "plugins/torch/models/models.h"
#include "plugins/torch/off_policy/off_policy.h"

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/version.h>

namespace torch_learn {
namespace {

constexpr learn::Algorithm ppo{.name = "torch_ppo",
                               .clips = true,
                               .horizon = 128,
                               .epochs = 4,
                               .minibatches = 4,
                               .learning_rate = 1e-3,
                               .entropy = 0.01,
                               .external = true};
constexpr learn::Algorithm a2c{.name = "torch_a2c",
                               .clips = false,
                               .horizon = 8,
                               .epochs = 1,
                               .minibatches = 1,
                               .learning_rate = 1e-3,
                               .entropy = 0.01,
                               .external = true};

// LibTorch's C++ interface changes with every version, so the one at run time is that of the build.
void require_version() {
    const uint64_t found = aoti_torch_abi_version();
    const auto part = [&](int which) { return std::to_string((found >> (8 * which)) & 255); };
    const std::string version = part(7) + "." + part(6) + "." + part(5);
    if (version != TORCH_VERSION)
        throw std::runtime_error("this plugin was built with LibTorch " TORCH_VERSION
                                 ", and the one that was loaded is " +
                                 version + "; 'tools/nacelle torch' installs the right one");
}
// Opens LibTorch's part for GPUs where the environment is on one; else null.
Gpu* gpu_of(const nacelle::plugin::Host& host) {
    require_version();
    return host.environment().on_gpu ? &open_gpu(host) : nullptr;
}

template <const replay::Learner& learner> class WithReplay final : public OffPolicy {
public:
    static constexpr const char* name = learner.name;
    static constexpr bool captures_itself = true;
    WithReplay(nacelle::plugin::Host host, std::string_view config)
        : OffPolicy(learner, host, config, gpu_of(host)) {}
};
constexpr replay::Learner dqn = {Method::dqn, "torch_dqn", true},
                          sac = {Method::sac, "torch_sac", true},
                          td3 = {Method::td3, "torch_td3", true},
                          ddpg = {Method::ddpg, "torch_ddpg", true};

template <const learn::Algorithm& algorithm> class OnPolicy final {
public:
    static constexpr const char* name = algorithm.name;
    static constexpr bool captures_itself = true;
    OnPolicy(nacelle::plugin::Host host, std::string_view config)
        : gpu_(gpu_of(host)),
          work_(host, gpu_),
          models_(host),
          learner_(
              algorithm, host, config,
              [this](auto its_host, const auto& settings, const auto& shape,
                     uint32_t number) -> std::unique_ptr<learn::ExternalPolicy> {
                  const learn::PolicySettings& policy = settings.policies[number];
                  if (policy.is_critic())
                      return std::make_unique<AutogradCritic>(its_host, settings, shape, number,
                                                              gpu_);
                  std::shared_ptr<Model> model =
                      policy.own.there() ? models_.of(policy.name) : make_network(shape, policy);
                  return std::make_unique<AutogradPolicy>(its_host, settings, shape, number,
                                                          std::move(model), gpu_);
              },
              [this](auto& policy, const auto& environment) {
                  models_.describe(policy, environment);
              }) {}

    uint64_t steps_per_iteration() const noexcept { return learner_.steps_per_iteration(); }
    void record(void* stream) {
        if (models_.all_captured()) work_.run(stream, 0, [&] { learner_.record(stream); });
        else work_.once(stream, [&] { learner_.record(stream); });
    }
    void act(bool greedy, void* stream) {
        work_.once(stream, [&] { learner_.act(greedy, ~uint32_t(0), stream); });
    }
    void metrics(nacelle::plugin::Metrics& out) { learner_.metrics(out); }
    const std::string& settings() const { return learner_.settings(); }
    const std::string& policies() const { return learner_.policies(); }

private:
    Gpu* gpu_;
    CapturedWork work_;
    OwnModels models_;
    learn::PolicyGradient learner_;
};

}
}

NACELLE_PLUGIN("nacelle.torch", "1.0.0", "Learners on LibTorch, by autograd",
               nacelle::plugin::Learner<torch_learn::OnPolicy<torch_learn::ppo>>,
               nacelle::plugin::Learner<torch_learn::OnPolicy<torch_learn::a2c>>,
               nacelle::plugin::Learner<torch_learn::WithReplay<torch_learn::dqn>>,
               nacelle::plugin::Learner<torch_learn::WithReplay<torch_learn::sac>>,
               nacelle::plugin::Learner<torch_learn::WithReplay<torch_learn::td3>>,
               nacelle::plugin::Learner<torch_learn::WithReplay<torch_learn::ddpg>>,
               nacelle::torch_models::Offer<torch_learn::Lstm>,
               nacelle::torch_models::Offer<torch_learn::Attention>,
               nacelle::torch_models::Offer<torch_learn::Transformer>)
