#pragma once
#include "algorithms/replay/settings.h"

#include <nacelle/plugin/host.h>

namespace replay {

// What is compiled: around the author's functions, and around the environment's sizes.
struct ProgramText {
    std::string text;
    std::vector<const char*> kernels;
};
struct ProgramTexts {
    ProgramText of_author, of_sizes;
};
ProgramTexts program_texts(bool prioritised);

// What a step takes in the ring of this environment.
uint64_t bytes_of_step(const nacelle_environment& environment, bool prioritised);

// The steps that a learner keeps, on the device, and the kernels that fill it and draw from it.
class Replay final {
public:
    // Tells how large it is before it is made, and refuses one that does not fit, with the largest that does.
    Replay(nacelle::plugin::Host host, const Settings& settings, Form form, uint64_t free_bytes);
    // Once the environment is there.
    void make_arrays();

    // All put their launches on the stream. An iteration begins: a checkpoint may have brought other priorities.
    void begin(void* stream) {
        if (settings_.prioritised()) launch("add_up_all", learn::block_threads, stream);
    }
    // Now: what the first so many rows see, which goes to `standing`.
    void see(uint64_t some, void* stream) { launch("see", some * width(), stream); }
    // For these by `outputs`, into the action arrays; in training also into the ring.
    void choose(bool trains, bool greedy, uint64_t some, void* stream);
    // A step of all environments, and what it leaves.
    void step(void* stream);
    // Draws the minibatch of this update of the iteration.
    void draw(uint32_t update, void* stream);
    // The priorities of its samples have been set.
    void revise(void* stream);

    // Steps taken so far, of all rows of all ranks together, and what may change over a run; they wait.
    uint64_t steps() const;
    std::vector<float> dials() const;
    uint64_t capacity() const { return a_.ring.slots * rows_of_all(a_); }
    uint64_t rows() const { return environment_.envs; }    // of this rank
    uint32_t ranks() const { return a_.ranks; }
    int64_t width() const { return a_.ring.width; }
    int64_t choices() const { return a_.ring.choices; }
    int64_t parts() const { return a_.ring.parts; }
    int64_t output_count() const;    // of the network that chooses
    const Arguments& arguments() const { return a_; }

    using Kept = nacelle::plugin::Host::Kept;
    template <class T>
    T* array(const std::string& name, std::initializer_list<uint64_t> shape, Kept kept) const;
    template <class T>
    T* array(const std::string& name, std::initializer_list<uint64_t> shape,
             bool persistent) const {
        return array<T>(name, shape, persistent ? Kept::by_all : Kept::not_at_all);
    }
    const nacelle::plugin::Host& host() const { return host_; }

private:
    void size_ring(uint64_t free_bytes);
    void compile();
    void make_ring();
    void make_tree();
    void make_batch();
    void follow(bool from_batch, void* stream);
    void launch(const char* name, uint64_t items, void* stream);

    nacelle::plugin::Host host_;
    nacelle_environment environment_;
    const Settings& settings_;
    Arguments a_{};
    bool masked_;
    nacelle_kernel step_{};
    std::vector<std::pair<std::string, nacelle_kernel>> kernels_;    // the others
};

}
