#pragma once
#include "tests/algorithms/iteration.h"
#include "tests/algorithms/rememberer.h"

// What networks that remember choose by and learn from, step after step of every sequence.
namespace nacelle::test {

// What a rollout kept of what its rows remembered.
struct Memories {
    std::vector<double> begun, remembered;
    std::vector<uint8_t> forgot;
    size_t sequence;

    Memories(Lesson& lesson, const PolicyForm& policy)
        : begun(lesson.numbers(policy.name + ".policy.begun")),
          remembered(lesson.numbers(policy.name + ".policy.remembered")),
          forgot(lesson.array(policy.name + ".policy.forgot").host<uint8_t>()),
          sequence(policy.dials.at("sequence").get<size_t>()) {}
};

class Examination final {
public:
    Examination(Lesson& lesson, const PolicyForm& policy, const Normaliser& normaliser,
                std::vector<double> weights)
        : policy_(policy),
          network_(policy, normaliser),
          kept_(lesson, policy),
          memories_(lesson, policy),
          weights_(std::move(weights)),
          final_obs_(rows_seen(lesson, policy, "final_obs")),
          over_(numbers(lesson.env(), "terminated")) {
        const std::vector<double> cut = numbers(lesson.env(), "truncated");
        for (size_t env = 0; env < cut.size(); ++env) over_[env] += cut[env];
    }

    // What was found step after step, when the memory of a row goes on from where the rollout began.
    void hold_rollout(double most_error) {
        const size_t width = network_.memory();
        each_row(policy_, kept_, [&](size_t row) {
            std::vector<double> h = part(memories_.begun, row, width);
            for (size_t t = 0; t < kept_.steps; ++t) {
                const size_t at = t * kept_.rows + row;
                if (t > 0) forgets_ += memories_.forgot[at];
                if (memories_.forgot[at]) h.assign(width, 0.0);
                if (t % memories_.sequence == 0)
                    compare(part(memories_.begun, t / memories_.sequence * kept_.rows + row, width),
                            h);
                std::vector<double> out = network_.step(weights_, obs_at(kept_, t, row), h);
                hold_end(row, t, h);
                if (!kept_.acted_at(t, row)) continue;
                is_.push_back(kept_.value[at]);
                must_.push_back(out.back());
                out.pop_back();
                is_.push_back(kept_.log_probability[at]);
                must_.push_back(judged(policy_.head, out, kept_.mask_at(at), kept_.choice_at(at))
                                    .log_probability);
            }
            compare(part(memories_.remembered, row, width), h);
            if (over_[row / policy_.in_group]) h.assign(width, 0.0);
            is_.push_back(kept_.value[kept_.steps * kept_.rows + row]);
            must_.push_back(network_.step(weights_, obs_at(kept_, kept_.steps, row), h).back());
        });
        CHECK(forgets_ > 3);
        CHECK(cuts_ > 0);
        CHECK(relative_error(is_, must_) < most_error);
    }
    // The slopes of the mean loss along all weights; nothing goes back before a sequence's first step.
    std::vector<double> slopes() const {
        Tape tape;
        std::vector<Traced> weights;
        for (const double w : weights_) weights.emplace_back(tape, w);
        std::vector<double> slopes(weights.size());
        const Spread all = spread();
        const double count = all.count, mean = all.mean, deviation = all.deviation;
        each_row(policy_, kept_, [&](size_t row) {
            for (size_t first = 0; first < kept_.steps; first += memories_.sequence) {
                std::vector<Traced> h;
                for (const double x :
                     part(memories_.begun, first / memories_.sequence * kept_.rows + row,
                          network_.memory()))
                    h.emplace_back(x);
                Traced whole(tape, 0.0);
                for (size_t t = first; t < first + memories_.sequence; ++t) {
                    const size_t at = t * kept_.rows + row;
                    if (memories_.forgot[at]) h.assign(h.size(), Traced(0.0));
                    std::vector<Traced> out = network_.step(weights, obs_at(kept_, t, row), h);
                    const Traced value = out.back();
                    out.pop_back();
                    if (!Kept::counts(kept_.flag[at])) continue;
                    const Seen then{kept_.log_probability[at], kept_.value[at],
                                    (kept_.advantage[at] - mean) / deviation, kept_.target[at]};
                    const auto now =
                        judged(policy_.head, out, kept_.mask_at(at), kept_.choice_at(at));
                    whole = whole + loss_of(policy_.loss(), then, now, value).whole;
                }
                tape.pull(whole.number, weights.size(), slopes);
            }
        });
        for (double& slope : slopes) slope /= count;
        return slopes;
    }
    const Kept& kept() const { return kept_; }

private:
    static std::vector<double> part(const std::vector<double>& all, size_t row, size_t width) {
        const auto first = all.begin() + std::ptrdiff_t(row * width);
        return {first, first + std::ptrdiff_t(width)};
    }
    void compare(const std::vector<double>& is, const std::vector<double>& must) {
        is_.insert(is_.end(), is.begin(), is.end());
        must_.insert(must_.end(), must.begin(), must.end());
    }
    // An environment's last end stays in its final_obs: it is valued with what was remembered until then.
    void hold_end(size_t row, size_t t, std::vector<double> h) {
        if (!Kept::cut(kept_.flag[t * kept_.rows + row])) return;
        for (size_t later = t + 1; later < kept_.steps; ++later)
            if (Kept::ends(kept_.flag[later * kept_.rows + row])) return;
        ++cuts_;
        is_.push_back(kept_.final_value[t * kept_.rows + row]);
        must_.push_back(network_.step(weights_, part(final_obs_, row, kept_.width), h).back());
    }
    struct Spread {
        double count = 0, mean = 0, deviation = 0;
    };
    Spread spread() const {
        Spread s;
        double squares = 0;
        for (size_t at = 0; at < kept_.flag.size(); ++at) {
            if (!is_own(at) || !Kept::counts(kept_.flag[at])) continue;
            s.count += 1;
            s.mean += kept_.advantage[at];
        }
        s.mean /= s.count;
        for (size_t at = 0; at < kept_.flag.size(); ++at)
            if (is_own(at) && Kept::counts(kept_.flag[at]))
                squares += std::pow(kept_.advantage[at] - s.mean, 2) / s.count;
        s.deviation = std::sqrt(squares) + 1e-8;
        return s;
    }
    bool is_own(size_t at) const {
        const size_t id = at % kept_.rows % policy_.in_group;
        return std::find(policy_.agents.begin(), policy_.agents.end(), id) != policy_.agents.end();
    }

    const PolicyForm& policy_;
    Rememberer network_;
    Kept kept_;
    Memories memories_;
    std::vector<double> weights_, final_obs_, is_, must_;
    std::vector<double> over_;    // of an environment: whether an episode is about to begin
    size_t forgets_ = 0, cuts_ = 0;
};

}
