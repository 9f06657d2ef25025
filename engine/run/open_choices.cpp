#include "engine/run/open_choices.h"

#include <algorithm>
#include <numeric>

namespace nacelle {
namespace {

constexpr int steps_more = 256;
constexpr size_t most_named = 8;

// "1, 2 and 5", "1, 2 and 40 more"
std::string list_text(const std::vector<size_t>& numbers) {
    const size_t named = numbers.size() > most_named ? most_named - 1 : numbers.size();
    std::string text;
    for (size_t i = 0; i < named; ++i)
        text += (i == 0                                      ? ""
                 : i + 1 == named && named == numbers.size() ? " and "
                                                             : ", ") +
                std::to_string(numbers[i]);
    return named == numbers.size()
               ? text
               : text + " and " + std::to_string(numbers.size() - named) + " more";
}

// The arrays of masks, each with what it has open.
using Masks = std::vector<std::pair<NamedArray*, OpenChoices>>;

Masks masks_of(Environment& env) {
    Masks masks;
    const std::vector<Field>& fields = env.schema().fields();
    for (const Field& mask : fields) {
        if (mask.role != Role::mask || mask.slot < 0 || mask.per != Per::row) continue;
        std::vector<OpenChoices::Part> parts;
        for (const Field& part : fields) {
            if (part.role != Role::action || part.group != mask.group || part.slot < 0 ||
                part.per != Per::row || part.kind != Kind::discrete)
                continue;
            for (size_t i = 0; i < part.count; ++i)
                parts.push_back(
                    {part.name + (part.count > 1 ? "[" + std::to_string(i) + "]" : std::string()),
                     size_t(part.choices)});
        }
        masks.emplace_back(&env.arrays()[mask.name], OpenChoices(mask.name, std::move(parts)));
    }
    return masks;
}

void look(Masks& masks) {
    std::vector<std::byte> bytes;
    for (auto& [array, open] : masks) {
        bytes.resize(array->bytes());
        array->read(bytes.data());
        open.add(bytes);
    }
}

}

OpenChoices::OpenChoices(std::string mask, std::vector<Part> parts)
    : mask_(std::move(mask)),
      parts_(std::move(parts)),
      open_(std::accumulate(parts_.begin(), parts_.end(), size_t(0),
                            [](size_t sum, const Part& part) { return sum + part.choices; })) {}

void OpenChoices::add(std::span<const std::byte> masks) {
    ++steps_;
    const size_t size = open_.size();
    for (size_t at = 0; size > 0 && at + size <= masks.size(); at += size) {
        const auto row = masks.subspan(at, size);
        bool any = false;
        for (size_t i = 0; i < size; ++i)
            if (row[i] != std::byte{}) {
                open_[i] = 1;
                any = true;
            }
        rows_ += any;
    }
}

bool OpenChoices::all() const {
    return rows_ == 0 || std::find(open_.begin(), open_.end(), 0) == open_.end();
}

std::vector<Suspicion> OpenChoices::never_open() const {
    std::vector<Suspicion> found;
    if (rows_ == 0) return found;
    size_t at = 0;
    for (const Part& part : parts_) {
        std::vector<size_t> closed;
        for (size_t i = 0; i < part.choices; ++i)
            if (!open_[at + i]) closed.push_back(i);
        at += part.choices;
        if (closed.empty()) continue;
        const bool one = closed.size() == 1;
        found.push_back({mask_ + " closes " + (one ? "choice " : "choices ") + list_text(closed) +
                             " of " + part.name + " in all of " + std::to_string(rows_) +
                             " rows of " + std::to_string(steps_) + " steps",
                         std::string("opening ") + (one ? "it" : "them") +
                             " in mask(), or leaving " + (one ? "it" : "them") + " out of Action"});
    }
    return found;
}

std::vector<Suspicion> choices_never_open(Trainee& trainee, const std::function<bool()>& stop) {
    Masks masks = masks_of(trainee.environment());
    const auto all_open = [&] {
        return std::all_of(masks.begin(), masks.end(),
                           [](const auto& one) { return one.second.all(); });
    };
    look(masks);
    for (int step = 0; step < steps_more && !all_open(); ++step) {
        if (stop()) return {};
        trainee.act(false);
        trainee.environment().step();
        look(masks);
    }
    std::vector<Suspicion> found;
    for (const auto& [array, open] : masks)
        for (Suspicion& one : open.never_open()) found.push_back(std::move(one));
    return found;
}

}
