#include "tests/replay/history.h"

#include <doctest/doctest.h>

#include <cmath>

// What a replay holds and draws, beside plain lists of all steps: before it is full and after it has gone round, where
// episodes end and where they are cut short.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr size_t width = 2, choices = 3;

replay::Settings small(uint32_t n_step, double priority) {
    replay::Settings settings;
    settings.batch = 64;
    settings.n_step = n_step;
    settings.capacity = 7 * 6 + 3;    // seven steps of six rows, and a part of one that is left out
    settings.priority = priority;
    settings.dials[replay::gamma].from = 0.9f;
    settings.dials[replay::exploration].from = 1;
    settings.dials[replay::correction].from = 0.5f;
    return settings;
}

void hold_contents(History& history) {
    const auto obs = history.array("replay.obs"), next_obs = history.array("replay.next_obs"),
               action = history.array("replay.action"), reward = history.array("replay.reward"),
               flag = history.array("replay.flag"), mask = history.array("replay.mask"),
               next_mask = history.array("replay.next_mask");
    for (size_t t = history.oldest(); t < history.steps.size(); ++t) {
        const History::Step& step = history.steps[t];
        for (size_t row = 0; row < history.rows; ++row) {
            const size_t at = t % history.slots() * history.rows + row;
            CAPTURE(t);
            CAPTURE(row);
            CHECK(action[at] == step.action[row]);
            CHECK(reward[at] == step.reward[row]);
            CHECK((int(flag[at]) & 1) == int(step.terminated[row]));
            CHECK((int(flag[at]) >> 1 & 1) == int(step.truncated[row]));
            for (size_t k = 0; k < width; ++k) {
                CHECK(obs[at * width + k] == step.obs[row * width + k]);
                CHECK(next_obs[at * width + k] == step.next_obs[row * width + k]);
            }
            for (size_t k = 0; k < choices; ++k) {
                CHECK(mask[at * choices + k] == step.mask[row * choices + k]);
                CHECK(next_mask[at * choices + k] == step.next_mask[row * choices + k]);
            }
        }
    }
}

// Each sample: what began it, the discounted rewards of its steps, and where the last of them led.
void hold_samples(History& history) {
    const auto place = history.array("batch.place"), reward = history.array("batch.reward"),
               discount = history.array("batch.discount"), obs = history.array("batch.obs"),
               next_obs = history.array("batch.next_obs"), action = history.array("batch.action"),
               mask = history.array("batch.mask"), next_mask = history.array("batch.next_mask");
    for (size_t i = 0; i < place.size(); ++i) {
        const size_t row = size_t(place[i]) % history.rows,
                     first = history.step_in(size_t(place[i]) / history.rows);
        CAPTURE(i);
        REQUIRE(first >= history.oldest());
        REQUIRE(first < history.end());
        double sum = 0, left = 1;
        size_t last = first;
        for (uint32_t k = 0; k < history.settings.n_step; ++k) {
            last = first + k;
            const History::Step& step = history.steps[last];
            sum += left * step.reward[row];
            left *= 0.9;
            if (step.terminated[row]) left = 0;
            if (step.terminated[row] || step.truncated[row]) break;
        }
        CHECK(reward[i] == doctest::Approx(sum).epsilon(1e-6));
        CHECK(discount[i] == doctest::Approx(left).epsilon(1e-6));
        CHECK(action[i] == history.steps[first].action[row]);
        for (size_t k = 0; k < width; ++k) {
            CHECK(obs[i * width + k] == history.steps[first].obs[row * width + k]);
            CHECK(next_obs[i * width + k] == history.steps[last].next_obs[row * width + k]);
        }
        for (size_t k = 0; k < choices; ++k) {
            CHECK(mask[i * choices + k] == history.steps[first].mask[row * choices + k]);
            CHECK(next_mask[i * choices + k] == history.steps[last].next_mask[row * choices + k]);
        }
    }
}

// Priorities as a plain list, by steps.
class Priorities final {
public:
    explicit Priorities(const History& history) : history_(history) {}

    void step_taken() {
        own_.resize(history_.steps.size(), std::vector<double>(history_.rows, 0));
        if (history_.end() > history_.oldest())
            own_[history_.end() - 1].assign(history_.rows, most_);
    }
    void revised(const std::vector<double>& place, const std::vector<double>& priority) {
        for (size_t i = 0; i < place.size(); ++i) of(size_t(place[i])) = priority[i];
    }
    double& of(size_t place) {
        return own_[history_.step_in(place / history_.rows)][place % history_.rows];
    }
    // In the order of the ring.
    std::vector<double> all() {
        std::vector<double> found;
        for (size_t place = 0; place < history_.slots() * history_.rows; ++place) {
            const bool there = place / history_.rows < history_.steps.size();
            found.push_back(there ? of(place) : 0);
        }
        return found;
    }
    double most_ = 1;

private:
    const History& history_;
    std::vector<std::vector<double>> own_;
};

}

