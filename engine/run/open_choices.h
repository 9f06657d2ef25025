#pragma once
#include "engine/run/diagnosis.h"
#include "engine/run/trainee.h"

namespace nacelle {

// Which choices of an agent masks have left open so far. One step says little: masks may move from step to step.
class OpenChoices final {
public:
    struct Part {
        std::string name;
        size_t choices = 0;
    };
    OpenChoices(std::string mask, std::vector<Part> parts);

    // The masks of a step, a row for each agent.
    void add(std::span<const std::byte> masks);
    // Whether every choice was open once. Rows without any, of agents that may not act, do not count.
    bool all() const;
    // "mask closes choices 1 and 2 of action.go in all of 640 rows of 10 steps"
    std::vector<Suspicion> never_open() const;

private:
    std::string mask_;
    std::vector<Part> parts_;
    std::vector<uint8_t> open_;    // of the choices of all parts, one after the other
    uint64_t rows_ = 0, steps_ = 0;
};

// Looks at the masks as they are, and where some choice is closed for everyone, at those of some hundred steps more,
// with actions as in training: for the end of a run. Nothing where `stop` says so.
std::vector<Suspicion> choices_never_open(Trainee& trainee, const std::function<bool()>& stop);

}
