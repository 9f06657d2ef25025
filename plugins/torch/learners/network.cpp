#include "plugins/torch/learners/network.h"

#include "plugins/torch/learners/layers.h"

namespace torch_learn {
namespace {

using at::Tensor;

// One network with the value behind its outputs, or two.
class Network final : public Model {
public:
    Network(const learn::NetworkShape& shape, const std::string& activation) {
        actor_ = register_module(
            "actor", std::make_shared<Layers>(shape.encoder, shape.actor, shape.cells, activation));
        if (shape.free_deviation)
            actor_->last().blind(shape.choices + shape.reals, shape.outputs());
        if (shape.critic.empty()) return;
        critic_ = register_module("critic", std::make_shared<Layers>(shape.encoder, shape.critic,
                                                                     shape.cells, activation));
    }
    int64_t memory() const override { return actor_->memory() + (critic_ ? critic_->memory() : 0); }
    Tensor forward(const Tensor& rows, Tensor& memory) override {
        std::vector<Tensor> after;
        // In bf16 parameters are that, and so is what goes through them.
        const Tensor seen = rows.to(actor_->number());
        Tensor out = actor_->forward(seen, memory, 0, after);
        if (critic_)
            out = at::cat({out, critic_->forward(seen, memory, actor_->memory(), after)}, 1);
        if (!after.empty()) memory = at::cat(after, 1);
        return out.to(at::kFloat);
    }

private:
    std::shared_ptr<Layers> actor_, critic_;
};

}

std::shared_ptr<Model> make_network(const learn::NetworkShape& shape,
                                    const learn::PolicySettings& policy) {
    return std::make_shared<Network>(shape, policy.activation);
}

}
