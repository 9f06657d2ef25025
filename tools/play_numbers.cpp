// Recordings as text: JSON lines and CSV.
#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "tools/play_export.h"

#include <cmath>
#include <cstring>

namespace nacelle::tools {
namespace {

constexpr size_t most_columns = size_t(1) << 20;

enum class LineForm { json, csv };

template <class T> void append_as(std::string& text, const std::byte* from, LineForm form) {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(value)) {
            // JSON has no such numbers.
            text += form == LineForm::json ? "null"
                    : std::isnan(value)    ? "nan"
                    : value > 0            ? "inf"
                                           : "-inf";
            return;
        }
    // The shortest digits that are read as the same number.
    if constexpr (sizeof(T) == 1) append_shortest(text, int(value));
    else append_shortest(text, value);
}

void append_number(std::string& text, Dtype dtype, const std::byte* from, LineForm form) {
    switch (dtype) {
        case Dtype::f32: return append_as<float>(text, from, form);
        case Dtype::f64: return append_as<double>(text, from, form);
        case Dtype::i32: return append_as<int32_t>(text, from, form);
        case Dtype::u32: return append_as<uint32_t>(text, from, form);
        case Dtype::i64: return append_as<int64_t>(text, from, form);
        case Dtype::u64: return append_as<uint64_t>(text, from, form);
        case Dtype::i16: return append_as<int16_t>(text, from, form);
        case Dtype::u16: return append_as<uint16_t>(text, from, form);
        case Dtype::i8: return append_as<int8_t>(text, from, form);
        case Dtype::u8: return append_as<uint8_t>(text, from, form);
        case Dtype::b8: break;
    }
    const bool value = *from != std::byte(0);
    text += form == LineForm::json ? (value ? "true" : "false") : (value ? "1" : "0");
}

// Nested lists in the order of the shape.
void append_list(std::string& text, const RecordedArray& array, std::span<const int64_t> shape,
                 const std::byte*& from) {
    if (shape.empty()) {
        append_number(text, array.field.dtype, from, LineForm::json);
        from += dtype_size(array.field.dtype);
        return;
    }
    text += '[';
    for (int64_t i = 0; i < shape[0]; ++i) {
        if (i) text += ',';
        append_list(text, array, shape.subspan(1), from);
    }
    text += ']';
}

void append_field(std::string& line, const RecordedArray& array, const std::byte* from) {
    line += ",\"" + array.name() + "\":";
    append_list(line, array, array.shape(), from);
}

Json episode_json(size_t index, const EpisodeSummary& summary) {
    Json json = {{"kind", "episode"},
                 {"episode", index},
                 {"environment", summary.environment},
                 {"steps", summary.steps},
                 {"returns", summary.returns},
                 {"ended", summary.ended},
                 {"params", summary.params}};
    if (summary.trained) json["trained"] = *summary.trained;
    return json;
}

// "obs[2][0]", in the order in which the elements lie.
std::vector<std::string> column_names(const RecordedArray& array) {
    std::vector<std::string> names{array.name()};
    for (const int64_t size : array.shape()) {
        std::vector<std::string> longer;
        for (const std::string& name : names)
            for (int64_t i = 0; i < size; ++i)
                longer.push_back(name + "[" + std::to_string(i) + "]");
        names = std::move(longer);
    }
    return names;
}

}

std::string json_lines(const Recording& recording, const Selection& selection) {
    const std::vector<RecordedArray>& arrays = recording.header().arrays;
    std::string text;
    for (const size_t index : selection.episodes) {
        const RecordedEpisode episode = recording.episode(index);
        std::string line = json_text(episode_json(index, episode.summary));
        line.pop_back();
        for (const size_t i : selection.arrays)
            if (arrays[i].moment == Moment::end && !episode.columns[i].empty())
                append_field(line, arrays[i], episode.columns[i].data());
        text += line + "}\n";
        for (uint64_t t = 0; t < episode.summary.steps; ++t) {
            text += R"({"kind":"step","episode":)" + std::to_string(index) +
                    ",\"step\":" + std::to_string(t);
            for (const size_t i : selection.arrays)
                if (arrays[i].moment != Moment::end)
                    append_field(text, arrays[i],
                                 episode.columns[i].data() + t * arrays[i].bytes());
            text += "}\n";
        }
    }
    return text;
}

std::string csv_text(const Recording& recording, const Selection& selection) {
    const std::vector<RecordedArray>& arrays = recording.header().arrays;
    size_t columns = 0;
    for (const size_t i : selection.arrays) columns += arrays[i].elements();
    if (columns > most_columns)
        throw Error("a table of .csv", "would have " + std::to_string(columns) + " columns",
                    "choose fewer arrays, or .npz");
    std::string text = "episode,environment,step";
    for (const size_t i : selection.arrays)
        for (const std::string& name : column_names(arrays[i])) text += "," + name;
    text += '\n';
    for (const size_t index : selection.episodes) {
        const RecordedEpisode episode = recording.episode(index);
        const EpisodeSummary& summary = episode.summary;
        for (uint64_t t = 0; t < summary.steps; ++t) {
            text += std::to_string(index) + "," + std::to_string(summary.environment) + "," +
                    std::to_string(t);
            for (const size_t i : selection.arrays) {
                const RecordedArray& array = arrays[i];
                const size_t unit = dtype_size(array.field.dtype);
                // Values at the end of an episode are in its last line.
                const bool at_end = array.moment == Moment::end,
                           there =
                               !at_end || (t + 1 == summary.steps && !episode.columns[i].empty());
                const std::byte* from =
                    episode.columns[i].data() + (at_end ? 0 : t * array.bytes());
                for (size_t k = 0; k < array.elements(); ++k) {
                    text += ',';
                    if (there)
                        append_number(text, array.field.dtype, from + k * unit, LineForm::csv);
                }
            }
            text += '\n';
        }
    }
    return text;
}

}
