#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// A piece of C++ as its brackets nest it: a token, a bracketed group, or a lambda.
struct TokenNode {
    enum Kind { token, group, lambda } kind = token;
    std::string text;    // the token, or the bracket that opens the group; "[" for a lambda
    int line = 0;
    // Of a group; of a lambda its parameters' group, where it has one, and its body's.
    std::vector<TokenNode> inner;

    bool is(std::string_view what) const { return kind == token && text == what; }
    bool opens(std::string_view bracket) const { return kind == group && text == bracket; }
    bool is_name() const;
};

// A macro of the text: its name, and what it is replaced by.
struct TextMacro {
    std::string name;
    std::vector<TokenNode> body;
    int line = 0;
};

struct TokenTree {
    std::vector<TokenNode> nodes;
    std::vector<TextMacro> macros;
};

// Reads a text without a compiler: no macro is expanded, all branches of #if are taken, and the arguments of a
// template before a call are left out. Never fails: a bracket without its other half is left out, too.
TokenTree read_tokens(std::string_view text);

// Whether a name or a value may end at this node, so that a bracket behind it is a call or an index.
bool ends_operand(const TokenNode& node);

}
