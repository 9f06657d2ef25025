#pragma once
#include "engine/env/environment.h"

#include <nacelle/programs/take_actions.h>

namespace nacelle::python {

// The way of a caller's actions into an environment's arrays: types, ranges and layout.
class Actions final {
public:
    static constexpr const char* program_text =
        "#include <nacelle/programs/take_actions.h>\nNACELLE_TAKE_ACTIONS()\n";

    explicit Actions(Environment& env);

    // What is given: some numbers of each agent's action in one group, one row for each agent.
    struct Given {
        uint32_t group = 0, first_part = 0, parts = 0;
        TakenType type = TakenType::i32;
        const void* source = nullptr;
        uint64_t numbers = 0;
    };
    // The numbers of one agent's action.
    uint32_t parts(uint32_t group) const { return uint32_t(groups_.at(group).parts.size()); }
    uint64_t rows(uint32_t group) const { return groups_.at(group).rows; }
    // From ordinary memory, where the environment is on a CPU; throws for a number that may not be.
    void take(const Given& given);
    // From the GPU's memory. What may not be is replaced by the lowest number, and require_good() throws.
    void take_on_device(const Given& given);
    // Waits for the stream where there is a GPU.
    void require_good();

private:
    struct Group {
        std::string name;
        uint64_t rows = 0;
        std::vector<TakenPart> parts;
        std::vector<std::string> names;
        Buffer there;    // the parts, on a GPU
    };
    TakeActionsArgs args_of(const Given& given) const;
    void launch(const Kernel& kernel, const TakeActionsArgs& args);
    [[noreturn]] void say_fault(uint32_t group, uint64_t fault, const double* value) const;

    Environment& env_;
    std::vector<Group> groups_;
    std::unique_ptr<Module> module_;
    Kernel kernel_;
    Buffer faults_;    // of a GPU, one for each group
};

}
