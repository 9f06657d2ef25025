#include "engine/jit/struct_text.h"

#include "engine/jit/token_tree.h"

#include <map>
#include <span>

namespace nacelle {
namespace {

using Members = std::span<const TokenNode>;

struct FieldText {
    std::string name, type;    // the type's last name
    std::string element;       // of an Array or a Table
};

// What the text of a struct shows.
struct StructText {
    std::string unlike_plain;    // "a constructor", "a private field", "a virtual function"
    std::vector<FieldText> fields;
};

std::string last_name(Members nodes) {
    for (size_t i = nodes.size(); i > 0; --i)
        if (nodes[i - 1].is_name() && !nodes[i - 1].is("const")) return nodes[i - 1].text;
    return {};
}

// "nacelle::Array<Vec2, 8> cells": the name is before the first of , = [ {.
FieldText field_of(Members statement) {
    int depth = 0;
    for (size_t i = 0; i < statement.size(); ++i) {
        depth += statement[i].is("<") ? 1 : statement[i].is(">") ? -1 : 0;
        const bool last = i + 1 == statement.size();
        if (depth > 0 || i == 0 || !statement[i].is_name()) continue;
        if (!last && !statement[i + 1].is(",") && !statement[i + 1].is("=") &&
            !statement[i + 1].opens("[") && !statement[i + 1].opens("{"))
            continue;
        FieldText field{.name = statement[i].text, .type = {}, .element = {}};
        size_t type = 0;
        while (type < i && !statement[type].is("<")) ++type;
        field.type = last_name(statement.subspan(0, type));
        size_t comma = type;
        while (comma < i && !statement[comma].is(",")) ++comma;
        if (type < i && (field.type == "Array" || field.type == "Table"))
            field.element = last_name(statement.subspan(type + 1, comma - type - 1));
        return field;
    }
    return {};
}

bool begins_with(Members statement, std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
        if (!statement.empty() && statement[0].is(word)) return true;
    return false;
}

void look_at_member(const std::string& name, Members statement, StructText& found) {
    while (statement.size() > 1 && statement[1].is(":")) {
        if (begins_with(statement, {"private", "protected"}))
            found.unlike_plain = "a private field";
        statement = statement.subspan(2);
    }
    if (begins_with(statement, {"virtual"})) found.unlike_plain = "a virtual function";
    const size_t explicitly = begins_with(statement, {"explicit", "constexpr"}) ? 1 : 0;
    if (statement.size() > explicitly + 1 && statement[explicitly].is(name) &&
        statement[explicitly + 1].opens("("))
        found.unlike_plain = "a constructor";
    if (begins_with(statement, {"static", "using", "typedef", "enum", "struct", "class", "union",
                                "template", "friend", "virtual"}))
        return;
    for (const TokenNode& node : statement)
        if (node.opens("(")) return;
    FieldText field = field_of(statement);
    if (!field.name.empty()) found.fields.push_back(std::move(field));
}

StructText struct_of(const std::string& name, const TokenNode& body) {
    StructText found;
    const Members nodes(body.inner);
    for (size_t begin = 0, i = 0; i < nodes.size(); ++i) {
        bool function = false;
        for (size_t k = begin; k < i; ++k) function |= nodes[k].opens("(");
        // A function's body ends a member without a semicolon.
        if (!nodes[i].is(";") && !(nodes[i].opens("{") && function)) continue;
        look_at_member(name, nodes.subspan(begin, i - begin), found);
        begin = i + 1;
    }
    return found;
}

using Structs = std::map<std::string, StructText>;

void find_structs(Members nodes, Structs& structs) {
    for (size_t i = 0; i < nodes.size(); ++i) {
        const bool named = i + 1 < nodes.size() && nodes[i + 1].is_name() &&
                           (nodes[i].is("struct") || nodes[i].is("class"));
        size_t body = i + 2;
        while (named && body < nodes.size() && !nodes[body].opens("{") && !nodes[body].is(";") &&
               !nodes[body].opens("("))
            ++body;
        if (named && body < nodes.size() && nodes[body].opens("{"))
            structs.try_emplace(nodes[i + 1].text, struct_of(nodes[i + 1].text, nodes[body]));
        find_structs(nodes[i].inner, structs);
    }
}

// "pos.speed" and what is wrong with the type of that field; nothing where all of them are plain.
std::string not_plain(const std::string& name, const Structs& structs, const std::string& path,
                      int depth) {
    const auto found = structs.find(name);
    if (found == structs.end() || depth > 16) return {};
    if (!found->second.unlike_plain.empty())
        return path.empty() ? ": it has " + found->second.unlike_plain
                            : ": its field '" + path + "' is a " + name + ", which has " +
                                  found->second.unlike_plain;
    for (const FieldText& field : found->second.fields) {
        const std::string inner = path.empty() ? field.name : path + "." + field.name;
        std::string words = not_plain(field.type, structs, inner, depth + 1);
        if (!words.empty()) return words;
    }
    return {};
}

std::string array_of_structs(const std::string& name, const Structs& structs,
                             const std::string& path, int depth) {
    const auto found = structs.find(name);
    if (found == structs.end() || depth > 16) return {};
    for (const FieldText& field : found->second.fields) {
        const std::string inner = path.empty() ? field.name : path + "." + field.name;
        if (!field.element.empty() && structs.contains(field.element))
            return ": its field '" + inner + "' holds " + field.element;
        std::string words = array_of_structs(field.type, structs, inner, depth + 1);
        if (!words.empty()) return words;
    }
    return {};
}

}

std::string culprit_of(const std::string& assertion, const std::vector<SourceFile>& closure) {
    const bool plain = assertion.find(" must be a plain struct") != assertion.npos,
               element = assertion.find(" of structs:") != assertion.npos;
    if (!plain && !element) return {};
    Structs structs;
    for (const SourceFile& file : closure) find_structs(read_tokens(file.text).nodes, structs);
    const auto words_for = [&](const std::string& name) {
        return plain ? not_plain(name, structs, "", 0) : array_of_structs(name, structs, "", 0);
    };
    if (!assertion.starts_with("an agent's struct"))
        return words_for(assertion.substr(0, assertion.find(' ')));
    return words_for("Agent");
}

}
