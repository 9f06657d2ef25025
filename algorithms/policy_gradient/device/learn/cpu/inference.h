#pragma once
#include <learn/cpu/conv.h>
#include <learn/cpu/sequences.h>
#include <learn/formulas/past.h>
// A policy's networks at work on a CPU, a tile of rows at a time. Each thread has its own.

namespace learn {

inline constexpr int rows_together = 64;

// Whose weights these are, and by which normaliser they see: the policy's as it is now, or those of a member of its past.
template <class E, int policy> struct Player {
    Memory memory;
    const float* weights;

    Player(const Arguments& a, int member)
        : memory(a.memory[Spec<policy>::group]), weights(a.policy[policy].weights) {
        if (member == present) return;
        constexpr size_t width = size_t(width_of<E, policy>);
        const PastPool& pool = a.pools[policy];
        weights = pool.weights + size_t(member) * size_t(Networks<E, policy>::parameters);
        memory.mean = pool.mean + size_t(member) * width;
        memory.scale = pool.scale + size_t(member) * width;
    }
};

// Wide layers have a form of their own (streamed/inference.h).
template <class E, int policy, bool streamed = Spec<policy>::streamed> class Inference {
    using N = Networks<E, policy>;
    static constexpr int width = encoded_width_of<E, policy>;

public:
    using Group = GroupOf<E, policy>;

    static Inference& here() {
        static thread_local Inference networks;
        return networks;
    }
    // The same for members of the past, one after the other.
    static Inference& past() {
        static thread_local Inference networks;
        return networks;
    }
    // Takes the weights as they are now.
    void load(const Player<E, policy>& player) {
        memory_ = player.memory;
        const float* const weights = player.weights;
        actor_entry_.load(weights);
        pack<typename N::Actor>(weights + N::encoder, actor_weights_, nullptr);
        if constexpr (N::separate) {
            critic_entry_.load(weights + N::first);
            pack<typename N::Critic>(weights + N::first + N::encoder, critic_weights_, nullptr);
        }
    }
    void release() {}

    // The next n rows; row(i) is where the numbers of one lie.
    template <class Row> void put(int n, Row&& row) {
        if constexpr (N::remembers) {
            actor_.memory = actor_room_;
            critic_.memory = critic_room_;
            actor_.steps = critic_.steps = 1;
            actor_.n = critic_.n = (n + samples_together - 1) / samples_together * samples_together;
        }
        for (int i = 0; i < n; ++i)
            actor_entry_.enter(i, row(i), memory_, actor_.input() + i * padded<width>);
        if constexpr (N::separate)
            for (int i = 0; i < n; ++i)
                critic_entry_.enter(i, row(i), memory_, critic_.input() + i * padded<width>);
    }
    // What the rows remember; from(i) is where that of one lies, or null where its episode begins.
    template <class From> void recall(int n, From&& from) {
        for (int i = 0; i < n; ++i) {
            const float* const its = from(i);
            forgot_[i] = its == nullptr;
            for (int k = 0; k < N::memory; ++k) past_[i * N::memory + k] = its ? its[k] : 0.0f;
        }
    }
    // And what they remember from now on.
    template <class To> void keep(int n, To&& to) {
        actor_.leave(past_, N::memory, n);
        if constexpr (N::separate) critic_.leave(past_ + N::Actor::memory, N::memory, n);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < N::memory; ++k) to(i)[k] = past_[i * N::memory + k];
    }
    void forward(int n) {
        if constexpr (N::remembers) actor_.forward(actor_weights_, {past_, forgot_, N::memory});
        else actor_.forward(actor_weights_, n);
    }
    void forward_values(int n) {
        if constexpr (!N::separate) return;
        else if constexpr (N::remembers)
            critic_.forward(critic_weights_, {past_ + N::Actor::memory, forgot_, N::memory});
        else critic_.forward(critic_weights_, n);
    }
    const float* output(int i) { return actor_.output() + i * padded<N::Actor::out>; }
    float value(int i) {
        if constexpr (N::shared) return output(i)[N::value_output];
        else return critic_.output()[i * padded<1>];
    }
    // The values alone of up to rows_together rows.
    template <class Row, class From, class To> void values(int n, Row&& row, From&& from, To&& to) {
        put(n, row);
        if constexpr (N::remembers) recall(n, from);
        if constexpr (N::shared) forward(n);
        forward_values(n);
        for (int i = 0; i < n; ++i) to(i, value(i));
    }

private:
    static constexpr int critic_size = !N::separate ? 16 : Packed<typename N::Critic>::size;
    struct None {};

    using InferenceEntry = Entry<E, policy, rows_together, false>;
    Memory memory_ = {};    // of which the normaliser is read
    InferenceEntry actor_entry_;
    Either<!N::separate, None, InferenceEntry> critic_entry_;
    alignas(64) float actor_weights_[Packed<typename N::Actor>::size];
    alignas(64) float critic_weights_[critic_size];
    template <class L>
    static constexpr int room = N::remembers ? rows_together* Sequences<L>::row_floats : 16;
    template <class L>
    using Rows = Either<N::remembers, Sequences<L>, Tile<L, rows_together, false>>;
    Rows<typename N::Actor> actor_;
    Either<!N::separate && !N::remembers, None, Rows<typename N::Critic>> critic_;
    alignas(64) float actor_room_[room<typename N::Actor>];
    alignas(64) float critic_room_[!N::separate ? 16 : room<typename N::Critic>];
    float past_[rows_together * (N::remembers ? N::memory : 1)];
    uint8_t forgot_[rows_together];
};

// Which member a thread's past() has in this launch.
template <class E, int policy> int& member_loaded() {
    static thread_local int member = present;
    return member;
}
// Who plays rows of this player.
template <class E, int policy> Inference<E, policy>& networks_of(const Arguments& a, int player) {
    if constexpr (plays_past<policy>) {
        if (player != present) {
            int& loaded = member_loaded<E, policy>();
            if (loaded != player) Inference<E, policy>::past().load(Player<E, policy>(a, player));
            loaded = player;
            return Inference<E, policy>::past();
        }
    }
    (void)a, (void)player;
    return Inference<E, policy>::here();
}
// The weights as they are now, for the time of a launch.
template <class E, int policy> struct LoadedNetworks {
    explicit LoadedNetworks(const Arguments& a) {
        if constexpr (Spec<policy>::kind != Kind::random)
            Inference<E, policy>::here().load(Player<E, policy>(a, present));
        (void)a;
    }
    ~LoadedNetworks() {
        if constexpr (Spec<policy>::kind != Kind::random) Inference<E, policy>::here().release();
        if constexpr (plays_past<policy>) {
            Inference<E, policy>::past().release();
            member_loaded<E, policy>() = present;
        }
    }
    LoadedNetworks(const LoadedNetworks&) = delete;
};

}
