#pragma once
#include "engine/view/display_list.h"
#include "engine/view/scene.h"

#include <set>

namespace nacelle {

// {"view":[left,bottom,right,top],"dropped":0,"shapes":[[form,colour,numbers...],...]}: the form is
// Canvas::Form's number, the colour 0xRRGGBBAA, and a text's words are its last element. Written by hand:
// a tree of values for thousands of shapes would take longer than painting them.
std::string picture_text(const DisplayList& list);

// The arrays and the agent to show.
struct ArrayChoice {
    std::set<std::string> names;    // empty: the default
    size_t agent = 0;
};
// [{"name","type","dims","row","rows","values"},...], each with at most `most_shown` numbers.
std::string arrays_text(const Scene& scene, const ArrayChoice& choice);
inline constexpr size_t most_shown = 4096;

// Whether an array is shown by default.
bool is_shown_first(const Field& field);
// The field's dimensions in one environment: "f32 [5, 2]".
std::string form_text(const Field& field, size_t rows);
// A quoted text; invalid UTF-8 is replaced.
std::string json_word(std::string_view words);
// The first element of an array of one environment, or NaN where there is no such array.
double first_number(const Scene& scene, std::string_view array, size_t row = 0);

}
