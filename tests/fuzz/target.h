#pragma once
#include "tests/support/random.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nacelle::fuzz {

using test::Dice;

// A part of the engine that reads what others wrote, and how inputs for it are made. One input is one
// text of bytes, so that it can be kept as a file.
class Target {
public:
    virtual ~Target() = default;
    // Sound inputs, from which all others come.
    virtual std::vector<std::string> samples() = 0;
    // Another input out of one, and out of `other`, which is any of them.
    virtual std::string mutated(const std::string& input, const std::string& other, Dice& dice) = 0;
    // Has the engine read it. An Error is an answer; any other exception is a finding.
    virtual void read(const std::string& input) = 0;
};

struct NamedTarget {
    const char* name;
    std::unique_ptr<Target> (*make)();
};

// In the order in which they are run.
std::span<const NamedTarget> all_targets();

// Each is in a file of its own name in targets/.
std::unique_ptr<Target> checkpoint_target();
std::unique_ptr<Target> child_target();
std::unique_ptr<Target> command_target();
std::unique_ptr<Target> compiler_target();
std::unique_ptr<Target> configuration_target();
std::unique_ptr<Target> manifest_target();
std::unique_ptr<Target> npy_target();
std::unique_ptr<Target> page_target();
std::unique_ptr<Target> policy_file_target();
std::unique_ptr<Target> recording_target();
std::unique_ptr<Target> safetensors_target();
std::unique_ptr<Target> schema_target();

}
