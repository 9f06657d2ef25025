#include "tests/replay/updating.h"

// Updates of DQN beside the formulas of its papers, written once more in doubles: weights, what Adam keeps of them, those
// that follow, and priorities.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr size_t ways = 3;

template <class T> T mean_of(const std::vector<T>& all) {
    T sum = 0.0;
    for (const T& one : all) sum = sum + one;
    return sum / T(double(all.size()));
}

struct DqnCase {
    bool doubled = true, duelling = false;
    size_t atoms = 1;
    double priority = 0;
    int n_step = 3;
    std::vector<size_t> hidden = {neurons};
    size_t batch = samples;
    int updates = 3;
};
class DqnReference final {
public:
    explicit DqnReference(const DqnCase& of) : of_(of), net_{of.hidden} {
        net_.widths.insert(net_.widths.begin(), seen_width);
        net_.widths.push_back(of.atoms * (ways + (of.duelling ? 1 : 0)));
    }

    // [ways][atoms]
    template <class T> std::vector<std::vector<T>> scores(const T* w, std::vector<T> row) const {
        const std::vector<T> out = net_(w, std::move(row));
        std::vector<std::vector<T>> all(ways);
        for (size_t a = 0; a < of_.atoms; ++a) {
            std::vector<T> own;
            for (size_t c = 0; c < ways; ++c) own.push_back(out[c * of_.atoms + a]);
            for (size_t c = 0; c < ways; ++c)
                all[c].push_back(of_.duelling ? own[c] + out[ways * of_.atoms + a] - mean_of(own)
                                              : own[c]);
        }
        return all;
    }
    double value(const Numbers& scores) const {
        if (of_.atoms == 1) return scores[0];
        const Numbers chance = softmax(scores);
        double sum = 0;
        for (size_t a = 0; a < of_.atoms; ++a) sum += chance[a] * atom(a);
        return sum;
    }
    double atom(size_t a) const { return -4 + 8 * double(a) / double(of_.atoms - 1); }
    size_t best(const Numbers& by, const Numbers& row, const Numbers& open) const {
        const auto all = scores(by.data(), row);
        size_t best = ways;
        for (size_t c = 0; c < ways; ++c)
            if (open[c] > 0 && (best == ways || value(all[c]) > value(all[best]))) best = c;
        return best;
    }
    // Shares each moved value between its two neighbours (Bellemare and others, 2017, algorithm 1).
    Numbers projected(const Numbers& chance, double reward, double discount) const {
        Numbers to(of_.atoms);
        for (size_t a = 0; a < of_.atoms; ++a) {
            const double moved = std::clamp(reward + discount * atom(a), -4.0, 4.0),
                         place = (moved + 4) / 8 * double(of_.atoms - 1), low = std::floor(place);
            to[size_t(low)] += chance[a] * (1 - (place - low));
            if (place > low) to[size_t(low) + 1] += chance[a] * (place - low);
        }
        return to;
    }

private:
    DqnCase of_;
    Layered net_;
};

void hold_dqn(const DqnCase& of, By by) {
    Json settings = {{"double", of.doubled},
                     {"duelling", of.duelling},
                     {"atoms", of.atoms},
                     {"priority", of.priority},
                     {"n_step", of.n_step},
                     {"batch", of.batch},
                     {"policies", {{"default", {{"hidden", of.hidden}}}}}};
    if (of.atoms > 1) settings.update({{"least_value", -4}, {"most_value", 4}});
    Updating at(name_of("dqn", by), "steps.cu", with(by, settings));
    const DqnReference reference(of);
    bool terminated = false, lasted = false, closed = false;
    for (int update = 0; update < of.updates; ++update) {
        const Updating::Weights before = at.weights("policy");
        at.update();
        const auto seen = at.seen("obs"), next = at.seen("next_obs"),
                   open = at.rows("next_mask", ways);
        const Numbers action = at.numbers("batch.action"), reward = at.numbers("batch.reward"),
                      discount = at.numbers("batch.discount");
        Numbers weight(of.batch, 1), off(of.batch);
        if (of.priority > 0) weight = at.numbers("batch.weight");
        const double most = *std::max_element(weight.begin(), weight.end());
        const Numbers slopes =
            mean_slopes(before.now, before.now.size(), of.batch, [&](size_t i, const Traces& w) {
                terminated |= discount[i] == 0;
                lasted |= discount[i] > 0;
                closed |= open[i][1] == 0;
                const size_t best =
                    reference.best(of.doubled ? before.now : before.following, next[i], open[i]);
                const Numbers follows = reference.scores(before.following.data(), next[i])[best];
                const Traces taken = reference.scores(
                    w.data(), Traces(seen[i].begin(), seen[i].end()))[size_t(action[i])];
                Traced loss = 0.0;
                if (of.atoms > 1) {
                    const Numbers aim = reference.projected(softmax(follows),
                                                            reward_scale * reward[i], discount[i]);
                    const Traces chance = softmax(taken);
                    for (size_t a = 0; a < of.atoms; ++a) loss = loss - aim[a] * log(chance[a]);
                    off[i] = loss.value;
                } else {
                    const Traced far =
                        taken[0] - (reward_scale * reward[i] + discount[i] * follows[0]);
                    off[i] = std::abs(far.value);
                    loss = off[i] < 1      ? 0.5 * far * far
                           : far.value > 0 ? far - 0.5
                                           : 0.0 - far - 0.5;
                }
                return loss * (weight[i] / most);
            });
        hold(at.weights("policy"), before, slopes, true);
        if (of.priority == 0) continue;
        for (double& one : off) one = std::pow(one + 1e-6, of.priority);
        CHECK(farthest(at.numbers("batch.priority"), off) <= 1e-4);
    }
    CHECK(terminated);
    CHECK(lasted);
    CHECK(closed);
}

}

const DqnCase values[] = {
    DqnCase{}, {.doubled = false, .n_step = 1}, {.duelling = true, .priority = 0.6}};
// Several blocks of a GPU's products, the last ones in part: of rows, of neurons and of what they see.
const DqnCase wide = {.duelling = true, .hidden = {136, 40}, .batch = 132, .updates = 1};

TEST_CASE("an update of DQN is that of its papers") {
    for (const By by : {By::kernels, By::emulated})
        for (const DqnCase& of : values) {
            CAPTURE(int(by));
            CAPTURE(of.duelling);
            CAPTURE(of.priority);
            hold_dqn(of, by);
        }
}
TEST_CASE("an update of wide layers is that of doubles, up to what rounding does to Adam") {
    for (const By by : {By::kernels, By::emulated}) hold_dqn(wide, by);
}
TEST_CASE("an update of DQN on LibTorch is that of its papers, of distributions, too") {
    if (!is_there(By::libtorch)) NACELLE_SKIP(no_libtorch);
    for (const DqnCase& of : values) hold_dqn(of, By::libtorch);
    for (const DqnCase& of :
         {DqnCase{.atoms = 11, .priority = 0.6}, {.duelling = true, .atoms = 11}}) {
        CAPTURE(of.duelling);
        hold_dqn(of, By::libtorch);
    }
}
