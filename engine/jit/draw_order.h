#pragma once
#include "engine/jit/author_source.h"

namespace nacelle {

// Two draws from one random generator in one expression, in an order that C++ leaves open: in two arguments of a
// call, or in two operands of an operator such as +. Two compilers then draw in two orders.
struct OpenDraws {
    std::filesystem::path file;
    int line = 0;
    std::string generator;    // its name
};

// Finds them by the text alone: a draw is a call of a generator's function, of a function that takes a generator, or
// of a function or a lambda that draws from a generator around it.
std::vector<OpenDraws> find_open_draws(const std::vector<SourceFile>& closure);

}
