#pragma once
#include "tests/algorithms/convolved.h"

// What an iteration of a policy gradient must have found, worked out in doubles from what the rollout
// kept: its observations, masks, choices, rewards and flags.
namespace nacelle::test {

// One policy of a learner, as its settings and the environment's schema describe it.
struct PolicyForm {
    std::string name, group;
    ActivationForm activation;
    uint32_t group_number = 0;
    std::vector<size_t> agents;    // of the group
    size_t in_group = 1;
    size_t seen = 0;    // numbers of a row
    EncoderForm encoder;
    std::vector<size_t> actor, critic;    // behind the convolutions
    std::vector<std::string> cells;       // of the hidden layers: "linear", "mingru", "gru"
    bool shared = true;
    // Of a central critic: what it sees, and numbers of an overview. Rows are what the policy sees and behind it all that
    // the critic does.
    Json sees;
    size_t overview = 0, overseen = 0;
    HeadForm head;
    // Environments in a row of which one policy learns, or an agent of one; 0: all rows learn.
    size_t learns_by = 0, learns_at = 0;
    // Whether anything is learnt from what an agent does there.
    bool learns(size_t env, size_t id) const {
        return learns_by == 0 ||
               (learns_by == 1 ? env % 2 == id : env / learns_by % 2 == learns_at);
    }
    Json dials;    // the learner's settings, with the policy's own over them

    double dial(const std::string& key) const { return dials.at(key).get<double>(); }
    LossForm loss() const;
};
std::vector<PolicyForm> policies_of(Lesson& lesson);

// How one group's observations were normalised while a rollout was made.
struct Normaliser {
    std::vector<double> mean, scale;
    static Normaliser of(Lesson& lesson, const std::string& group);
    static Normaliser of(Lesson& lesson, const PolicyForm& policy);
};

// What the environment's arrays hold of a group's rows, "obs" or "final_obs": numbers, then the images.
std::vector<double> rows_seen(Lesson& lesson, const PolicyForm& policy, const std::string& array);

// An array of the policy's networks, "weights" or "total": its own and, behind it, that of its central critic.
std::vector<double> of_networks(Lesson& lesson, const PolicyForm& policy, const std::string& array);
// Rows of a policy with all that its central critic sees behind each: from the overviews and observations of the same
// moment, [envs] and [rows].
std::vector<double> overseen_rows(const PolicyForm& policy, const std::vector<double>& overviews,
                                  const std::vector<double>& obs);

// What a rollout kept of a group, [steps][rows].
struct Kept {
    size_t steps, rows, width, parts, choices;
    std::vector<double> obs, choice, log_probability, value, final_value, reward, advantage, target,
        ratio;
    std::vector<uint8_t> mask, flag;
    std::vector<bool> waits;    // of a row: whether it is not its turn when the rollout ends

    bool in_pairs =
        false;    // of bfloat16: then obs is worked out by the normaliser that the rollout had

    Kept(Lesson& lesson, const PolicyForm& policy, const Normaliser& normaliser = {});
    static bool acted(uint8_t flag) { return flag & 4; }
    static bool counts(uint8_t flag) { return (flag & 12) == 4; }
    static bool ends(uint8_t flag) { return flag & 3; }
    static bool cut(uint8_t flag) { return (flag & 3) == 2; }
    bool acted_at(size_t t, size_t row) const { return acted(flag[t * rows + row]); }
    std::vector<uint8_t> mask_at(size_t at) const;
    std::vector<double> choice_at(size_t at) const;
};

// The policy's networks in doubles, with weights as the learner has them.
class Scholar final {
public:
    Scholar(const PolicyForm& form, std::vector<double> weights, Normaliser normaliser)
        : form_(form), weights_(std::move(weights)), normaliser_(std::move(normaliser)) {}

    struct Answer {
        double log_probability, entropy, value;
    };
    Answer answer(const std::vector<double>& obs, const std::vector<uint8_t>& mask,
                  const std::vector<double>& choice) const;
    double value(const std::vector<double>& obs) const;
    std::vector<double> outputs(const std::vector<double>& obs) const;    // of the head

    struct Sample {
        std::vector<double> obs, choice;
        std::vector<uint8_t> mask;
        Seen then;
        bool acts;    // else it counts for nothing
    };
    // The mean loss of the samples that act, and its slopes along all weights.
    struct Study {
        std::vector<double> slopes;
        double policy_loss = 0, value_loss = 0, entropy = 0, kl = 0, clipped = 0;
    };
    Study study(const std::vector<Sample>& samples) const;

private:
    std::vector<double> seen(const std::vector<double>& obs) const;
    std::vector<double> overseen(const std::vector<double>& obs) const;
    template <class T>
    std::vector<T> entered(const T* weights, const std::vector<double>& obs) const;
    template <class T>
    void think(const std::vector<T>& weights, const std::vector<double>& obs, std::vector<T>& out,
               T& value) const;

    const PolicyForm& form_;
    std::vector<double> weights_;
    Normaliser normaliser_;
};

std::vector<double> obs_at(const Kept& kept, size_t t, size_t row);

// Advantages and targets of one row by their definition, from its rewards on: sums over all own turns
// that follow in the same episode. `ratio` of 1 everywhere is generalised advantage estimation.
struct Credit {
    double gamma, lambda, ratio_bound = 1, trace_bound = 1;
    bool traced = false;
};
struct Worth {
    std::vector<double> advantage, target;    // zero where the agent did not act
    std::vector<bool> known;    // whether what the turn led to lies within the rollout
};
Worth worth_of(const Credit& credit, const std::vector<double>& reward,
               const std::vector<uint8_t>& flag, const std::vector<double>& value,
               const std::vector<double>& final_value, const std::vector<double>& ratio,
               bool waits = false);

}
