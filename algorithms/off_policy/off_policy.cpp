// Learners with a replay whose networks are layers of ours: those that `torch_dqn` and the others are on LibTorch.
#include "algorithms/off_policy/learner.h"

namespace {

template <const replay::Learner& learner> class WithReplay final : public off_policy::OffPolicy {
public:
    static constexpr const char* name = learner.name;
    WithReplay(nacelle::plugin::Host host, std::string_view config)
        : OffPolicy(learner, host, config) {}
};
constexpr replay::Learner dqn = {replay::Method::dqn, "dqn", false},
                          sac = {replay::Method::sac, "sac", false},
                          td3 = {replay::Method::td3, "td3", false},
                          ddpg = {replay::Method::ddpg, "ddpg", false};

}

NACELLE_PLUGIN("nacelle.off_policy", "1.0.0", "Learners with a replay",
               nacelle::plugin::Learner<WithReplay<dqn>>, nacelle::plugin::Learner<WithReplay<sac>>,
               nacelle::plugin::Learner<WithReplay<td3>>,
               nacelle::plugin::Learner<WithReplay<ddpg>>)
