#pragma once
#include "engine/jit/token_tree.h"

#include <functional>
#include <map>
#include <set>
#include <span>

namespace nacelle {

// Names of random generators: those that can be named at some place, or from which something draws.
using Generators = std::set<std::string>;

// What the names at some place of a text mean for its random numbers.
struct DrawScope {
    Generators generators;                        // the variables of type Rng
    std::map<std::string, Generators> lambdas;    // named ones, and from what they draw
};

// What names mean in the whole text.
struct DrawWords {
    Generators generators;    // all that are declared anywhere
    std::map<std::string, Generators>
        functions;                   // and macros, that draw from what they do not take
    std::set<std::string> macros;    // of these, the macros
};

// Returns the generators from which an expression draws. `open` is called with the line of each two draws from the
// same one whose order C++ leaves open.
Generators draws_in_expression(std::span<const TokenNode> text, const DrawScope& scope,
                               const DrawWords& words,
                               const std::function<void(int line, const std::string&)>& open);

}
