#pragma once
#include <string>
#include <string_view>

// Text that comes from outside: from a compiler, an author's file or program, a file of somebody else.
namespace nacelle {

// The text with U+FFFD in place of each byte that belongs to no UTF-8 character.
std::string valid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

// The text as a terminal may show it: valid UTF-8 whose control characters, but for line ends and tabs,
// are written out as \x1b, so that none of them moves the cursor or renames the window.
std::string printable(std::string_view text);

// Whether a terminal shows the text as it is, in one line.
bool is_printable_line(std::string_view text);

}
