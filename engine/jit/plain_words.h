#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace nacelle {

// Ways to go wrong that a compiler reports in words no author could use.
enum class AuthorTrouble {
    no_environment,
    two_environments,
    no_include,
    bit_field,
    anonymous_struct,
    std_array,
    no_standard_library
};

// Which of them a compiler's message means, seen with the source line that it names.
std::optional<AuthorTrouble> recognise(std::string_view message, std::string_view source_line);
// What we say instead.
std::string words_for(AuthorTrouble);
// The line of an author's text that most likely is to blame, or 0.
int suspect_line(AuthorTrouble, std::string_view text);

// The words of a failed static_assert, or nothing where the message is another one.
std::optional<std::string> asserted_words(std::string_view message);

}
