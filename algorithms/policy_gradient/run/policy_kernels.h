#pragma once
#include "algorithms/policy_gradient/layers/layered_update.h"
#include "algorithms/policy_gradient/layers/streamed_policy.h"
#include "algorithms/policy_gradient/run/external_policy.h"
#include "algorithms/policy_gradient/run/rank_sums.h"

#include <memory>

namespace learn {

// The order of a run's kernels. All but the constructor put their launches on the stream.
class PolicyKernels final {
public:
    PolicyKernels(nacelle::plugin::Host host, const nacelle_environment& environment,
                  const Settings& settings, const std::vector<NetworkShape>& shapes,
                  const MakeExternal& external);

    // Before launches are recorded: a save may have brought other kernels.
    void look_again() { kernels_.look_again(); }
    // Who follows which policy, as the author's file says.
    void enlist(const Arguments& a, void* stream) const;
    // Once the arrays are there and filled.
    void begin_external(const Arguments& a) const;
    void mark(Arguments& a, Moment moment, void* stream) const;
    void begin(const Arguments& a, void* stream) const;
    void rollout(Arguments& a, void* stream) const;
    void observations(const Arguments& a, void* stream) const;
    // And what follows from them: the advantages of all policies that learn.
    void returns(const Arguments& a, void* stream) const;
    // Those of a critic that sees more.
    void find_values(const Arguments& a, size_t critic, void* stream) const;
    void review(const Arguments& a, size_t policy, void* stream) const;
    void minibatch(const Arguments& a, size_t policy, void* stream) const;
    // Of games against the past, among ranks; finish() takes what they add up to.
    void hand_over_results(const Arguments& a, void* stream) const;
    void finish(const Arguments& a, void* stream) const;
    // For the agents of the first `envs` environments.
    void act(Arguments a, uint64_t envs, void* stream) const;
    bool plays() const {
        const Rollout rollout = kernels_.plan().run.rollout;
        return rollout == Rollout::warps || rollout == Rollout::resident;
    }
    void play(Arguments a, void* stream) const;

    // What ranks add up in, once the policies' arrays are there.
    void make_sums(Arguments& a);
    const GroupPlan& group(size_t number) const { return kernels_.plan().groups[number]; }
    const PolicyPlan& policy(size_t number) const { return kernels_.plan().policies[number]; }
    // Of a policy whose layers go through memory, or null.
    StreamedPolicy* streamed(size_t policy) const { return streamed_[policy].get(); }
    // Of a policy whose layers are wide for a CPU, or null.
    LayeredUpdate* layered(size_t policy) const { return layered_[policy].get(); }

private:
    void gather_images(const Arguments& a, void* stream) const;
    void roll_in_steps(Arguments& a, void* stream) const;
    void prepare(const Arguments& a, void* stream) const;
    void act_now(const Arguments& a, uint64_t envs, void* stream) const;
    void choose_externally(const Arguments& a, size_t policy, void* stream) const;

    Kernels kernels_;
    RankSums sums_;
    size_t groups_;    // and one more where critics see overviews
    std::vector<std::unique_ptr<StreamedPolicy>> streamed_;
    std::vector<std::unique_ptr<LayeredUpdate>> layered_;
    std::vector<std::unique_ptr<ExternalPolicy>> external_;
};

}
