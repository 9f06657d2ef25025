#pragma once
#include <string>

namespace nacelle::tools {

// The line of a terminal that is rewritten.
class TerminalLine final {
public:
    explicit TerminalLine(bool shown) : shown_(shown) {}
    void show(const std::string& text);
    void end();

private:
    bool shown_, open_ = false;
};

}
