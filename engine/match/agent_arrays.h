#pragma once
#include "engine/env/environment.h"
#include "engine/policy/policy_description.h"

#include <nacelle/random.h>
#include <span>

namespace nacelle {

// What the agents of one group see, do and get, between the device's arrays and the host. A row is an agent of an
// environment.
class AgentArrays final {
public:
    AgentArrays(Environment& env, uint32_t group);

    uint32_t agents() const { return agents_; }    // in one environment
    // Numbers of a row of masks (0: nothing is ever forbidden) and of actions.
    size_t choices() const { return mask_ ? choices_ : 0; }
    size_t parts() const { return parts_.size(); }

    // Copies from the device whose turn it is, and what all see and may do.
    void look();
    void read_rewards();

    bool acts(size_t row) const { return turns_.empty() || turns_[row] == 0; }
    float reward(size_t row) const { return rewards_[row]; }
    // Of each of these rows the arrays that a policy sees, in its order.
    void observe(std::span<const uint32_t> rows, const PolicyDescription& policy,
                 std::vector<float>& numbers) const;
    void mask(size_t row, uint8_t* open) const;
    // A choice among what the mask allows, uniform, for each part.
    void draw(size_t row, Rng& rng, float* action) const;

    // Notes the action of a row; write_actions() copies those of all to the device.
    void act(size_t row, const float* action);
    void write_actions();

private:
    struct Seen {
        std::string name;
        NamedArray* array;
        size_t count;    // of a row
        std::vector<std::byte> bytes;

        void copy(size_t row, float* numbers) const;
    };
    struct Done {
        NamedArray* array;
        std::vector<std::byte> bytes;
    };
    struct Part {
        size_t done, place;    // which array, and the place of its first row there
        int choices;           // 0: a real number
        float low, high;
    };
    void add_action(const Field& field, NamedArray& array);

    uint32_t agents_;
    size_t rows_, choices_ = 0;
    std::vector<Seen> seen_;
    std::vector<Done> done_;
    std::vector<Part> parts_;
    NamedArray *mask_ = nullptr, *turn_ = nullptr, *reward_ = nullptr;
    std::vector<uint8_t> masks_, turns_;
    std::vector<float> rewards_;
};

}
