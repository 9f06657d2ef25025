#include "engine/jit/draws_in_expression.h"

#include <algorithm>
#include <array>

namespace nacelle {
namespace {

using Text = std::span<const TokenNode>;

// Operators that bind alike, those that bind least first. The order of their operands is fixed (a, then b), or open.
struct Binding {
    std::array<std::string_view, 11> operators;
    bool ordered;
};
constexpr Binding bindings[] = {
    {{","}, true},
    {{"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}, true},
    {{"?", ":"}, true},
    {{"||", "or"}, true},
    {{"&&", "and"}, true},
    {{"|", "bitor"}, false},
    {{"^", "xor"}, false},
    {{"&", "bitand"}, false},
    {{"==", "!="}, false},
    {{"<", ">", "<=", ">=", "<=>"}, false},
    {{"<<", ">>"}, true},
    {{"+", "-"}, false},
    {{"*", "/", "%"}, false},
};

constexpr std::string_view drawing_members[] = {"bits",   "below",  "uniform",
                                                "chance", "normal", "shuffle"};

constexpr std::string_view commutative[] = {"+", "*", "==", "!=", "&", "|", "^"};

template <class Names> bool among(const Names& names, const TokenNode& node) {
    return node.kind == TokenNode::token && !node.text.empty() &&
           std::find(std::begin(names), std::end(names), node.text) != std::end(names);
}

bool same_tokens(Text a, Text b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const TokenNode& x, const TokenNode& y) {
            return x.kind == y.kind && x.text == y.text && same_tokens(x.inner, y.inner);
        });
}

class Expression final {
public:
    Expression(const DrawScope& scope, const DrawWords& words,
               const std::function<void(int, const std::string&)>& open)
        : scope_(scope), words_(words), open_(open) {}

    Generators draws(Text text, size_t level = 0) {
        if (text.empty()) return {};
        for (; level < std::size(bindings); ++level) {
            const std::vector<Text> operands = split(text, bindings[level]);
            if (operands.size() > 1) return of_operands(text, operands, level);
        }
        return of_chain(text);
    }

private:
    // The operands between binary operators of one binding; "(x) - y" and "-y" differ by what is before the sign.
    static std::vector<Text> split(Text text, const Binding& binding) {
        std::vector<Text> operands;
        size_t begin = 0;
        for (size_t i = 0; i < text.size(); ++i) {
            const bool binary = i > 0 && ends_operand(text[i - 1]);
            if (!among(binding.operators, text[i]) || !(binary || binding.ordered)) continue;
            operands.push_back(text.subspan(begin, i - begin));
            begin = i + 1;
        }
        operands.push_back(text.subspan(begin));
        return operands;
    }

    Generators of_operands(Text text, const std::vector<Text>& operands, size_t level) {
        std::vector<Generators> each;
        for (const Text operand : operands) each.push_back(draws(operand, level + 1));
        // Two dice have one sum, whichever is thrown first.
        const bool alike = operands.size() == 2 && same_tokens(operands[0], operands[1]) &&
                           among(commutative, text[operands[0].size()]);
        if (!bindings[level].ordered && !alike) require_apart(each, text.front().line);
        return together(each);
    }

    // Draws of two of these come in an order that is open.
    void require_apart(const std::vector<Generators>& each, int line) {
        for (const std::string& generator : together(each)) {
            const auto drawing =
                std::count_if(each.begin(), each.end(),
                              [&](const Generators& one) { return one.contains(generator); });
            if (drawing > 1) open_(line, generator);
        }
    }
    static Generators together(const std::vector<Generators>& each) {
        Generators all;
        for (const Generators& one : each) all.insert(one.begin(), one.end());
        return all;
    }

    // An operand: signs, names, members, calls, indices, lists.
    Generators of_chain(Text text) {
        Generators all;
        for (size_t i = 0; i < text.size(); ++i) {
            const TokenNode& node = text[i];
            if (node.kind == TokenNode::token) {
                if (names_macro(text, i)) add(all, words_.functions.at(node.text));
                continue;
            }
            if (node.kind == TokenNode::lambda) continue;
            const bool call = node.opens("(") && i > 0 && ends_operand(text[i - 1]);
            if (call && (text[i - 1].is("decltype") || text[i - 1].is("sizeof"))) continue;
            add(all, call ? of_call(text, i) : draws(node.inner));
        }
        return all;
    }
    static void add(Generators& to, const Generators& more) { to.insert(more.begin(), more.end()); }

    // A macro without arguments that stands for a draw.
    bool names_macro(Text text, size_t i) const {
        const bool called = i + 1 < text.size() && text[i + 1].opens("(");
        const bool member = i > 0 && (text[i - 1].is(".") || text[i - 1].is("->"));
        return !called && !member && words_.macros.contains(text[i].text);
    }

    Generators of_call(Text text, size_t at) {
        const std::vector<Text> arguments = split(text[at].inner, bindings[0]);
        std::vector<Generators> each;
        Generators all;
        for (const Text argument : arguments) {
            each.push_back(draws(argument, 1));
            // What takes a generator draws from it, behind its arguments.
            if (argument.size() == 1 && scope_.generators.contains(argument[0].text))
                all.insert(argument[0].text);
        }
        require_apart(each, text[at].line);
        add(all, together(each));
        add(all, of_callee(text, at));
        return all;
    }

    // From what the called function draws, other than from its arguments.
    Generators of_callee(Text text, size_t at) const {
        const TokenNode& name = text[at - 1];
        if (!name.is_name()) return {};
        const bool member = at > 2 && (text[at - 2].is(".") || text[at - 2].is("->"));
        if (member && among(drawing_members, name) && scope_.generators.contains(text[at - 3].text))
            return {text[at - 3].text};
        if (!member)
            if (const auto lambda = scope_.lambdas.find(name.text); lambda != scope_.lambdas.end())
                return lambda->second;
        const auto function = words_.functions.find(name.text);
        return function == words_.functions.end() ? Generators{} : function->second;
    }

    const DrawScope& scope_;
    const DrawWords& words_;
    const std::function<void(int, const std::string&)>& open_;
};

}

Generators draws_in_expression(std::span<const TokenNode> text, const DrawScope& scope,
                               const DrawWords& words,
                               const std::function<void(int, const std::string&)>& open) {
    return Expression(scope, words, open).draws(text);
}

}
