#include "engine/jit/draw_order.h"

#include "engine/jit/draws_in_expression.h"

#include <algorithm>

namespace nacelle {
namespace {

using Statement = std::span<const TokenNode>;

bool is_one_of(const TokenNode& node, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return node.is(word); });
}
bool is_control(const TokenNode& node) {
    return is_one_of(node, {"if", "while", "for", "switch", "catch"});
}

// Without "template <...>" before it.
Statement without_template(Statement statement) {
    if (statement.empty() || !statement[0].is("template")) return statement;
    int depth = 0;
    for (size_t i = 1; i < statement.size(); ++i) {
        depth += statement[i].is("<") ? 1 : statement[i].is(">") ? -1 : 0;
        if (depth == 0) return statement.subspan(i + 1);
    }
    return statement;
}

bool declares_type(Statement statement) {
    for (const TokenNode& node : without_template(statement)) {
        if (node.kind == TokenNode::group || node.is("=")) return false;
        if (is_one_of(node, {"struct", "class", "union", "enum", "namespace", "extern"}))
            return true;
    }
    return false;
}

// Whether the "{" behind the statement opens a body, and not a list of values.
bool has_body(Statement statement) {
    if (statement.empty()) return false;
    if (declares_type(statement)) return true;
    bool call = false, arrow = false;
    for (const TokenNode& node : statement) {
        if (is_one_of(node, {"=", "return"})) return false;
        call |= node.opens("(");
        arrow |= call && node.is("->");
    }
    const TokenNode& last = statement.back();
    return call && (arrow || last.opens("(") || last.opens("{") ||
                    is_one_of(last, {"const", "noexcept", "override", "final", "mutable"}));
}

// Adds the variables of type Rng that a declaration, or a list of parameters, has.
void declare(Statement nodes, Generators& generators) {
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].is("Rng")) continue;
        size_t name = i + 1;
        while (name < nodes.size() && is_one_of(nodes[name], {"&", "&&", "*", "const"})) ++name;
        if (name < nodes.size() && nodes[name].is_name()) generators.insert(nodes[name].text);
    }
}

// Adds "other" of "auto& other = rng".
void declare_alias(Statement nodes, Generators& generators) {
    const size_t n = nodes.size();
    if (n > 3 && nodes[n - 4].is("&") && nodes[n - 2].is("=") &&
        generators.contains(nodes[n - 1].text))
        generators.insert(nodes[n - 3].text);
}

// Walks over the statements of one text. It knows the generators that each of them can name, and learns which
// functions draw.
class DrawOrder final {
public:
    DrawOrder(const SourceFile& file, DrawWords& words, std::vector<OpenDraws>& found)
        : file_(file), words_(words), found_(found) {}

    void look(const TokenTree& tree) {
        for (const TextMacro& macro : tree.macros) {
            // What its body means depends on its use: any generator's name is taken for one.
            DrawScope scope{words_.generators, {}};
            const Generators drawn = simple(macro.body, scope);
            if (drawn.empty()) continue;
            words_.functions[macro.name].insert(drawn.begin(), drawn.end());
            words_.macros.insert(macro.name);
        }
        block(tree.nodes, {});
    }

private:
    Generators block(Statement nodes, DrawScope scope) {
        Generators all;
        for (size_t at = 0; at < nodes.size();) {
            const Generators more = statement(nodes, at, scope);
            all.insert(more.begin(), more.end());
        }
        return all;
    }

    // Looks at the statement from `at` on, and moves there behind it.
    Generators statement(Statement nodes, size_t& at, DrawScope& scope) {
        const TokenNode& first = nodes[at];
        if (first.opens("{")) return ++at, block(first.inner, scope);
        // NACELLE_UNROLL for (...)
        const bool marked = first.is_name() && at + 1 < nodes.size() && is_control(nodes[at + 1]);
        if (marked || is_one_of(first, {";", "else", "do", "try"})) return ++at, Generators{};
        if (is_control(first)) {
            while (at < nodes.size() && !nodes[at].opens("(")) ++at;
            return at < nodes.size() ? header(nodes[at++].inner, scope) : Generators{};
        }
        if (is_one_of(first, {"case", "default"})) {
            while (at < nodes.size() && !nodes[at].is(":")) ++at;
            return ++at, Generators{};
        }
        const size_t begin = at;
        while (at < nodes.size() && !nodes[at].is(";") &&
               !(nodes[at].opens("{") && has_body(nodes.subspan(begin, at - begin))))
            ++at;
        const Statement text = nodes.subspan(begin, at - begin);
        const bool body = at < nodes.size() && !nodes[at].is(";");
        ++at;
        if (!body) return simple(text, scope);
        define(text, nodes[at - 1], scope);
        return {};
    }

