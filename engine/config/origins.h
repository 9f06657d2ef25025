#pragma once
#include "engine/base/error.h"
#include "engine/config/config.h"

namespace nacelle {

// The options and files that a configuration was put together from. It says where a value was written.
class Origins final {
public:
    // `where` is the name of the configuration in errors, such as "run.json".
    explicit Origins(std::string where) : where_(std::move(where)) {}
    // Files are added before assignments, the weaker ones first.
    void add_file(std::string name, Json values);
    void add_assignment(const std::string& assignment);

    // An error about a value of the configuration, with the option or the file that gave the value as its place. Other
    // errors stay as they are.
    Error placed(const Error& error) const;

private:
    struct Layer {
        std::string name;    // of the file; empty: an option
        std::string path;    // of the option
        Json values;         // of the file
    };
    std::string learner() const;

    std::string where_;
    std::vector<Layer> layers_;
};

}
