#pragma once
#include <string>

namespace nacelle {

// Calls take(line) for every whole line of a growing text, and removes these lines from it.
template <class Take> void each_line(std::string& text, Take&& take) {
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
        take(text.substr(begin, end - begin));
    text.erase(0, begin);
}

}
