#include "engine/run/safetensors.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/config/config.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace nacelle {
namespace {

// In the order of Dtype.
constexpr const char* names[] = {"F32", "F64", "I32", "U32", "I64", "U64",
                                 "I16", "U16", "I8",  "U8",  "BOOL"};

constexpr size_t length_bytes = 8;
constexpr const char* metadata_key = "__metadata__";

// Arrays of the engine have at most five dimensions, those of others fewer than this.
constexpr size_t most_dimensions = 32;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(where, "is no safetensors file: " + why);
}

std::vector<size_t> widest_first(const std::vector<Tensor>& tensors) {
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return dtype_size(tensors[a].dtype) > dtype_size(tensors[b].dtype);
    });
    return order;
}

// Nothing where a size is negative, or where the product overflows; a 0 among the sizes hides no overflow of the others.
std::optional<size_t> bytes_of(Dtype dtype, const std::vector<int64_t>& shape) {
    size_t bytes = dtype_size(dtype);
    bool none = false;
    for (const int64_t size : shape) {
        none |= size == 0;
        if (size < 0 || __builtin_mul_overflow(bytes, std::max<size_t>(size_t(size), 1), &bytes))
            return {};
    }
    return none ? 0 : bytes;
}

// One entry of an untrusted header.
class Entry final {
public:
    Entry(const std::string& name, const Json& json, const std::string& where)
        : name_("'" + name + "'"), json_(json), where_(where) {
        if (!is_printable_line(name)) fail("the name " + printable(name_) + " is no plain text");
        if (!json.is_object()) fail(name_ + " is no JSON object");
    }

    Tensor tensor(const std::string& name, std::span<const std::byte> data) const {
        Tensor tensor{.name = name, .dtype = dtype()};
        const std::vector<uint64_t> sizes = whole_numbers("shape"),
                                    place = whole_numbers("data_offsets");
        if (sizes.size() > most_dimensions)
            fail(name_ + " has " + std::to_string(sizes.size()) + " dimensions; at most " +
                 std::to_string(most_dimensions) + " are read");
        for (const uint64_t size : sizes) tensor.shape.push_back(int64_t(size));
        const std::optional<size_t> bytes = bytes_of(tensor.dtype, tensor.shape);
        if (!bytes) fail("the sizes of " + name_ + " are too large");
        if (place.size() != 2 || place[0] > place[1] || place[1] > data.size() ||
            place[1] - place[0] != *bytes)
            fail("the place of " + name_ + " is wrong");
        tensor.data = data.subspan(place[0], *bytes);
        return tensor;
    }

private:
    [[noreturn]] void fail(const std::string& why) const { refuse(where_, why); }
    Dtype dtype() const {
        const auto found = json_.find("dtype");
        if (found == json_.end() || !found->is_string()) fail(name_ + " has no text 'dtype'");
        const std::string type = found->get<std::string>();
        const auto* const known = std::find(std::begin(names), std::end(names), type);
        if (known == std::end(names)) fail(name_ + " is of type " + printable(type));
        return static_cast<Dtype>(known - std::begin(names));
    }
    std::vector<uint64_t> whole_numbers(const char* key) const {
        const auto found = json_.find(key);
        const auto is_one = [](const Json& number) {
            return number.is_number_unsigned() &&
                   number.get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max());
        };
        if (found == json_.end() || !found->is_array() ||
            !std::all_of(found->begin(), found->end(), is_one))
            fail(name_ + " has no list of whole numbers '" + key + "'");
        return found->get<std::vector<uint64_t>>();
    }

    std::string name_;    // as a message shows it
    const Json& json_;
    const std::string& where_;
};

Json header_of(const std::string& text, const std::string& where) {
    Json header;
    try {
        header = parse_json(text, where);
    } catch (const Error& wrong) {
        refuse(where, "its header: " + printable(wrong.reason()));
    }
    if (!header.is_object()) refuse(where, "its header is no JSON object");
    return header;
}

SafetensorsMetadata metadata_in(const Json& header, const std::string& where) {
    SafetensorsMetadata metadata;
    const auto found = header.find(metadata_key);
    if (found == header.end()) return metadata;
    for (const auto& [name, text] : found->items()) {
        if (!text.is_string()) refuse(where, "its metadata is more than texts");
        metadata[name] = text.get<std::string>();
    }
    return metadata;
}

// Checks that the tensors cover the data in order without gaps.
void require_dense(const std::vector<Tensor>& tensors, std::span<const std::byte> data,
                   const std::string& where) {
    const std::byte* end = data.data();
    for (const Tensor& tensor : tensors) {
        if (tensor.data.data() < end)
            refuse(where, "'" + tensor.name + "' lies where another array does");
        if (tensor.data.data() > end)
            refuse(where, "there are bytes before '" + tensor.name + "' that are no array's");
        end += tensor.data.size();
    }
    if (end != data.data() + data.size())
        refuse(where, "there are bytes at its end that are no array's");
}

}

size_t Tensor::bytes() const {
    const std::optional<size_t> bytes = bytes_of(dtype, shape);
    if (!bytes) throw Error(name, "no array has the sizes " + form());
    return *bytes;
}

std::string Tensor::form() const {
    std::string text = std::string(dtype_name(dtype)) + " [";
    for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

std::string safetensors_of(const std::vector<Tensor>& tensors,
                           const std::function<void(size_t, void*)>& read,
                           const SafetensorsMetadata& metadata) {
    const std::vector<size_t> order = widest_first(tensors);
    Json header = Json::object();
    if (!metadata.empty()) header[metadata_key] = metadata;
    size_t end = 0;
    for (const size_t i : order) {
        const Tensor& tensor = tensors[i];
        header[tensor.name] = {{"dtype", names[size_t(tensor.dtype)]},
                               {"shape", tensor.shape},
                               {"data_offsets", {end, end + tensor.bytes()}}};
        end += tensor.bytes();
    }
    std::string text = json_text(header);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string file(length_bytes, '\0');
    for (size_t i = 0; i < length_bytes; ++i)
        file[i] = static_cast<char>(uint64_t(text.size()) >> (8 * i));
    file += text;
    size_t at = file.size();
    file.resize(at + end);
    for (const size_t i : order) {
        read(i, file.data() + at);
        at += tensors[i].bytes();
    }
    return file;
}

std::vector<Tensor> read_safetensors(std::span<const std::byte> file, const std::string& where,
                                     SafetensorsMetadata* metadata) {
    if (file.size() < length_bytes)
        refuse(where, "it has " + std::to_string(file.size()) + " bytes");
    uint64_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length |= uint64_t(file[i]) << (8 * i);
    if (length > file.size() - length_bytes) refuse(where, "it ends within its header");
    const auto* const text = reinterpret_cast<const char*>(file.data()) + length_bytes;
    const Json header = header_of(std::string(text, length), where);
    const std::span<const std::byte> data = file.subspan(length_bytes + length);
    std::vector<Tensor> tensors;
    for (const auto& [name, entry] : header.items())
        if (name != metadata_key) tensors.push_back(Entry(name, entry, where).tensor(name, data));
    if (metadata) *metadata = metadata_in(header, where);
    // An empty tensor precedes the one that begins at the same offset.
    const auto place = [](const Tensor& tensor) {
        return std::pair(tensor.data.data(), tensor.data.size());
    };
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](const Tensor& a, const Tensor& b) { return place(a) < place(b); });
    require_dense(tensors, data, where);
    return tensors;
}

}