    // A type or a function: a function's name is before its parameters.
    void define(Statement text, const TokenNode& body, const DrawScope& scope) {
        if (declares_type(text)) {
            DrawScope inside = scope;
            declare(body.inner, inside.generators);
            block(body.inner, inside);
            return;
        }
        for (size_t i = 1; i < text.size(); ++i)
            if (text[i].opens("(") && text[i - 1].is_name()) {
                const Generators drawn = function(&text[i], body, scope);
                if (!drawn.empty())
                    words_.functions[text[i - 1].text].insert(drawn.begin(), drawn.end());
                return;
            }
        function(nullptr, body, scope);
    }

    // Returns from what it draws that it does not declare itself.
    Generators function(const TokenNode* parameters, const TokenNode& body,
                        const DrawScope& around) {
        Generators own;
        if (parameters) declare(parameters->inner, own);
        DrawScope inside = around;
        inside.generators.insert(own.begin(), own.end());
        words_.generators.insert(own.begin(), own.end());
        Generators drawn = block(body.inner, inside);
        std::erase_if(drawn, [&](const std::string& one) {
            return own.contains(one) || !around.generators.contains(one);
        });
        return drawn;
    }
    Generators lambda(const TokenNode& one, const DrawScope& scope) {
        return function(one.inner.size() > 1 ? &one.inner.front() : nullptr, one.inner.back(),
                        scope);
    }

    // Of if, while, switch, for: expressions between semicolons, and a list behind a colon.
    Generators header(Statement nodes, const DrawScope& around) {
        DrawScope scope = around;
        Generators all;
        for (size_t begin = 0; begin < nodes.size();) {
            size_t end = begin;
            while (end < nodes.size() && !is_one_of(nodes[end], {";", ":"})) ++end;
            const Generators more = simple(nodes.subspan(begin, end - begin), scope);
            all.insert(more.begin(), more.end());
            begin = end + 1;
        }
        return all;
    }

    // A declaration or an expression.
    Generators simple(Statement text, DrawScope& scope) {
        declare(text, scope.generators);
        declare_alias(text, scope.generators);
        words_.generators.insert(scope.generators.begin(), scope.generators.end());
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i].kind != TokenNode::lambda) {
                look_into_lambdas(text[i].inner, scope);
                continue;
            }
            const Generators drawn = lambda(text[i], scope);
            // "auto roll = [&] { ... }"
            if (i > 1 && text[i - 1].is("=") && text[i - 2].is_name())
                scope.lambdas[text[i - 2].text] = drawn;
        }
        return draws_in_expression(
            text, scope, words_,
            [this](int line, const std::string& generator) { note(line, generator); });
    }
    void look_into_lambdas(Statement nodes, const DrawScope& scope) {
        for (const TokenNode& node : nodes) {
            if (node.kind == TokenNode::lambda) lambda(node, scope);
            else look_into_lambdas(node.inner, scope);
        }
    }

    void note(int line, const std::string& generator) {
        for (const OpenDraws& one : found_)
            if (one.file == file_.path && one.line == line) return;
        found_.push_back({file_.path, line, generator});
    }

    const SourceFile& file_;
    DrawWords& words_;
    std::vector<OpenDraws>& found_;
};

}

std::vector<OpenDraws> find_open_draws(const std::vector<SourceFile>& closure) {
    std::vector<TokenTree> trees;
    for (const SourceFile& file : closure) trees.push_back(read_tokens(file.text));
    DrawWords words;
    std::vector<OpenDraws> found;
    // A function that draws may stand behind its call, and call another one that draws.
    constexpr int passes = 4;
    for (int pass = 0; pass < passes; ++pass) {
        found.clear();
        for (size_t i = 0; i < closure.size(); ++i)
            DrawOrder(closure[i], words, found).look(trees[i]);
    }
    return found;
}

}
