#include "algorithms/policy_gradient/settings/encoder.h"

namespace learn {
namespace {

// What a convolution may leave of a sample, and hold in one filter: products beyond have no memory on any GPU.
constexpr int64_t most_features = 1 << 20, most_patch = 1 << 15;

std::string sides(int64_t rows, int64_t columns) {
    return std::to_string(rows) + " x " + std::to_string(columns);
}

// Images and what is none, in the order of a row.
class Rows final {
public:
    Rows(Encoder& encoder, const PolicySettings& policy, const SchemaView& schema,
         const std::string& where)
        : encoder_(encoder), where_(where) {
        const uint32_t numbers = schema.header().group[policy.group].obs_width;
        if (numbers) add_other(numbers);
        for (uint32_t i = 0; i < schema.header().fields; ++i) {
            const nacelle::Field& field = schema.field(i);
            if (field.role == nacelle::Role::obs && field.kind == nacelle::Kind::array &&
                field.group == policy.group)
                add_array(field);
        }
    }

private:
    void add_other(uint32_t count) {
        RowPart* const last = encoder_.others ? &encoder_.other[encoder_.others - 1] : nullptr;
        if (last && last->first + last->count == at_) last->count += int(count);
        else encoder_.other[encoder_.others++] = {at_, int(count), 1};
        at_ += int(count);
    }
    void add_array(const nacelle::Field& field) {
        if (field.rank < 2) return add_other(field.count);
        const std::string name = field.name;
        if (field.rank > 3)
            wrong(where_, "the image '" + name + "' has " + std::to_string(field.rank) +
                              " dimensions; a convolution takes [rows][columns] or "
                              "[rows][columns][channels]");
        const int rows = int(field.dims[0]), columns = int(field.dims[1]),
                  channels = field.rank == 3 ? int(field.dims[2]) : 1;
        Convolution& first = encoder_.layer[0];
        if (encoder_.images && (rows != first.rows || columns != first.columns))
            wrong(where_, "the image '" + name + "' has " + sides(rows, columns) +
                              " pixels, another one has " + sides(first.rows, first.columns) +
                              "; a convolution takes images of one size, side by side as channels");
        if (encoder_.images == most_images)
            wrong(where_, "a convolution takes at most " + std::to_string(most_images) + " images");
        if (encoder_.codes &&
            (field.dtype == nacelle::Dtype::f32 || field.dtype == nacelle::Dtype::f64))
            wrong(where_, "\"one_hot\" takes whole numbers; the image '" + name + "' has floats");
        encoder_.image[encoder_.images++] = {at_, int(field.count), channels};
        first.rows = rows;
        first.columns = columns;
        first.channels += channels;
        at_ += int(field.count);
    }

    Encoder& encoder_;
    const std::string& where_;
    int at_ = 0;
};

}

Encoder encoder_of(const PolicySettings& policy, const SchemaView& schema) {
    Encoder encoder;
    if (policy.convolutions.empty()) return encoder;
    const std::string where = "policies." + policy.name + ".hidden";
    encoder.codes = int(policy.codes);
    const Rows rows(encoder, policy, schema, where);
    if (encoder.images == 0)
        wrong(where, "a convolution needs an image, a nacelle::Array of two or three dimensions in "
                     "Obs; " +
                         std::string(schema.header().name) + " shows none");
    encoder.layer[0].channels *= encoder.codes ? encoder.codes : 1;
    for (const ConvolutionSettings& settings : policy.convolutions) {
        Convolution& layer = encoder.layer[encoder.count++];
        if (encoder.count > 1) {
            const Convolution& before = encoder.layer[encoder.count - 2];
            layer.rows = before.out_rows();
            layer.columns = before.out_columns();
            layer.channels = before.out;
        }
        layer.size_rows = int(settings.rows);
        layer.size_columns = int(settings.columns);
        layer.stride = int(settings.stride);
        layer.padding = int(settings.padding);
        layer.out = int(settings.channels);
        const std::string which = "convolution " + std::to_string(encoder.count);
        if (layer.positions() == 0)
            wrong(where,
                  which + " has a kernel of " + sides(layer.size_rows, layer.size_columns) +
                      ", larger than its image of " +
                      sides(layer.rows + 2 * layer.padding, layer.columns + 2 * layer.padding) +
                      " with padding");
        const int64_t features = int64_t(layer.positions()) * layer.out,
                      patch = int64_t(layer.size_rows) * layer.size_columns * layer.channels;
        if (features > most_features || patch > most_patch)
            wrong(where, which + " has " + std::to_string(features) + " outputs of " +
                             std::to_string(patch) + " inputs each; there may be " +
                             std::to_string(most_features) + " of " + std::to_string(most_patch));
    }
    return encoder;
}

std::string encoder_text(const Encoder& e) {
    const auto list = [](auto... numbers) {
        std::string text;
        ((text += (text.empty() ? "" : ", ") + std::to_string(numbers)), ...);
        return "{" + text + "}";
    };
    const auto listed = [](int count, auto&& entry) {
        std::string text;
        for (int i = 0; i < count; ++i) text += (i ? ", " : "") + entry(i);
        return "{" + text + "}";
    };
    const auto parts = [&](const RowPart* part, int count) {
        return listed(count,
                      [&](int i) { return list(part[i].first, part[i].count, part[i].channels); });
    };
    if (e.count == 0) return "{}";
    return "{" + std::to_string(e.count) + ", " + std::to_string(e.codes) + ", " +
           std::to_string(e.images) + ", " + std::to_string(e.others) + ", " +
           parts(e.image, e.images) + ", " + parts(e.other, e.others) + ", " +
           listed(e.count,
                  [&](int i) {
                      const Convolution& c = e.layer[i];
                      return list(c.rows, c.columns, c.channels, c.size_rows, c.size_columns,
                                  c.stride, c.padding, c.out);
                  }) +
           "}";
}

}
