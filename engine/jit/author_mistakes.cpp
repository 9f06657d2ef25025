#include "engine/jit/author_mistakes.h"

#include "engine/jit/author_source.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace nacelle {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts)
        if (has(text, part)) return true;
    return false;
}

// A header without an extension, as in #include <vector>, that could not be opened.
bool misses_standard_header(std::string_view message) {
    if (!has_any(message, {"open source file", "file not found", "No such file"})) return false;
    const size_t quote = message.find_first_of("\"'");
    const std::string_view name = quote == message.npos ? message : message.substr(quote + 1);
    const size_t end = name.find_first_of("\"':");
    return name.substr(0, end).find_first_of("./") == name.npos;
}

std::vector<std::string_view> tokens_of(std::string_view line) {
    std::vector<std::string_view> tokens;
    for (size_t at = 0; at < line.size();) {
        const size_t begin = at++;
        if (is_word(line[begin]))
            while (at < line.size() && is_word(line[at])) ++at;
        if (line[begin] != ' ' && line[begin] != '\t' && line[begin] != '\r')
            tokens.push_back(line.substr(begin, at - begin));
    }
    return tokens;
}

// "unsigned alive : 1": a type, names, a colon and a width, from a statement's beginning on.
bool declares_bit_field(std::string_view line) {
    const auto is_type = [](std::string_view word) {
        return word == "unsigned" || word == "signed" || word == "int" || word == "bool" ||
               word == "char" || word == "short" || word == "long" || word.ends_with("_t");
    };
    const std::vector<std::string_view> tokens = tokens_of(line);
    bool start = true;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (start && is_type(tokens[i])) {
            size_t last = i + 1;
            while (last < tokens.size() && is_word(tokens[last].front())) ++last;
            if (last > i + 1 && last + 1 < tokens.size() && tokens[last] == ":" &&
                is_word(tokens[last + 1].front()))
                return true;
        }
        start = tokens[i] == "{" || tokens[i] == ";";
    }
    return false;
}

bool opens_anonymous(std::string_view line) {
    const std::vector<std::string_view> tokens = tokens_of(line);
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
        if ((tokens[i] == "struct" || tokens[i] == "union") && tokens[i + 1] == "{") return true;
    return false;
}

std::string unescaped(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        result += text[i];
    }
    return result;
}

// What the SDK's types do not offer.
std::optional<AuthorMistake> recognise_misuse(std::string_view message) {
    // "a.push = 1", "a.push += 1": g++ and NVRTC; clang does not say of what type the operands are.
    const bool assigns =
        has_any(message, {"operator=", "operator+=", "operator-=", "operator*=", "operator \"=\"",
                          "operator \"+=\"", "operator \"-=\"", "operator \"*=\""});
    const bool space = has_any(message, {"nacelle::Discrete<", "nacelle::Continuous<"});
    if (assigns && space &&
        has_any(message, {"no match", "matches these operands", "no viable", "discards"}))
        return AuthorMistake::action_assigned;
    // "s = {}": the struct's own assignment is deleted since that of its Array is.
    if (has_any(message, {"operator=", "cannot be assigned"}) && has(message, "deleted") &&
        has_any(message, {"nacelle::Array<", "::State", "::Agent"}))
        return AuthorMistake::array_assigned;
    if (has(message, "nacelle::Team<") &&
        has_any(message, {"discards qualifiers", "type qualifiers that are not compatible",
                          "type qualifiers that prevent a match", "not marked const"}))
        return AuthorMistake::const_team;
    return std::nullopt;
}

}

