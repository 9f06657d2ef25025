#include "engine/jit/token_tree.h"

#include "engine/jit/author_source.h"

#include <algorithm>
#include <array>
#include <set>

namespace nacelle {
namespace {

using Nodes = std::vector<TokenNode>;

constexpr std::array<std::string_view, 28> long_operators = {
    "<<=", ">>=", "<=>", "->*", "...", "::", "->", "++", "--", "&&", "||", "==", "!=", "<=",
    ">=",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "<<", ".*", "##", "<:", ":>"};

size_t token_length(std::string_view text) {
    if (is_word(text.front())) {
        size_t end = 1;
        const bool number = text.front() >= '0' && text.front() <= '9';
        while (end < text.size() &&
               (is_word(text[end]) || (number && (text[end] == '.' || text[end] == '\''))))
            ++end;
        return end;
    }
    // A text in quotes is blank inside of them.
    if (text.front() == '"' || text.front() == '\'') {
        const size_t close = text.find(text.front(), 1);
        return close == text.npos ? text.size() : close + 1;
    }
    for (const std::string_view one : long_operators)
        if (text.starts_with(one)) return one.size();
    return 1;
}

Nodes flat_tokens(std::string_view code, int line) {
    Nodes tokens;
    for (size_t at = 0; at < code.size();) {
        const char c = code[at];
        if (c == '\n') ++line;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v' ||
            c == '\\') {
            ++at;
            continue;
        }
        const size_t length = token_length(code.substr(at));
        const std::string_view word = code.substr(at, length);
        tokens.push_back({.text = std::string(word), .line = line});
        line += int(std::count(word.begin(), word.end(), '\n'));
        at += length;
    }
    return tokens;
}

// The end of the arguments of a template that begin at `open`, if a call, a list or a member follows them; else `open`.
size_t template_end(const Nodes& tokens, size_t open) {
    int depth = 0;
    for (size_t i = open; i < tokens.size() && i < open + 64; ++i) {
        const std::string& text = tokens[i].text;
        if (text == "<") ++depth;
        else if (text == ">") --depth;
        else if (!is_word(text.front()) && text != "::" && text != "," && text != "*" &&
                 text != "&")
            return open;
        if (depth > 0) continue;
        const std::string next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
        return next == "(" || next == "{" || next == "::" ? i + 1 : open;
    }
    return open;
}

Nodes without_templates(Nodes tokens) {
    Nodes kept;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].text == "<" && !kept.empty() && kept.back().is_name()) {
            const size_t end = template_end(tokens, i);
            if (end > i) {
                i = end - 1;
                continue;
            }
        }
        kept.push_back(std::move(tokens[i]));
    }
    return kept;
}

std::string_view closing_of(std::string_view open) {
    return open == "(" ? ")" : open == "[" ? "]" : "}";
}

// Finds lambdas among nodes that are nested already: [...], perhaps (...), words, perhaps -> a type, {...}.
void find_lambdas(Nodes& nodes) {
    Nodes kept;
    for (size_t i = 0; i < nodes.size(); ++i) {
        const bool begins = nodes[i].opens("[") && (kept.empty() || !ends_operand(kept.back()));
        size_t at = i + 1;
        if (begins && at < nodes.size() && nodes[at].opens("(")) ++at;
        while (begins && at < nodes.size() && nodes[at].kind == TokenNode::token &&
               (nodes[at].is_name() || nodes[at].is("->") || nodes[at].is("::") ||
                nodes[at].is("&") || nodes[at].is("*")))
            ++at;
        if (!begins || at >= nodes.size() || !nodes[at].opens("{")) {
            kept.push_back(std::move(nodes[i]));
            continue;
        }
        TokenNode lambda{.kind = TokenNode::lambda, .text = "[", .line = nodes[i].line};
        if (at > i + 1 && nodes[i + 1].opens("(")) lambda.inner.push_back(std::move(nodes[i + 1]));
        lambda.inner.push_back(std::move(nodes[at]));
        kept.push_back(std::move(lambda));
        i = at;
    }
    nodes = std::move(kept);
}

