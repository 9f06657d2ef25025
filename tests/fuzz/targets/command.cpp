#include "engine/watch/local_viewer.h"
#include "tests/fuzz/json_mutation.h"
#include "tests/fuzz/target.h"

#include <stdexcept>

namespace nacelle::fuzz {
namespace {

class Command final : public Target {
public:
    std::vector<std::string> samples() override {
        return {R"({"do":"pause"})",
                R"({"do":"pace","value":60})",
                R"({"do":"param","name":"gravity","value":{"uniform":[1,2]}})",
                R"({"do":"arrays","value":["obs","state.x"]})",
                R"({"do":"env","value":3})",
                R"({"do":"seek","value":18446744073709551615})"};
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        return mutated_json_text(input, other, dice);
    }

    void read(const std::string& input) override {
        const Json command = read_command(input);
        if (!command.is_null() && !command.at("do").is_string())
            throw std::logic_error("a command has no words");
        Sections sections;
        LocalViewer viewer(sections);
        for (int i = 0; i < 3; ++i) viewer.ask(input);
        viewer.look();
        if (viewer.commands().size() != (command.is_null() ? 0 : 3))
            throw std::logic_error("a command was lost, or came of nothing");
    }
};

}

std::unique_ptr<Target> command_target() { return std::make_unique<Command>(); }

}
