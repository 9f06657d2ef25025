#pragma once
#include <string>
#include <string_view>

// Text from outside: from a compiler, an author's file or program, or a stranger's file.
namespace nacelle {

// The text with U+FFFD in place of each byte that is not part of a UTF-8 character.
std::string valid_utf8(std::string_view text);
bool is_valid_utf8(std::string_view text);

// Valid UTF-8 whose control characters, except line ends and tabs, are written out as \x1b or \u202e: none of them
// moves the cursor, renames the window or turns the direction of the text.
std::string printable(std::string_view text);

// Whether a terminal shows the text unchanged and in one line.
bool is_printable_line(std::string_view text);

// The text as a word of a command that a message recommends: in double quotes where a shell would take it apart.
std::string shell_word(std::string_view text);

}
