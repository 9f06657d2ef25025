#include "plugins/torch/learners/captured_work.h"

namespace torch_learn {

void CapturedWork::run(void* stream, int kind, const std::function<void()>& work) {
    if (!gpu_) return work();
    const std::shared_ptr<void> used = gpu_->use(stream);
    const uint64_t version = host_.environment().version;
    if (version != version_) kept_.clear();
    version_ = version;
    Kept& kept = kept_[kind];
    if (!kept.replay && ++kept.runs == warm_up + 1) {
        try {
            kept.replay = gpu_->capture(work);
        } catch (const std::exception& error) {
            const std::string why = error.what();
            host_.log(NACELLE_WARNING,
                      "its work on the GPU runs without a graph, which is slower: " +
                          why.substr(0, why.find('\n')));
        }
    }
    if (kept.replay) kept.replay();
    else work();
}

void CapturedWork::once(void* stream, const std::function<void()>& work) {
    if (!gpu_) return work();
    const std::shared_ptr<void> used = gpu_->use(stream);
    // The memory of what is captured would be LibTorch's to give away between two replays.
    if (gpu_->is_capturing())
        throw std::runtime_error("LibTorch allocates while it computes, which is not captured");
    work();
}

}
