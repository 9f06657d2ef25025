#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace nacelle {

// Mistakes in an author's file that compilers report in terms an author cannot use.
enum class AuthorMistake {
    no_environment,
    two_environments,
    no_include,
    bit_field,
    anonymous_struct,
    std_array,
    no_standard_library,
    array_assigned,
    action_assigned,
    const_team
};

// The mistake behind a compiler's message, judged together with the source line that it names.
std::optional<AuthorMistake> recognise_mistake(std::string_view message,
                                               std::string_view source_line);
// The message that replaces the compiler's.
std::string explain(AuthorMistake);
// The line of an author's text that most likely contains the mistake, or 0.
int suspect_line(AuthorMistake, std::string_view text);

// The message of a failed static_assert; nothing for other messages.
std::optional<std::string> assertion_message(std::string_view message);

}