std::optional<AuthorMistake> recognise_mistake(std::string_view message,
                                               std::string_view source_line) {
    const bool again = has_any(message, {"conflicting", "redefinition", "redeclaration",
                                         "already been declared", "already been defined"});
    const bool missing = has_any(message, {"not declared", "undeclared", "undefined",
                                           "not been declared", "not a member", "no member",
                                           "no type named", "does not name", "unknown type"});
    const bool about_author = has_any(
        message, {"nacelle_author", "nacelle::Author", "'Author'", "\"Author\"", "author_schema"});
    if (again && (about_author || has(source_line, "NACELLE_ENV")))
        return AuthorMistake::two_environments;
    if (missing && about_author) return AuthorMistake::no_environment;
    if (has_any(message, {"bit-field", "bit field"})) return AuthorMistake::bit_field;
    if (has_any(message, {"anonymous struct", "anonymous union", "no components to bind",
                          "cannot decompose"}))
        return AuthorMistake::anonymous_struct;
    // g++ may only say "only 1 name provided for structured binding".
    if (has_any(message, {"std::array", "provided for structured binding"}))
        return AuthorMistake::std_array;
    const bool no_std =
        has_any(message, {"qualified name is not allowed", "identifier 'std'",
                          "has not been declared", "does not name a", "namespace \"std\" has no",
                          "namespace 'std'", "member of 'std'", "name followed by \"::\" must be"});
    if (has(source_line, "std::array") && (no_std || has_any(message, {"expected", "undefined"})))
        return AuthorMistake::std_array;
    if (misses_standard_header(message))
        return has(source_line, "<array>") ? AuthorMistake::std_array
                                           : AuthorMistake::no_standard_library;
    if (has(source_line, "std::") && no_std) return AuthorMistake::no_standard_library;
    return recognise_misuse(message);
}

std::string explain(AuthorMistake trouble) {
    switch (trouble) {
        case AuthorMistake::no_environment: return "the file has no NACELLE_ENV(Name)";
        case AuthorMistake::two_environments: return "the file has two environments";
        case AuthorMistake::no_include: return "the file does not #include <nacelle/env.h>";
        case AuthorMistake::bit_field:
            return "a bit-field cannot be an array: use a whole number (uint8_t alive)";
        case AuthorMistake::anonymous_struct:
            return "an anonymous struct or union has no name to find it by: give it one";
        case AuthorMistake::std_array:
            return "std::array cannot be stored: use a C array (float x[3])";
        case AuthorMistake::no_standard_library:
            return "the standard library is not there on a GPU: nacelle/env.h has what an "
                   "environment needs";
        case AuthorMistake::array_assigned:
            return "what holds a nacelle::Array is not assigned as a whole: set each field, and "
                   "the Array by its fill, as in s.map.fill(0)";
        case AuthorMistake::action_assigned:
            return "an action is what the policy chose, and is only read: copy it into a number "
                   "first, as in int push = action.push";
        case AuthorMistake::const_team:
            return "a const Team answers no question: ask it in step(), and keep the answer in "
                   "State, or go through its agents by team[id]";
    }
    return {};
}

int suspect_line(AuthorMistake trouble, std::string_view text) {
    const std::string code = mask_comments(text).code;
    int number = 1;
    for (size_t begin = 0; begin < code.size(); ++number) {
        const size_t end = std::min(code.find('\n', begin), code.size());
        const std::string_view line = std::string_view(code).substr(begin, end - begin);
        if (trouble == AuthorMistake::bit_field && declares_bit_field(line)) return number;
        if (trouble == AuthorMistake::anonymous_struct && opens_anonymous(line)) return number;
        if (trouble == AuthorMistake::std_array && has_any(line, {"std::array", "<array>"}))
            return number;
        begin = end + 1;
    }
    return 0;
}

std::optional<std::string> assertion_message(std::string_view message) {
    // g++, NVRTC, clang from 16 on and clang before, in this order.
    for (const std::string_view start :
         {"static assertion failed: ", "static assertion failed with \""}) {
        if (!message.starts_with(start)) continue;
        std::string_view words = message.substr(start.size());
        if (start.ends_with('"') && words.ends_with('"'))
            return unescaped(words.substr(0, words.size() - 1));
        return std::string(words);
    }
    if (message.starts_with("static assertion failed due to requirement ")) {
        const size_t words = message.find("': ");
        if (words != message.npos) return std::string(message.substr(words + 3));
    }
    if (message.starts_with("static_assert failed")) {
        size_t words = message.find("' \"");
        words = words == message.npos ? message.find(" \"") : words + 1;
        if (words != message.npos && message.ends_with('"') && words + 2 < message.size())
            return unescaped(message.substr(words + 2, message.size() - words - 3));
    }
    return std::nullopt;
}

}
