#pragma once
#include <functional>
#include <learn/formulas/cells.h>
#include <learn/layout/arguments.h>
#include <nacelle/plugin/config.h>
#include <nacelle/plugin/host.h>
#include <nacelle/schema.h>
#include <stdexcept>
#include <string>

// What a policy gradient is configured by, read and checked, with every default filled in.
namespace learn {

// What sets one algorithm of the family apart.
struct Algorithm {
    const char* name;
    bool clips;    // the ratio of probabilities is bounded, so that samples may be used again
    int64_t horizon, epochs, minibatches;
    double learning_rate, entropy;
    bool external = false;    // networks are computed elsewhere
};

struct ConvolutionSettings {
    int64_t channels = 0;             // out
    int64_t rows = 0, columns = 0;    // of the kernel
    int64_t stride = 1, padding = 0;
};

// A network that is none of layers: what makes it, as a JSON object, and what it turned out to have.
struct OwnNetwork {
    std::string text;    // empty: the policy has layers
    std::vector<float> weights;
    int64_t memory = 0;    // floats that a row remembers
    bool there() const { return !text.empty(); }
};

// A central critic of a policy: what its values see, and its layers.
struct CriticSettings {
    bool there = false, global = false, team = false, own = false;
    uint32_t numbers = 0;    // of an environment's overview, where it sees that
    std::vector<int64_t> hidden;
    std::string execution = "auto";
};

// The pool of a policy's past that others play against, or it itself.
struct PastSettings {
    int64_t members = 0;    // 0: there is none
    int64_t every = 20;     // iterations from one to the next
    std::string sample = "uniform";
    Against form = Against::none;
};

struct PolicySettings {
    enum class Role { trained, fixed, random };
    std::string name;
    CriticSettings critic;
    // Of a critic, which follows the policies as a network of its own: whose values it gives.
    int critic_of = -1;
    bool is_critic() const { return critic_of >= 0; }
    uint32_t group = 0, agents = 0;
    Role role = Role::trained;
    PastSettings past;
    // Of its rows in so many environments those that learn.
    uint64_t learning(uint32_t number, uint64_t envs) const {
        return learning_rows(past.form, number, uint32_t(envs * agents), agents);
    }
    int64_t codes = 0;    // each element of an image becomes so many channels; 0: it stays a number
    std::vector<ConvolutionSettings> convolutions;    // in front of the hidden layers
    std::vector<int64_t> hidden;                      // neurons of each layer, and what it is
    std::vector<Cell> cells;
    OwnNetwork own;    // in their place
    bool remembers() const {
        if (own.there()) return own.memory > 0;
        for (const Cell cell : cells)
            if (learn::remembers(cell)) return true;
        return false;
    }
    std::string activation, deviation, precision;
    bool shared = true, squashed = false;
    // How a GPU computes layers: "fused" takes rows through all of them in one kernel, "streamed" has a matrix product
    // for each, "row_pass" has those in rollouts and one kernel for all layers of an update. "auto" until it is decided,
    // and on a CPU.
    std::string execution = "auto";
    int planes = 0;             // of bfloat16 that a number has on tensor cores; none on a CPU
    int64_t noise_steps = 1;    // for which the noise of continuous actions stays the same
    bool on_tensor_cores() const { return planes > 0; }
    bool passes_rows() const { return execution == "row_pass"; }
    bool streamed() const { return execution == "streamed" || passes_rows(); }
    bool wide_on_cpu = false;    // a CPU has a matrix product for each layer, too
    // Whether the activation's slope needs what went into it.
    bool keeps_input() const { return activation == "gelu" || activation == "silu"; }
    double initial_deviation = 1, hidden_gain = 0, choice_gain = 0, value_gain = 0;
    Schedule dials[dial_count] = {};
};

struct Settings {
    uint32_t horizon = 0, epochs = 0, minibatches = 0;
    uint32_t ranks = 1;     // processes that learn together
    bool peers = false;     // whose GPUs reach one another's memory, and add up there
    uint32_t shards = 1;    // of this rank's environments
    bool gathers =
        true;    // gradients of more than two ranks where a communicator has an order of its own
    uint32_t sequence = 0;    // steps through which networks with a memory learn at once
    bool clips = true;
    bool external = false;    // networks are computed elsewhere
    bool emulates = false;    // a GPU's kernels on a CPU: slow, for tests
    bool stepwise = false;    // a launch a step, where one for all of them could be
    uint32_t overview = 0;    // numbers of it that critics see
    bool traced = false, normalises_observations = true, scales_rewards = true;
    bool keeps_pairs = false;    // of bfloat16, of what is observed
    uint32_t scales_advantages = 1;
    double reward_bound = 0, reward_factor = 1;
    std::vector<PolicySettings> policies;    // those that act, then their critics
    size_t acting() const {
        size_t count = 0;
        for (const PolicySettings& policy : policies) count += !policy.is_critic();
        return count;
    }
    std::string resolved;    // all of this as the JSON it could be read from
};

// A setting by its path, and what is wrong with it.
[[noreturn]] inline void wrong(const std::string& where, const std::string& what) {
    throw std::runtime_error(where + ": " + what);
}

// `describe` makes the networks of policies that have one of their own.
using DescribeOwn =
    std::function<void(PolicySettings& policy, const nacelle_environment& environment)>;
Settings read_settings(const Algorithm& algorithm, std::string_view config,
                       const nacelle_environment& environment,
                       const nacelle_ranks& ranks = {sizeof(nacelle_ranks), 0, 1},
                       const DescribeOwn& describe = {});

}