TEST_CASE("a replay holds the newest steps, where they led and how they ended") {
    for (const uint32_t n_step : {1u, 3u}) {
        CAPTURE(n_step);
        History history(small(n_step, 0), 6);
        for (int t = 0; t < 25; ++t) {
            history.take_step();
            if (t == 3 || t > 20) hold_contents(history);
            history.draw();
            if (history.end() > history.oldest()) hold_samples(history);
        }
    }
}

TEST_CASE("all steps that may be drawn are as likely as another") {
    History history(small(3, 0), 6);
    for (int t = 0; t < 11; ++t) history.take_step();
    std::vector<double> drawn(history.slots() * history.rows);
    constexpr int draws = 200;
    for (uint32_t update = 0; update < draws; ++update) {
        history.draw(update);
        for (const double place : history.array("batch.place")) ++drawn[size_t(place)];
    }
    const size_t open = (history.end() - history.oldest()) * history.rows;
    const double expected = double(draws) * history.settings.batch / double(open);
    double squares = 0;
    for (size_t place = 0; place < drawn.size(); ++place) {
        const size_t step = history.step_in(place / history.rows);
        if (step >= history.end()) CHECK(drawn[place] == 0);
        else squares += std::pow(drawn[place] - expected, 2) / expected;
    }
    // Chi-square with so many degrees of freedom: six deviations.
    const double freedom = double(open - 1);
    CHECK(std::abs(squares - freedom) < 6 * std::sqrt(2 * freedom));
}

TEST_CASE("priorities, their sums and what is drawn by them are those of a plain list") {
    for (const auto& one : {std::pair(1u, 6u), std::pair(3u, 6u), std::pair(2u, 45u)}) {
        const uint32_t n_step = one.first, rows = one.second;
        CAPTURE(n_step);
        CAPTURE(rows);
        replay::Settings settings = small(n_step, 0.6);
        settings.capacity = 7 * rows;
        History history(settings, rows);
        Priorities plain(history);
        for (uint32_t t = 0; t < 25; ++t) {
            history.take_step();
            plain.step_taken();
            CHECK(history.array("replay.priority") == plain.all());
            if (history.end() == history.oldest()) continue;
            history.draw(t);
            hold_samples(history);
            const std::vector<double> all = plain.all(), place = history.array("batch.place"),
                                      weight = history.array("batch.weight");
            double whole = 0;
            for (const double priority : all) whole += priority;
            const double open = double((history.end() - history.oldest()) * rows);
            const auto before = [&](size_t end) {
                double sum = 0;
                for (size_t i = 0; i < end; ++i) sum += all[i];
                return sum;
            };
            for (size_t i = 0; i < place.size(); ++i) {
                const auto at = size_t(place[i]);
                const double share = whole / double(place.size()), slack = 1e-9 * whole;
                CAPTURE(i);
                CHECK(all[at] > 0);
                CHECK(before(at) <= double(i + 1) * share + slack);
                CHECK(before(at + 1) >= double(i) * share - slack);
                CHECK(weight[i] ==
                      doctest::Approx(std::pow(all[at] / whole * open, -0.5)).epsilon(1e-5));
            }
            // Samples of one step say different things: the last one counts.
            std::vector<double> told;
            for (size_t i = 0; i < place.size(); ++i)
                told.push_back(0.25 + double((i * 7 + t) % 16) / 8);
            history.write("batch.priority", told);
            history.revise();
            plain.revised(place, told);
            CHECK(history.array("replay.priority") == plain.all());
            double sum = 0;
            for (const double priority : plain.all()) sum += priority;
            const std::vector<double> top = history.array("replay.sums2");
            CHECK(top.size() == 1);
            CHECK(top[0] == doctest::Approx(sum).epsilon(1e-12));
        }
    }
}

TEST_CASE("a replay that does not fit is refused with the largest that does") {
    replay::Settings settings = small(1, 0);
    settings.capacity = uint64_t(1) << 40;
    CHECK_THROWS_WITH(History(settings, 6),
                      "capacity: a replay of 1099511627772 steps of 31 bytes, 34.1 TB, does "
                      "not fit: 1.07 GB are free; the largest that fits is 32472030");
}
