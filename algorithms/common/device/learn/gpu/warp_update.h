#pragma once
#include <learn/gpu/prepared.h>
#include <learn/gpu/warp_judge.h>
#include <learn/shuffle.h>
// The gradient of one minibatch on tensor cores. A block is a slot. Each of its warps takes 16 samples
// through the network and back in registers and leaves what the layers saw, and the slopes, in shared
// memory; then the warps share out the tiles of the weights, and each sums its own over all samples of the
// block. The sums stay in registers until the slot's last samples are done.

namespace learn {

template <class L> struct Bench {
    using F = Fragments<L>;
    // More warps for wider networks, whose weights' sums would not fit into the registers of four.
    static constexpr int warps = L::widest_input() > 64 ? 8 : 4, threads = 32 * warps,
                         samples = warp_rows * warps;
    // Level l is what goes into layer l; the last one has the slopes along the outputs alone.
    static constexpr int tiles(int l) { return tiles_of(L::width[l], 16); }
    static constexpr int pitch(int l) { return 8 * tiles(l) + 4; }
    static constexpr int seen_before(int l) {
        int words = 0;
        for (int i = 0; i < l; ++i) words += pitch(i);
        return words * samples;
    }
    static constexpr int slopes_start = seen_before(L::count);
    static constexpr int slopes_before(int l) {    // of level l, from 1
        int words = 0;
        for (int i = 1; i < l; ++i) words += pitch(i);
        return slopes_start + words * samples;
    }
    static constexpr int weights_start = slopes_before(L::count + 1);
    static constexpr int out_pitch = Desk<L>::pitch_out;
    static constexpr int out_start = weights_start + F::size;
    static constexpr int words = (out_start + samples * out_pitch + 3) / 4 * 4;

    // Sums of the weights' gradients that a warp keeps: pairs of tiles of 16 by 8, in the order of layer,
    // inputs, outputs.
    static constexpr int across(int l) { return (F::out_tiles(l) + 1) / 2; }
    static constexpr int units(int l) { return (F::in_tiles(l) * across(l) + warps - 1) / warps; }
    static constexpr int units_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += units(i);
        return n;
    }
    static constexpr int all_units = units_before(L::count);
    static constexpr bool fits() {
        for (int l = 0; l < L::count; ++l)
            if (F::out_tiles(l) * 4 > threads) return false;
        return true;
    }
    static_assert(fits(), "a layer is too wide for a block");
};

