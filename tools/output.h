#pragma once
#include "engine/config/config.h"

#include <string_view>

namespace nacelle::tools {

// Descriptors 0 to 2 are open from here on: what this process opens later gets none of them, so that no line
// for a reader lands in a file of a run's. A pipe that nobody reads any more ends no process.
void reserve_standard_streams();

// One line of JSON on standard output, whole and at once.
void print_json(const Json& line);

// Whether standard output has taken less than it was given: a full disk, or nobody reads it any more.
bool output_failed();
// Writes what is left; false, and a word on standard error, where not all could be written.
bool finish_output();

// While it lives, a call of exit() by an author's code ends this process with status 1 and a sentence that says so.
class ExitWatch final {
public:
    ExitWatch();
    ~ExitWatch();
    ExitWatch(const ExitWatch&) = delete;
    ExitWatch& operator=(const ExitWatch&) = delete;
};

}
