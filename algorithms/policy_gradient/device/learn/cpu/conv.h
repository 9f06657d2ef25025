#pragma once
#include <learn/cpu/layers.h>
#include <learn/formulas/critic.h>
// What goes into a network's first layer on a CPU, a sample at a time: the normalised numbers of a row, or what
// convolutions make of them. A convolution is a dense layer whose samples are the patches of one image.

namespace learn {

template <class E, int policy, int capacity, bool trains, bool = convolves<policy>> class Entry {
public:
    void load(const float*) {}
    void enter(int, const SeenRow<E, policy>& row, const Memory& memory, float* to) {
        for (int k = 0; k < width_of<E, policy>; ++k)
            to[k] = number_of(row, k, memory.mean, memory.scale);
    }
    void leave(int, const float*, const float*, float*) {}
};

// `capacity` samples keep what each convolution saw, so that the way back finds it.
template <class E, int policy, int capacity, bool trains>
class Entry<E, policy, capacity, trains, true> {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    static constexpr int count = encoder.count;
    using C = Curve<Spec<policy>::activation>;
    using P = PackedEncoder<policy>;
    static constexpr bool keeps_input = trains && C::needs_input;
    static constexpr Convolution at(int l) { return encoder.layer[l]; }
    // An image with the zeros around it.
    static constexpr int wide_columns(int l) { return at(l).columns + 2 * at(l).padding; }
    static constexpr int wide(int l) {
        return (at(l).rows + 2 * at(l).padding) * wide_columns(l) * at(l).channels;
    }
    static constexpr int rows_of_patches(int l) {
        return (at(l).positions() + samples_together - 1) / samples_together * samples_together;
    }
    template <int l> static constexpr int stride_in = padded<encoder.layer[l].patch()>;
    template <int l> static constexpr int stride_out = padded<encoder.layer[l].out>;
    // The images of all layers one behind the other, and what went into the activations.
    static constexpr int seen_before(int l) {
        return l == 0 ? 0 : seen_before(l - 1) + wide(l - 1);
    }
    template <int l> static constexpr int bent_before() {
        if constexpr (l == 0) return 0;
        else return bent_before<l - 1>() + rows_of_patches(l - 1) * stride_out<l - 1>;
    }
    template <int l = 0> static constexpr int most_in() {
        if constexpr (l == count) return 0;
        else return max(rows_of_patches(l) * stride_in<l>, most_in<l + 1>());
    }
    template <int l = 0> static constexpr int most_out() {
        if constexpr (l == count) return 0;
        else return max(rows_of_patches(l) * stride_out<l>, most_out<l + 1>());
    }
    static constexpr int most_wide() {
        int most = 0;
        for (int l = 0; l < count; ++l) most = wide(l) > most ? wide(l) : most;
        return most;
    }

public:
    // Takes the convolutions' weights as they are now.
    template <int l = 0> void load(const float* weights) {
        if constexpr (l < count) {
            pack<PatchLayer<policy, l>>(
                weights + encoder.before(l), packed_ + P::template forward<l>(),
                trains && l > 0 ? turned_ + P::template backward<l>() : nullptr);
            load<l + 1>(weights);
        }
    }
    // From a row of an observation to the numbers that the first layer behind the convolutions sees.
    void enter(int sample, const float* row, const Memory& memory, float* to) {
        float* const image = seen_[trains ? sample : 0];
        for (int i = 0; i < encoder.images; ++i) put_image(encoder.image[i], i, row, memory, image);
        float* behind = to + encoder.features();
        for (int i = 0; i < encoder.others; ++i)
            for (int k = 0; k < encoder.other[i].count; ++k) {
                const int at = encoder.other[i].first + k;
                *behind++ = normal_of(row[at], memory.mean[at], memory.scale[at]);
            }
        forward<0>(sample, image, to);
    }
    // The way back: what the last convolution made of the sample, the slopes along it, and to where the weights'
    // gradient is added.
    void leave(int sample, const float* made, const float* slope, float* gradient) {
        constexpr int l = count - 1, out = at(l).out;
        const float* const bent = bent_[keeps_input ? sample : 0] + bent_before<l>();
        for (int p = 0; p < at(l).positions(); ++p)
            for (int o = 0; o < out; ++o)
                slope_[p * stride_out<l> + o] =
                    slope[p * out + o] *
                    C::slope(keeps_input ? bent[p * stride_out<l> + o] : 0.0f, made[p * out + o]);
        backward<l>(sample, gradient);
    }

private:
    static float* pixel_of(float* image, int l, int pixel) {
        const int row = pixel / at(l).columns + at(l).padding,
                  column = pixel % at(l).columns + at(l).padding;
        return image + (row * wide_columns(l) + column) * at(l).channels;
    }
    static void put_image(const RowPart& part, int which, const float* row, const Memory& memory,
                          float* image) {
        const int first_channel = encoder.first_channel(which);
        for (int i = 0; i < part.count; ++i) {
            const int number = part.first + i, channel = first_channel + i % part.channels;
            float* const to = pixel_of(image, 0, i / part.channels);
            if constexpr (encoder.codes > 0)
                for (int code = 0; code < encoder.codes; ++code)
                    to[channel * encoder.codes + code] = row[number] == float(code) ? 1.0f : 0.0f;
            else to[channel] = normal_of(row[number], memory.mean[number], memory.scale[number]);
        }
    }
    template <int l> void take_patches(const float* image) {
        constexpr Convolution c = encoder.layer[l];
        constexpr int across = c.size_columns * c.channels;
        for (int p = 0; p < c.positions(); ++p) {
            const float* from =
                image + (p / c.out_columns() * wide_columns(l) + p % c.out_columns()) * c.stride *
                            c.channels;
            float* to = patches_ + p * stride_in<l>;
            for (int k = 0; k < c.size_rows; ++k) {
                for (int i = 0; i < across; ++i) to[i] = from[i];
                from += wide_columns(l) * c.channels;
                to += across;
            }
        }
    }
    template <int l> void forward(int sample, float* image, float* to) {
        constexpr Convolution c = encoder.layer[l];
        constexpr int stride = stride_out<l>;
        take_patches<l>(image);
        dense<c.patch(), c.out, true>(patches_, packed_ + P::template forward<l>(), made_,
                                      c.positions());
        if constexpr (keeps_input) {
            float* const bent = bent_[sample] + bent_before<l>();
            for (int i = 0; i < c.positions() * stride; ++i) bent[i] = made_[i];
        }
        NACELLE_VECTOR_LOOP
        for (int i = 0; i < c.positions() * stride; ++i) made_[i] = C::at(made_[i]);
        float* const next = image + wide(l);
        for (int p = 0; p < c.positions(); ++p) {
            float* there = to + p * c.out;
            if constexpr (l + 1 < count) there = pixel_of(next, l + 1, p);
            for (int o = 0; o < c.out; ++o) there[o] = made_[p * stride + o];
        }
        if constexpr (l + 1 < count) forward<l + 1>(sample, next, to);
    }
    // slope_ has the slopes along what went into layer l's activation.
    template <int l> void backward(int sample, float* gradient) {
        constexpr Convolution c = encoder.layer[l];
        take_patches<l>(seen_[sample] + seen_before(l));
        gradient_of_dense<c.patch(), c.out>(patches_, slope_, gradient + P::template forward<l>(),
                                            c.positions());
        if constexpr (l > 0) {
            dense<c.out, c.patch(), false>(slope_, turned_ + P::template backward<l>(), patches_,
                                           c.positions());
            add_patches<l>();
            constexpr int before = l - 1, stride = stride_out<before>;
            float* const image = seen_[sample] + seen_before(l);
            const float* const bent =
                bent_[keeps_input ? sample : 0] + (keeps_input ? bent_before<before>() : 0);
            for (int p = 0; p < at(before).positions(); ++p) {
                const float* const along = pixel_of(along_, l, p);
                const float* const made = pixel_of(image, l, p);
                for (int o = 0; o < c.channels; ++o)
                    slope_[p * stride + o] =
                        along[o] * C::slope(keeps_input ? bent[p * stride + o] : 0.0f, made[o]);
            }
            backward<before>(sample, gradient);
        }
    }
    // The slopes along all patches become those along the image.
    template <int l> void add_patches() {
        constexpr Convolution c = encoder.layer[l];
        constexpr int across = c.size_columns * c.channels;
        for (int i = 0; i < wide(l); ++i) along_[i] = 0;
        for (int p = 0; p < c.positions(); ++p) {
            float* to = along_ + (p / c.out_columns() * wide_columns(l) + p % c.out_columns()) *
                                     c.stride * c.channels;
            const float* from = patches_ + p * stride_in<l>;
            for (int k = 0; k < c.size_rows; ++k) {
                for (int i = 0; i < across; ++i) to[i] += from[i];
                to += wide_columns(l) * c.channels;
                from += across;
            }
        }
    }

    // Zeros around the images stay what they are.
    alignas(64) float packed_[P::size];
    alignas(64) float turned_[trains ? P::turned + 16 : 16];
    alignas(64) float patches_[most_in()];
    alignas(64) float made_[most_out()];
    alignas(64) float slope_[trains ? most_out() : 16];
    alignas(64) float along_[trains ? most_wide() : 16];
    float seen_[trains ? capacity : 1][seen_before(count)];
    float bent_[keeps_input ? capacity : 1][keeps_input ? bent_before<count>() : 1];
};

}
