#pragma once
#include <stdexcept>
#include <string>

namespace nacelle {

// The one exception type of the engine: where the fault is, what it is, and what would work instead.
class Error final : public std::runtime_error {
public:
    Error(std::string where, std::string what, std::string instead = {});

    const std::string& where() const noexcept { return where_; }
    const std::string& reason() const noexcept { return reason_; }
    const std::string& instead() const noexcept { return instead_; }

private:
    std::string where_, reason_, instead_;
};

}
