#pragma once
#include "engine/config/config.h"

#include <string_view>

namespace nacelle::tools {

// Opens closed descriptors from 0 to 2: a file of this process with such a number would receive printed lines.
// Ignores SIGPIPE and SIGXFSZ: the command itself reports a failed write.
void reserve_standard_streams();

// Prints one line of JSON in one write.
void print_json(const Json& line);

// Whether writing to standard output has failed: a full disk, or a closed pipe.
bool output_failed();
// Flushes standard output; false, with a message on standard error, where that fails.
bool finish_output();

// While it lives, a call of exit() by an author's code ends this process with a message and status 1.
class ExitWatch final {
public:
    ExitWatch();
    ~ExitWatch();
    ExitWatch(const ExitWatch&) = delete;
    ExitWatch& operator=(const ExitWatch&) = delete;
};

}
