#pragma once
#include <string>
#include <string_view>

namespace nacelle {

// Calls take(line) for every whole line of a text that grows, and takes them out of it.
template <class Take> void each_line(std::string& text, Take&& take) {
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
        take(text.substr(begin, end - begin));
    text.erase(0, begin);
}

// Writes all of a text to a socket, and waits for room; false where nobody reads any more.
bool send_text(int socket, std::string_view text);

}
