#include "tools/new_name.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/env/find_environment.h"

#include <algorithm>
#include <cctype>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

constexpr size_t longest = 48;

// Keywords of C++, and the names that every environment has inside its struct.
constexpr const char* keywords[] = {
    "alignas",   "alignof",   "and",       "and_eq",    "asm",      "auto",     "bitand",
    "bitor",     "bool",      "break",     "case",      "catch",    "char",     "class",
    "co_await",  "co_return", "co_yield",  "compl",     "concept",  "const",    "const_cast",
    "consteval", "constexpr", "constinit", "continue",  "decltype", "default",  "delete",
    "do",        "double",    "else",      "enum",      "explicit", "export",   "extern",
    "false",     "final",     "float",     "for",       "friend",   "goto",     "if",
    "import",    "inline",    "int",       "long",      "module",   "mutable",  "namespace",
    "new",       "noexcept",  "not",       "not_eq",    "nullptr",  "operator", "or",
    "or_eq",     "override",  "private",   "protected", "public",   "register", "requires",
    "return",    "short",     "signed",    "sizeof",    "static",   "struct",   "switch",
    "template",  "this",      "throw",     "true",      "try",      "typedef",  "typeid",
    "typename",  "union",     "unsigned",  "using",     "virtual",  "void",     "volatile",
    "wchar_t",   "while",     "xor",       "xor_eq"};
constexpr const char* vocabulary[] = {"action", "agent",  "agents", "global", "log", "member",
                                      "obs",    "params", "policy", "state",  "team"};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_end(char c) { return c == '\0' || c == '_'; }

// "Big Pond-2" becomes big_pond_2; empty where nothing valid remains.
std::string mended(const std::string& name) {
    std::string text;
    for (size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool word = is_upper(c) && i > 0 && (is_lower(name[i - 1]) || is_digit(name[i - 1]));
        if (word || !(is_lower(c) || is_upper(c) || is_digit(c))) {
            if (!text.empty() && text.back() != '_') text += '_';
        }
        if (is_upper(c)) text += char(std::tolower(c));
        else if (is_lower(c) || (is_digit(c) && !text.empty())) text += c;
    }
    while (text.ends_with('_')) text.pop_back();
    return text.substr(0, longest);
}

std::string quoted(const std::string& name) { return name.empty() ? "the name" : name; }

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    const std::string other = mended(name);
    throw Error(quoted(name), what,
                other.empty() || other == name ? "for example 'pond' or 'big_pond'"
                                               : "for example '" + other + "'");
}

template <size_t N> bool has(const char* const (&words)[N], const std::string& name) {
    return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

}

void require_good_name(const std::string& name) {
    if (name.empty()) refuse(name, "is empty");
    if (name.find('/') != name.npos)
        throw Error(name, "is a path, not a name", "name the folder with --out DIR");
    if (name.ends_with(".cu"))
        throw Error(name, "is a file's name",
                    "leave out the '.cu': '" + mended(name.substr(0, name.size() - 3)) + "'");
    if (is_digit(name[0])) refuse(name, "begins with a digit");
    for (const char c : name) {
        if (c == ' ' || c == '\t') refuse(name, "has a space in it");
        if (is_upper(c)) refuse(name, "has a capital letter in it: files are small_letters.cu");
        if (!is_lower(c) && !is_digit(c) && c != '_')
            refuse(name, std::string(c > ' ' && c <= '~' ? "has a '" + std::string(1, c) + "' in it"
                                                         : "has letters beyond a to z in it") +
                             ": letters, digits and _ only");
    }
    for (size_t i = 0; i < name.size(); ++i)
        if (name[i] == '_' && (i == 0 || is_end(i + 1 < name.size() ? name[i + 1] : '\0')))
            refuse(name, "has a _ that stands between no two words");
    if (name.size() > longest)
        refuse(name, "has more than " + std::to_string(longest) + " letters");
    if (has(keywords, name)) refuse(name, "is a word of C++");
    if (has(vocabulary, name))
        refuse(name, "is what every environment has inside, as 'struct " + struct_name(name) + "'");
}

void require_free_name(const std::string& name, const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().stem() != name) continue;
            if (entry.path().extension() == ".cu" ||
                (entry.path().extension() == ".json" && says_environment(entry.path())))
                throw Error(name, "is there already: " + entry.path().string(),
                            "choose another name, or remove that file");
        }
    }
}

std::string struct_name(const std::string& name) {
    std::string text;
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '_') continue;
        const bool first = i == 0 || name[i - 1] == '_';
        text += first ? char(std::toupper(static_cast<unsigned char>(name[i]))) : name[i];
    }
    return text;
}

}