Nodes nested(Nodes& tokens, size_t& at, std::string_view close, int depth) {
    constexpr int deepest = 200;
    Nodes nodes;
    while (at < tokens.size()) {
        TokenNode& one = tokens[at++];
        if (one.text == close) break;
        if ((one.text == "(" || one.text == "[" || one.text == "{") && depth < deepest) {
            TokenNode group{.kind = TokenNode::group, .text = one.text, .line = one.line};
            group.inner = nested(tokens, at, closing_of(one.text), depth + 1);
            // An attribute.
            const bool attribute =
                group.text == "[" && group.inner.size() == 1 && group.inner[0].opens("[");
            if (!attribute) nodes.push_back(std::move(group));
        } else if (one.text == ")" || one.text == "]" || one.text == "}") {
            // It closes an outer bracket, whose inner one was never closed; or none.
            if (!close.empty()) {
                --at;
                break;
            }
        } else nodes.push_back(std::move(one));
    }
    find_lambdas(nodes);
    return nodes;
}

Nodes nested(Nodes tokens) {
    Nodes kept = without_templates(std::move(tokens));
    size_t at = 0;
    return nested(kept, at, "", 0);
}

// "#define NAME(x) body", without its "#define".
TextMacro macro_of(std::string_view definition, int line) {
    const size_t begin = std::min(definition.find_first_not_of(" \t\\\r\n"), definition.size());
    size_t end = begin;
    while (end < definition.size() && is_word(definition[end])) ++end;
    TextMacro macro{.name = std::string(definition.substr(begin, end - begin)), .line = line};
    if (end < definition.size() && definition[end] == '(')
        end = std::min(definition.find(')', end), definition.size() - 1) + 1;
    macro.body = nested(flat_tokens(definition.substr(end), line));
    return macro;
}

// Takes the preprocessor's lines out of the text, and keeps the macros that they define.
void take_directives(std::string& code, std::vector<TextMacro>& macros) {
    int line = 1;
    for (size_t begin = 0; begin < code.size(); ++line) {
        size_t end = std::min(code.find('\n', begin), code.size());
        const size_t first = code.find_first_not_of(" \t\r", begin);
        if (first < end && code[first] == '#') {
            int more = 0;
            while (end < code.size() && std::string_view(code)
                                            .substr(begin, end - begin)
                                            .ends_with(code[end - 1] == '\r' ? "\\\r" : "\\")) {
                end = std::min(code.find('\n', end + 1), code.size());
                ++more;
            }
            const size_t word = std::min(code.find_first_not_of(" \t", first + 1), end);
            const std::string_view rest = std::string_view(code).substr(word, end - word);
            if (rest.starts_with("define")) macros.push_back(macro_of(rest.substr(6), line));
            for (size_t i = begin; i < end; ++i)
                if (code[i] != '\n') code[i] = ' ';
            line += more;
        }
        begin = end + 1;
    }
}

}

bool TokenNode::is_name() const {
    return kind == token && !text.empty() && is_word(text.front()) &&
           !(text.front() >= '0' && text.front() <= '9');
}

bool ends_operand(const TokenNode& node) {
    static const std::set<std::string_view> words = {
        "return",    "case",   "else", "do",    "throw",     "new",   "delete",
        "co_return", "and",    "or",   "not",   "auto",      "const", "xor",
        "bitor",     "bitand", "if",   "while", "constexpr", "goto"};
    if (node.kind != TokenNode::token) return true;
    const char first = node.text.front();
    return (is_word(first) && !words.contains(node.text)) || first == '"' || first == '\'';
}

TokenTree read_tokens(std::string_view text) {
    TokenTree tree;
    std::string code = mask_comments(text).code;
    take_directives(code, tree.macros);
    tree.nodes = nested(flat_tokens(code, 1));
    return tree;
}

}
