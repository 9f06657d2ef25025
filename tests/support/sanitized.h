#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace nacelle::test {

// Counts a part of the running test case as skipped; the case itself still passes or fails.
void leave_out(const std::string& reason);

// A case's list, of which a sanitizer build takes only those at `kept`, and says so: for what is
// compiled and run anew for each, where a few take every path.
template <class T>
std::vector<T> few_if_sanitized(std::vector<T> all, std::initializer_list<size_t> kept) {
#ifdef NACELLE_SANITIZE
    std::vector<T> few;
    for (const size_t place : kept) few.push_back(all.at(place));
    leave_out("the plain build has all " + std::to_string(all.size()) + ", this one " +
              std::to_string(few.size()));
    return few;
#else
    (void)kept;
    return all;
#endif
}

// An environment of each kind: one with a few numbers, one that sees images, one of turns with masks, one team.
inline std::vector<std::string> kinds() {
    return {"cartpole", "mazes", "connect_four", "tag_gridworld"};
}

}
