#include "tests/algorithms/recomputed.h"

#include <bit>

namespace nacelle::test {

LossForm PolicyForm::loss() const {
    LossForm form;
    form.clips = dials.contains("clip");
    if (form.clips) form.clip = dial("clip");
    form.value_clip = dial("value_clip");
    form.value_weight = dial("value_weight");
    form.entropy = dial("entropy");
    return form;
}

std::vector<PolicyForm> policies_of(Lesson& lesson) {
    const EnvSchema& schema = lesson.env().schema();
    const Header& header = schema.header();
    const Json settings = lesson.learner().settings();
    std::vector<PolicyForm> all;
    for (uint32_t p = 0; p < header.policies; ++p) {
        const Decider& decider = header.policy[p];
        const Group& group = header.group[decider.group];
        const Json& own = settings.at("policies").at(decider.name);
        PolicyForm form;
        form.name = decider.name;
        form.group = group.name;
        form.group_number = decider.group;
        form.in_group = group.count;
        for (const double id : lesson.numbers(form.name + ".policy.agents"))
            form.agents.push_back(size_t(id));
        form.dials = settings;
        for (const Field& field : schema.fields())
            if (field.role == Role::action && field.group == decider.group)
                for (uint32_t i = 0; i < field.count; ++i)
                    form.head.parts.push_back(
                        {field.kind == Kind::discrete ? field.choices : 0, field.low, field.high});
        size_t seen = group.obs_width;
        for (const Field& field : schema.fields())
            if (field.role == Role::obs && field.kind == Kind::array &&
                field.group == decider.group)
                seen += field.count;
        form.seen = seen;
        if (own.at("train") == "random") {    // it has no network
            all.push_back(std::move(form));
            continue;
        }
        if (own.contains("opponents")) {
            form.learns_by = header.policies == 1 ? 1 : 64;
            form.learns_at = p;
        }
        form.activation.name = own.at("activation");
        form.shared = own.at("trunk") == "shared";
        if (form.head.reals() > 0) {
            form.head.squashed = own.at("squash");
            form.head.free_deviation = own.at("deviation") == "free";
        }
        form.encoder = EncoderForm(schema, decider.group, own.at("hidden"));
        form.actor.push_back(form.encoder.layers.empty() ? seen : form.encoder.width());
        for (const Json& layer : own.at("hidden")) {
            if (layer.contains("conv") || layer.contains("one_hot")) continue;
            const bool plain = layer.is_number();
            form.actor.push_back((plain ? layer : *layer.begin()).get<size_t>());
            form.cells.push_back(plain ? "linear" : layer.items().begin().key());
        }
        form.critic = form.actor;
        if (own.contains("critic")) {
            form.shared = false;
            form.sees = own.at("critic").at("sees");
            for (const Json& word : form.sees)
                form.overseen += word == "global"
                                     ? form.overview = lesson.numbers("overview.mean").size()
                                 : word == "team" ? form.agents.size() * seen
                                                  : seen;
            form.critic = {form.overseen};
            for (const Json& layer : own.at("critic").at("hidden"))
                form.critic.push_back(layer.get<size_t>());
        }
        form.actor.push_back(form.head.outputs() + (form.shared ? 1 : 0));
        form.critic.push_back(1);
        if (own.contains("learner")) form.dials.update(own.at("learner"));
        all.push_back(std::move(form));
    }
    return all;
}

std::vector<double> rows_seen(Lesson& lesson, const PolicyForm& policy, const std::string& array) {
    const EnvSchema& schema = lesson.env().schema();
    const std::string name = schema.header().groups > 1 ? policy.group + "." + array : array;
    const size_t rows = lesson.env().count() * policy.in_group;
    std::vector<std::vector<double>> row(rows);
    const auto append = [&](const std::string& of) {
        const std::vector<double> values = numbers(lesson.env(), of);
        const size_t width = values.size() / rows;
        for (size_t i = 0; i < values.size(); ++i) row[i / width].push_back(values[i]);
    };
    if (schema.header().group[policy.group_number].obs_width) append(name);
    for (const Field& field : schema.fields())
        if (field.kind == Kind::array && std::string(field.name).starts_with(name + "."))
            append(field.name);
    std::vector<double> all;
    for (const auto& one : row) all.insert(all.end(), one.begin(), one.end());
    return all;
}

Normaliser Normaliser::of(Lesson& lesson, const std::string& group) {
    return {lesson.numbers(group + ".obs.mean"), lesson.numbers(group + ".obs.scale")};
}

Normaliser Normaliser::of(Lesson& lesson, const PolicyForm& policy) {
    Normaliser all = of(lesson, policy.group);
    for (auto [numbers, array] : {std::pair{&all.mean, "mean"}, std::pair{&all.scale, "scale"}}) {
        const std::vector<double> own = *numbers;
        for (const Json& word : policy.sees) {
            const std::vector<double> its =
                word == "global" ? lesson.numbers(std::string("overview.") + array) : own;
            for (size_t i = 0; i < (word == "team" ? policy.agents.size() : 1); ++i)
                numbers->insert(numbers->end(), its.begin(), its.end());
        }
    }
    return all;
}
std::vector<double> of_networks(Lesson& lesson, const PolicyForm& policy,
                                const std::string& array) {
    std::vector<double> all = lesson.numbers(policy.name + ".policy." + array);
    if (!policy.overseen) return all;
    const std::vector<double> its = lesson.numbers(policy.name + ".critic.policy." + array);
    all.insert(all.end(), its.begin(), its.end());
    return all;
}
std::vector<double> overseen_rows(const PolicyForm& policy, const std::vector<double>& overviews,
                                  const std::vector<double>& obs) {
    if (!policy.overseen) return obs;
    std::vector<double> all;
    const auto add = [&](const std::vector<double>& from, size_t row, size_t width) {
        const auto first = from.begin() + std::ptrdiff_t(row * width);
        all.insert(all.end(), first, first + std::ptrdiff_t(width));
    };
    for (size_t row = 0; row < obs.size() / policy.seen; ++row) {
        const size_t env = row / policy.in_group;
        add(obs, row, policy.seen);
        for (const Json& word : policy.sees)
            if (word == "global") add(overviews, env, policy.overview);
            else if (word == "own") add(obs, row, policy.seen);
            else
                for (const size_t id : policy.agents)
                    add(obs, env * policy.in_group + id, policy.seen);
    }
    return all;
}

namespace {

// Pairs of numbers that are normalised, as the environment gave them; nothing without a normaliser.
std::vector<double> from_pairs(const std::vector<uint32_t>& pairs, size_t width,
                               const Normaliser& normaliser) {
    std::vector<double> all;
    if (normaliser.mean.empty()) return all;
    const size_t across = (width + 7) / 8 * 4;
    for (size_t row = 0; row < pairs.size() / across; ++row)
        for (size_t k = 0; k < width; ++k) {
            const uint32_t pair = pairs[row * across + k / 2];
            const float normal = std::bit_cast<float>(k % 2 ? pair & 0xffff0000u : pair << 16);
            all.push_back(normaliser.mean[k] + double(normal) / normaliser.scale[k]);
        }
    return all;
}

}

Kept::Kept(Lesson& lesson, const PolicyForm& policy, const Normaliser& normaliser) {
    const auto get = [&](const std::string& name) {
        return lesson.numbers(policy.group + ".kept." + name);
    };
    const auto bytes = [&](const std::string& name) {
        return lesson.array(policy.group + ".kept." + name).host<uint8_t>();
    };
    const auto& shape = lesson.array(policy.group + ".kept.choice").shape();
    steps = size_t(shape[0]);
    rows = size_t(shape[1]);
    parts = size_t(shape[2]);
    width = policy.seen + policy.overseen;
    choices = policy.head.choices();
    const NamedArray& kept = lesson.array(policy.group + ".kept.obs");
    in_pairs = kept.dtype() == Dtype::u32;
    // All steps side by side are like so many environments.
    obs = overseen_rows(
        policy, policy.overview ? lesson.numbers("overview.kept") : std::vector<double>(),
        in_pairs ? from_pairs(kept.host<uint32_t>(), policy.seen, normaliser) : kept.numbers());
    choice = get("choice");
    log_probability = get("log_probability");
    value = get("value");
    final_value = get("final_value");
    reward = get("reward");
    advantage = get("advantage");
    target = get("target");
    flag = bytes("flag");
    if (lesson.env().schema().header().group[policy.group_number].mask_width > 0)
        mask = bytes("mask");
    waits.assign(rows, false);
    const Header& header = lesson.env().schema().header();
    if (header.group[policy.group_number].has_turn) {
        const auto turn =
            numbers(lesson.env(), header.groups > 1 ? policy.group + ".turn" : "turn");
        for (size_t row = 0; row < rows; ++row) waits[row] = (int(turn[row]) & 3) != 0;
    }
    ratio.assign(reward.size(), 1.0);
    if (policy.dials.at("advantage") == "vtrace") ratio = get("ratio");
}
std::vector<uint8_t> Kept::mask_at(size_t at) const {
    if (mask.empty()) return {};
    const auto first = mask.begin() + std::ptrdiff_t(at * choices);
    return {first, first + std::ptrdiff_t(choices)};
}
std::vector<double> Kept::choice_at(size_t at) const {
    const auto first = choice.begin() + std::ptrdiff_t(at * parts);
    return {first, first + std::ptrdiff_t(parts)};
}
std::vector<double> obs_at(const Kept& kept, size_t t, size_t row) {
    const auto first = kept.obs.begin() + std::ptrdiff_t((t * kept.rows + row) * kept.width);
    return {first, first + std::ptrdiff_t(kept.width)};
}

std::vector<double> Scholar::seen(const std::vector<double>& obs) const {
    std::vector<double> normal(form_.seen);
    for (size_t i = 0; i < normal.size(); ++i)
        normal[i] = within((obs[i] - normaliser_.mean[i]) * normaliser_.scale[i], -10, 10);
    return normal;
}
// What a central critic sees, from behind what the policy does.
std::vector<double> Scholar::overseen(const std::vector<double>& obs) const {
    std::vector<double> normal;
    for (size_t i = form_.seen; i < obs.size(); ++i)
        normal.push_back(within((obs[i] - normaliser_.mean[i]) * normaliser_.scale[i], -10, 10));
    return normal;
}
// What a network's first layer behind its convolutions sees.
template <class T>
std::vector<T> Scholar::entered(const T* weights, const std::vector<double>& obs) const {
    const std::vector<double> normal = seen(obs);
    if (form_.encoder.layers.empty()) return {normal.begin(), normal.end()};
    return form_.encoder.seen(form_.activation, weights, obs, normal);
}
template <class T>
void Scholar::think(const std::vector<T>& weights, const std::vector<double>& obs,
                    std::vector<T>& out, T& value) const {
    const size_t encoder = form_.encoder.parameters();
    out = network(form_.actor, form_.activation, weights.data() + encoder,
                  entered(weights.data(), obs), form_.head.first_blind(), form_.head.outputs());
    if (form_.shared) {
        value = out.back();
        return;
    }
    size_t before = encoder;
    for (size_t l = 0; l + 1 < form_.actor.size(); ++l)
        before += (form_.actor[l] + 1) * form_.actor[l + 1];
    if (form_.overseen) {
        const std::vector<double> normal = overseen(obs);
        value = network(form_.critic, form_.activation, weights.data() + before,
                        std::vector<T>(normal.begin(), normal.end()))
                    .front();
        return;
    }
    value = network(form_.critic, form_.activation, weights.data() + before + encoder,
                    entered(weights.data() + before, obs))
                .front();
}
Scholar::Answer Scholar::answer(const std::vector<double>& obs, const std::vector<uint8_t>& mask,
                                const std::vector<double>& choice) const {
    std::vector<double> out;
    double value;
    think(weights_, obs, out, value);
    const Judged<double> now = judged(form_.head, out, mask, choice);
    return {now.log_probability, now.entropy, value};
}
double Scholar::value(const std::vector<double>& obs) const {
    std::vector<double> out;
    double value;
    think(weights_, obs, out, value);
    return value;
}
std::vector<double> Scholar::outputs(const std::vector<double>& obs) const {
    std::vector<double> out;
    double value;
    think(weights_, obs, out, value);
    out.resize(form_.head.outputs());
    return out;
}
Scholar::Study Scholar::study(const std::vector<Sample>& samples) const {
    Tape tape;
    std::vector<Traced> weights;
    for (const double w : weights_) weights.emplace_back(tape, w);
    Study study;
    study.slopes.resize(weights.size());
    double count = 0;
    for (const Sample& sample : samples) {
        if (!sample.acts) continue;
        std::vector<Traced> out;
        Traced value;
        think(weights, sample.obs, out, value);
        const Judged<Traced> now = judged(form_.head, out, sample.mask, sample.choice);
        const Loss<Traced> loss = loss_of(form_.loss(), sample.then, now, value);
        tape.pull(loss.whole.number, weights.size(), study.slopes);
        count += 1;
        study.policy_loss += loss.policy.value;
        study.value_loss += loss.value.value;
        study.entropy += now.entropy.value;
        study.kl += loss.kl;
        study.clipped += loss.clipped;
    }
    for (double& slope : study.slopes) slope /= count;
    for (double* const sum :
         {&study.policy_loss, &study.value_loss, &study.entropy, &study.kl, &study.clipped})
        *sum /= count;
    return study;
}

}
