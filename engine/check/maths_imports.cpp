#include "engine/check/maths_imports.h"

#include "engine/base/elf.h"

#include <algorithm>
#include <string_view>

namespace nacelle {
namespace {

// The functions of libm for double; each also exists with the suffix f or l.
constexpr std::string_view functions[] = {
    "acos",      "acosh",  "asin",   "asinh",  "atan",      "atan2",     "atanh",     "cbrt",
    "ceil",      "cos",    "cosh",   "erf",    "erfc",      "exp",       "exp10",     "exp2",
    "expm1",     "fdim",   "floor",  "fma",    "fmax",      "fmin",      "fmod",      "frexp",
    "hypot",     "ldexp",  "lgamma", "llrint", "llround",   "log",       "log10",     "log1p",
    "log2",      "logb",   "lrint",  "lround", "modf",      "nearbyint", "nextafter", "pow",
    "remainder", "remquo", "rint",   "round",  "roundeven", "scalbn",    "sin",       "sincos",
    "sinh",      "sqrt",   "tan",    "tanh",   "tgamma",    "trunc"};
// Those that the SDK has under the same name.
constexpr std::string_view ours[] = {"sin", "cos", "tan",  "atan2", "sqrt", "exp",
                                     "log", "pow", "tanh", "floor", "fmod"};

// Those that nacelle/math.h may call: they have one exact result on every processor.
constexpr std::string_view exact[] = {"floor", "fmod"};

template <class List> bool has(const List& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// "sin" for sin, sinf, sinl and vectorised names (_ZGVdN8v_sinf); else nothing.
std::string_view base_of(std::string_view name) {
    if (name.starts_with("_ZGV")) name = name.substr(std::min(name.size(), name.find('_', 4) + 1));
    if (has(functions, name)) return name;
    if (name.ends_with('f') || name.ends_with('l')) name.remove_suffix(1);
    return has(functions, name) ? name : std::string_view();
}

// The position of a call of `name` that is not nacelle's, in a text without comments; or npos.
size_t find_call(std::string_view code, std::string_view name) {
    for (size_t at = code.find(name); at != code.npos; at = code.find(name, at + 1)) {
        size_t end = at + name.size();
        if (at > 0 && (is_word(code[at - 1]) || code[at - 1] == '.')) continue;
        if (code.substr(0, at).ends_with("nacelle::")) continue;
        while (end < code.size() && code[end] == ' ') ++end;
        if (end < code.size() && code[end] == '(') return at;
    }
    return code.npos;
}

}

std::vector<std::string> maths_imports(std::span<const std::byte> elf, const std::string& what) {
    std::vector<std::string> found;
    for (std::string& name : elf_undefined(elf, what))
        if (!base_of(name).empty()) found.push_back(std::move(name));
    std::sort(found.begin(), found.end());
    return found;
}

bool is_exact(const std::string& imported) { return has(exact, base_of(imported)); }

std::string our_maths(const std::string& imported) {
    const std::string_view base = base_of(imported);
    if (base == "sincos") return "nacelle::sin, nacelle::cos";
    if (base == "fmin") return "nacelle::min";
    if (base == "fmax") return "nacelle::max";
    return has(ours, base) ? "nacelle::" + std::string(base) : std::string();
}

std::string line_of_call(const std::vector<SourceFile>& closure, const std::string& imported) {
    const std::string base(base_of(imported));
    for (const SourceFile& file : closure) {
        const std::string code = mask_comments(file.text).code;
        for (const std::string& name : {base, base + "f"})
            if (const size_t at = find_call(code, name); at != code.npos)
                return " (" + file.path.filename().string() + ":" +
                       std::to_string(line_at(code, at)) + ")";
    }
    return {};
}

}
