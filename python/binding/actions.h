#pragma once
#include "engine/env/environment.h"
#include "python/binding/policy_agents.h"

#include <nacelle/programs/take_actions.h>

namespace nacelle::python {

// The way of a caller's actions, those of one policy's agents, into the arrays of an environment: types, ranges and layout.
class Actions final {
public:
    Actions(Environment& env, PolicyAgents whose);

    // One row of numbers for each agent, environment after environment.
    struct Given {
        TakenType type = TakenType::i32;
        const void* source = nullptr;
        uint64_t numbers = 0;
    };
    // From ordinary memory, where the environment is on a CPU; throws for a number that may not be.
    void take(const Given& given);
    // From the GPU's memory. What may not be is replaced by the lowest number, and require_good() throws.
    void take_on_device(const Given& given);
    // Waits for the stream where there is a GPU.
    void require_good();

private:
    TakeActionsArgs args_of(const Given& given) const;
    void launch(const Kernel& kernel, const TakeActionsArgs& args);
    [[noreturn]] void say_fault(uint64_t fault, const double* value) const;

    Environment& env_;
    PolicyAgents whose_;
    std::vector<TakenPart> parts_;
    std::vector<std::string> names_;    // of the parts
    Buffer parts_there_, ids_there_;    // the parts and the ids, on a GPU
    std::unique_ptr<Module> module_;
    Kernel kernel_;
    Buffer fault_;    // of a GPU
};

}
