#include "tests/fuzz/json_mutation.h"

namespace nacelle::fuzz {
namespace {

// Stands in a Json for what json_text() writes in its place.
constexpr std::string_view deep_mark = "(deep)", raw_mark = "(raw)";

void list(Json& json, std::vector<Json*>& values) {
    values.push_back(&json);
    if (json.is_structured())
        for (Json& part : json) list(part, values);
}
Json& any_of(Json& json, Dice& dice) {
    std::vector<Json*> values;
    list(json, values);
    return *values[dice.index(values.size())];
}

Json odd_value(Dice& dice) {
    switch (dice.below(9)) {
        case 0: return nullptr;
        case 1: return dice.chance(0.5);
        case 2: return odd_number(dice);
        case 3: return int64_t(odd_number(dice));
        case 4: return dice.chance(0.5) ? 1e308 : double(dice.uniform(-2, 2));
        case 5: return Json::array();
        case 6: return Json::object();
        case 7: return dice.chance(0.2) ? std::string(deep_mark) : std::string(raw_mark);
        default: return odd_text(dice);
    }
}

void change_object(Json& object, Dice& dice) {
    auto at = object.begin();
    if (at == object.end()) return;
    std::advance(at, ptrdiff_t(dice.index(object.size())));
    const std::string key = at.key();
    const Json value = *at;
    if (dice.chance(0.6)) object.erase(key);
    if (dice.chance(0.5)) object[dice.chance(0.5) ? odd_text(dice) : key + "x"] = value;
}

void change_array(Json& array, Dice& dice) {
    const size_t at = array.empty() ? 0 : dice.index(array.size());
    if (array.empty() || dice.chance(0.3)) array.push_back(odd_value(dice));
    else if (dice.chance(0.5)) array.erase(at);
    else
        for (size_t i = size_t(1) << dice.below(8); i > 0; --i) array.push_back(Json(array[at]));
}

std::string deep_text(Dice& dice) {
    const size_t depth = size_t(1) << (4 + dice.below(14));
    std::string begin, end;
    const bool object = dice.chance(0.5);
    for (size_t i = 0; i < depth; ++i) {
        begin += object ? "{\"a\":" : "[";
        end += object ? "}" : "]";
    }
    return begin + "1" + end;
}

// Nothing where it is no JSON, or too deep for what walks through it here.
Json parsed(const std::string& text) {
    int depth = 0, deepest = 0;
    for (const char letter : text) {
        if (letter == '[' || letter == '{') deepest = std::max(deepest, ++depth);
        if (letter == ']' || letter == '}') --depth;
    }
    return deepest > 200 ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

}

Json mutated_json(Json json, const Json& other, Dice& dice) {
    Json& one = any_of(json, dice);
    Json copy = other;
    switch (dice.below(5)) {
        case 0: one = any_of(copy, dice); break;
        case 1: {
            const Json inside = one;
            one = dice.chance(0.5) ? Json::array({inside}) : Json{{"value", inside}};
            break;
        }
        case 2:
        case 3:
            if (one.is_object() && !one.empty()) change_object(one, dice);
            else if (one.is_array()) change_array(one, dice);
            else one = odd_value(dice);
            break;
        default: one = odd_value(dice); break;
    }
    return json;
}

std::string json_text(const Json& json, Dice& dice) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto quoted = [](std::string_view mark) { return '"' + std::string(mark) + '"'; };
    if (text.find(deep_mark) != text.npos) replace_all(text, quoted(deep_mark), deep_text(dice));
    if (text.find(raw_mark) != text.npos)
        replace_all(text, quoted(raw_mark), '"' + odd_text(dice) + '"');
    return text;
}

std::string mutated_json_text(const std::string& text, const std::string& other, Dice& dice) {
    if (dice.chance(0.2)) return mutated_text(text, other, dice);
    const Json json = parsed(text), with = parsed(other);
    if (json.is_discarded()) return mutated_text(text, other, dice);
    return json_text(mutated_json(json, with.is_discarded() ? Json() : with, dice), dice);
}

}