template <class E, int policy, class L, Part part> class WarpTeacher {
    using B = Bench<L>;
    using F = Fragments<L>;
    using N = Networks<E, policy>;
    static constexpr int width = width_of<E, policy>;

public:
    NACELLE_INLINE explicit WarpTeacher(const Arguments& a)
        : a_(a),
          memory_(a.memory[Spec<policy>::group]),
          pupil_(a.pupil[policy]),
          bench_(block_memory<B::words>()),
          warp_(int(threadIdx.x) / 32),
          judge_(a) {
        const auto* const from = reinterpret_cast<const uint32_t*>(pupil_.prepared) +
                                 (part == Part::critic ? Prepared<E, policy>::critic : 0);
        for (int i = int(threadIdx.x); i < F::size; i += B::threads)
            bench_[B::weights_start + i] = from[i];
        for (int i = int(threadIdx.x); i < B::weights_start; i += B::threads) bench_[i] = 0;
        NACELLE_UNROLL for (int u = 0; u < B::all_units; ++u) {
            NACELLE_UNROLL for (int k = 0; k < 8; ++k) sum_[u][k / 4][k % 4] = 0;
        }
        NACELLE_UNROLL for (int l = 0; l < L::count; ++l) bias_[l][0] = bias_[l][1] = 0;
    }

    // The samples from number `first` of a minibatch on, one block of them.
    NACELLE_INLINE void teach(const View<E>& view, const Minibatch<E, policy>& batch,
                              uint64_t first) {
        const int lane = warp_lane(), row = warp_ * warp_rows + lane;
        const uint64_t number = first + uint64_t(row);
        const bool there = lane < warp_rows && number < batch.count;
        const size_t at = there ? batch.place(view, a_, uint32_t(number)) : 0;
        const bool mine = there && counts(memory_.flag[at]);
        __syncthreads();    // the last samples have been summed
        if (mine)
            put_row<width>(bench_ + row * B::pitch(0), memory_.obs + at * size_t(width), memory_);
        __syncwarp();
        Trail<L> trail;
        trail.take(seen(0), B::pitch(0));
        const WeightsInMemory weights{bench_ + B::weights_start + 2 * lane};
        const auto* const bias =
            reinterpret_cast<const float*>(bench_ + B::weights_start) + F::bias_start;
        trail.forward(weights, bias, [&](int j, const float(&c)[4]) {
            leave_outputs(output(warp_ * warp_rows), B::out_pitch, j, c);
        });
        __syncwarp();
        if (lane < warp_rows)
            judge_.row(output(row), mine, at,
                       bench_ + B::slopes_before(L::count) + row * B::pitch(L::count));
        __syncwarp();
        uint32_t slope[B::tiles(L::count)][4];
        take_tiles<B::tiles(L::count)>(slope, slopes(L::count), B::pitch(L::count));
        leave_trail(trail);
        go_back<L::count - 1>(trail, slope);
        __syncthreads();
        sum_layers<0>();
    }
    NACELLE_INLINE void store(uint32_t slot) {
        float* const gradient = pupil_.gradient + size_t(slot) * Place<E, policy>::size +
                                (part == Part::critic ? Packed<typename N::Actor>::size : 0);
        store_layers<0>(gradient);
        __syncthreads();
        store_biases(gradient);
        judge_.store(slot, reinterpret_cast<float*>(bench_), B::warps);
    }

private:
    // This warp's rows of a level.
    NACELLE_INLINE uint32_t* seen(int l) const {
        return bench_ + B::seen_before(l) + warp_ * warp_rows * B::pitch(l);
    }
    NACELLE_INLINE uint32_t* slopes(int l) const {
        return bench_ + B::slopes_before(l) + warp_ * warp_rows * B::pitch(l);
    }
    NACELLE_INLINE float* output(int row) const {
        return reinterpret_cast<float*>(bench_ + B::out_start) + row * B::out_pitch;
    }
    template <int l = 1> NACELLE_INLINE void leave_trail(const Trail<L>& trail) const {
        if constexpr (l < L::count) {
            constexpr int first = Trail<L>::before(l), tiles = F::in_tiles(l);
            NACELLE_UNROLL for (int k = 0; k < tiles; ++k)
                leave_tile(seen(l), B::pitch(l), k, trail.y[first + k]);
            leave_trail<l + 1>(trail);
        }
    }
    // From the slopes along layer l's outputs to those along its inputs, before their activation.
    template <int l, int tiles>
    NACELLE_INLINE void go_back(const Trail<L>& trail, const uint32_t (&slope)[tiles][4]) const {
        if constexpr (l > 0) {
            uint32_t next[F::in_tiles(l)][4];
            const WeightsInMemory turned{bench_ + B::weights_start + F::turned_start +
                                         2 * warp_lane()};
            NACELLE_UNROLL for (int j = 0; j < 2 * F::in_tiles(l); ++j) {
                float c[4];
                tile_product<tiles>(c, slope, turned, F::turned_before(l) + j, 2 * F::in_tiles(l),
                                    0, 0);
                const int tile = Trail<L>::before(l) + j / 2, word = j % 2 * 2;
                next[j / 2][word] = trail.bent(tile, word, c[0], c[1]);
                next[j / 2][word + 1] = trail.bent(tile, word + 1, c[2], c[3]);
            }
            NACELLE_UNROLL for (int k = 0; k < F::in_tiles(l); ++k)
                leave_tile(slopes(l), B::pitch(l), k, next[k]);
            go_back<l - 1, F::in_tiles(l)>(trail, next);
        }
    }
    // Sixteen samples' part of a pair of tiles of weights: what was seen, turned, times the slopes.
    template <int l> NACELLE_INLINE void sum_layers() {
        if constexpr (l < L::count) {
            constexpr int across = B::across(l), units = B::units(l);
            constexpr bool one_row =
                across % units == 0;    // all of a warp's tiles share their inputs
            const int lane = warp_lane();
            NACELLE_ROLLED for (int step = 0; step < B::samples; step += 16) {
                uint32_t inputs[4], outputs[4];
                NACELLE_UNROLL for (int u = 0; u < units; ++u) {
                    const int unit = warp_ * units + u, m = unit / across, n = unit % across;
                    if (F::in_tiles(l) * across % units != 0 ||
                        F::in_tiles(l) * across < B::warps * units)
                        if (unit >= F::in_tiles(l) * across) continue;    // the whole warp
                    if (u == 0 || !one_row)
                        load_tiles<true>(inputs,
                                         bench_ + B::seen_before(l) +
                                             (step + lane % 8 + lane / 16 * 8) * B::pitch(l) +
                                             8 * m + lane / 8 % 2 * 4);
                    load_tiles<true>(outputs, bench_ + B::slopes_before(l + 1) +
                                                  (step + lane % 16) * B::pitch(l + 1) + 8 * n +
                                                  lane / 16 * 4);
                    multiply(sum_[B::units_before(l) + u][0], inputs, outputs[0], outputs[1]);
                    multiply(sum_[B::units_before(l) + u][1], inputs, outputs[2], outputs[3]);
                }
            }
            sum_bias<l>();
            sum_layers<l + 1>();
        }
    }
    // Neighbouring threads have neighbouring pairs of outputs, and as many share a pair as there are.
    template <int l> static constexpr int columns = 4 * F::out_tiles(l);
    template <int l> NACELLE_INLINE void sum_bias() {
        constexpr int parts = B::threads / columns<l>, each = B::samples / parts;
        const int column = int(threadIdx.x) % columns<l>, at = int(threadIdx.x) / columns<l>;
        if (at >= parts) return;
        constexpr int rest = B::samples - each * parts;
        const int first = at * each, count = at + 1 == parts ? each + rest : each;
        const uint32_t* const from = bench_ + B::slopes_before(l + 1) + column;
        for (int row = first; row < first + count; ++row) {
            const uint32_t pair = from[row * B::pitch(l + 1)];
            bias_[l][0] += low_half(pair);
            bias_[l][1] += high_half(pair);
        }
    }
    template <int l> NACELLE_INLINE void store_layers(float* gradient) const {
        if constexpr (l < L::count) {
            constexpr int across = B::across(l), units = B::units(l), in = L::width[l],
                          out = L::width[l + 1], pitch = padded<out>;
            float* const to = gradient + Packed<L>::template forward<l>();
            const int g = warp_lane() / 4, t = warp_lane() % 4;
            NACELLE_UNROLL for (int u = 0; u < units; ++u) {
                const int unit = warp_ * units + u, m = unit / across, n = unit % across;
                NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
                    const int i = 16 * m + g + k % 4 / 2 * 8,
                              o = 16 * n + 8 * (k / 4) + 2 * t + k % 2;
                    if (unit < F::in_tiles(l) * across && i < in && o < out)
                        to[i * pitch + o] = sum_[B::units_before(l) + u][k / 4][k % 4];
                }
            }
            store_layers<l + 1>(gradient);
        }
    }
    NACELLE_INLINE void store_biases(float* gradient) {
        float* const meeting = reinterpret_cast<float*>(bench_);
        store_bias<0>(gradient, meeting);
    }
    template <int l> NACELLE_INLINE void store_bias(float* gradient, float* meeting) {
        if constexpr (l < L::count) {
            constexpr int parts = B::threads / columns<l>, out = L::width[l + 1];
            const int thread = int(threadIdx.x);
            meeting[2 * thread] = bias_[l][0];
            meeting[2 * thread + 1] = bias_[l][1];
            __syncthreads();
            for (int o = thread; o < out; o += B::threads) {
                float sum = 0;
                for (int at = 0; at < parts; ++at)
                    sum += meeting[2 * (at * columns<l> + o / 2) + o % 2];
                gradient[Packed<L>::template forward<l>() + L::width[l] * padded<out> + o] = sum;
            }
            __syncthreads();
            store_bias<l + 1>(gradient, meeting);
        }
    }

    const Arguments& a_;
    const Memory& memory_;
    const Pupil& pupil_;
    uint32_t* bench_;
    int warp_;
    float sum_[B::all_units][2][4];
    float bias_[L::count][2];
    Judge<E, policy, L, part> judge_;
};

template <class E, int policy>
NACELLE_INLINE void gradient_warps(const View<E>& view, const Arguments& a, Items items) {
    constexpr uint64_t threads = uint64_t(Bench<typename Networks<E, policy>::Actor>::threads);
    with_network<E, policy>(a, uint32_t(items.begin / threads),
                            [&]<class L, Part part>(uint32_t slot) {
                                const Minibatch<E, policy> batch(view, a);
                                WarpTeacher<E, policy, L, part> teacher(a);
                                constexpr uint64_t together = uint64_t(Bench<L>::samples);
                                for (uint64_t first = slot * together; first < batch.count;
                                     first += a.pupil[policy].parts * together)
                                    teacher.teach(view, batch, first);
                                teacher.store(slot);
                            });
}

}
