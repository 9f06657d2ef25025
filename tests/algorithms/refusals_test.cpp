#include "tests/algorithms/lesson.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string refused(const std::string& env, const std::string& learner, const Json& config) {
    static const auto on = cpu();
    return objection(on, env_of(env, 16), learner, config);
}

struct Wrong {
    Json config;
    const char* words;    // after the learner's name; all of them, or up to "..."
};
void hold(const std::string& env, const std::string& learner, const std::vector<Wrong>& table) {
    for (const Wrong& wrong : table) {
        const std::string words = refused(env, learner, wrong.config);
        std::string must = learner + ": " + wrong.words;
        CAPTURE(wrong.config.dump());
        if (!must.ends_with("...")) {
            CHECK(words == must);
            continue;
        }
        must.resize(must.size() - 3);
        CHECK_MESSAGE(words.starts_with(must), words);
    }
}
Json of(const std::string& policy, const Json& settings) {
    return {{"policies", {{policy, settings}}}};
}
Json all(const Json& settings) { return of("default", settings); }
Json as_gpu(const Json& settings) {
    Json config = all(settings);
    config["emulate"] = true;
    return config;
}

}

TEST_CASE("a critic that sees what there is not, or no more than its policy, is refused") {
    const auto critic = [](const Json& its) { return all({{"critic", its}}); };
    hold(
        "choices", "ppo",
        {{critic({{"sees", {"global"}}}),
          "policies.default.critic.sees: Choices has no struct Global with overview(), so there is "
          "no \"global\" to be seen"}});
    hold("overseen", "a2c",
         {{critic("all"), "policies.default.critic: expected false or an object such as {\"sees\": "
                          "[\"global\", \"own\"], \"hidden\": [64, 64]}"},
          {critic(Json::object()),
           "policies.default.critic.sees: expected a list of what values are found by: \"global\", "
           "\"team\", \"own\""},
          {critic({{"sees", {"globe"}}}),
           "policies.default.critic.sees: there is no '\"globe\"' (there is: global, team, own)"},
          {critic({{"sees", {"team", "team"}}}),
           "policies.default.critic.sees: \"team\" stands there twice"},
          {critic({{"sees", {"own"}}}),
           "policies.default.critic.sees: \"own\" is what the policy sees itself; without "
           "\"global\" or \"team\" there is \"trunk\": \"separate\""},
          {critic({{"sees", {"global"}}, {"hidden", {{{"gru", 8}}}}}),
           "policies.default.critic.hidden: a critic that sees more has plain layers alone, each a "
           "number of neurons; the policy's may remember"},
          {critic({{"sees", {"global"}}, {"layers", 3}}),
           "policies.default.critic.layers: there is no such setting..."},
          {critic({{"sees", {"global"}}, {"execution", "streamed"}}),
           "policies.default.critic.execution: is a choice of kernels for GPUs; a CPU has one way"},
          {all({{"critic", {{"sees", {"global"}}}}, {"trunk", "shared"}}),
           "policies.default.trunk: \"shared\" has values see what the policy sees; with a "
           "\"critic\" it is \"separate\""}});
    CHECK(refused("overseen", "ppo",
                  {{"policies", {{"default", {{"critic", {{"sees", {"global"}}}}}}}},
                   {"minibatches", 1}})
              .empty());
    CHECK(refused("choices", "ppo", critic(false)).empty());
    // Five policies of an agent each, and a critic for each.
    Json tag = env_of("tag_gridworld", 4);
    tag["policies"] = {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}, {"e", 4}};
    CHECK(objection(cpu(), tag, "ppo", critic({{"sees", {"team"}}})) ==
          "ppo: policies.d.critic: there may be 8 networks of policies and critics together");
    Json three = critic({{"sees", {"team"}}});
    for (const char* const without : {"d", "e"}) three["policies"][without] = {{"critic", false}};
    CHECK(objection(cpu(), tag, "ppo", three).empty());
}

TEST_CASE("a wrong number says where it stands and what there is instead") {
    hold("choices", "ppo",
         {{{{"horizon", 0}}, "horizon: expected a number from 1 to 1048576"},
          {{{"horizon", 2.5}}, "horizon: expected a whole number"},
          {{{"horizon", "long"}}, "horizon: expected a number"},
          {{{"minibatches", 5000}}, "minibatches: expected a number from 1 to 4096"},
          {{{"horizon", 8}, {"minibatches", 4096}},
           "minibatches: 128 samples of policy 'default' an iteration; expected 4096 (one for each "
           "minibatch) to 2147483647"},
          {{{"horizon", 8}, {"sequence", 4}},
           "sequence: no policy has a layer that remembers; this would change nothing"},
          {{{"horizon", 8}, {"sequence", 3}},
           "sequence: expected steps that the horizon of 8 is a multiple of"},
          {{{"horizon", 8}, {"sequence", 9}}, "sequence: expected a number from 1 to 8"},
          {{{"gamma", 1.5}}, "gamma: expected a number from 0 to 1"},
          {{{"gamma", "high"}},
           "gamma: expected a number, or a schedule like {\"linear\": [0.001, 0]}"},
          {{{"normalise_returns", "yes"}}, "normalise_returns: expected true or false"},
          {{{"normalise_advantages", true}}, "normalise_advantages: expected a text"},
          {{{"normalise_advantages", "all"}},
           "normalise_advantages: there is no 'all' (there is: none, batch, minibatch)"},
          {{{"advantage", "td"}}, "advantage: there is no 'td' (there is: gae, vtrace)"}});
}
TEST_CASE("a policy that does not learn is told what it would ignore") {
    hold(
        "choices", "ppo",
        {{all({{"train", "random"}, {"hidden", {8}}}),
          "policies.default.hidden: a policy that acts at random has nothing to set but \"train\""},
         {all({{"train", "random"}}),
          "policies: no policy is to be trained; one needs \"train\": true"},
         {all({{"train", false}}),
          "policies: no policy is to be trained; one needs \"train\": true"}});
}
TEST_CASE("a wrong schedule does, too") {
    hold(
        "choices", "ppo",
        {{{{"learning_rate", {{"lineal", {1, 0}}}}},
          "learning_rate: there is no schedule 'lineal' (there is: linear, cosine, exponential)"},
         {{{"learning_rate", {{"constant", {0.1, 0.2}}}}},
          "learning_rate: there is no schedule 'constant' (there is: linear, cosine, exponential)"},
         {{{"learning_rate", {{"linear", {1, 0}}, {"cosine", {1, 0}}}}},
          "learning_rate: a schedule has one key: linear, cosine, exponential"},
         {{{"learning_rate", {{"linear", 0.1}}}},
          "learning_rate.linear: expected two numbers: at the run's begin and at its end"},
         {{{"learning_rate", {{"linear", {100, 0}}}}},
          "learning_rate.linear: expected a number from 0 to 10"},
         {{{"learning_rate", {{"exponential", {0.1, 0}}}}},
          "learning_rate: an exponential schedule goes between numbers above zero"}});
}
TEST_CASE("what an algorithm or a configuration would ignore is refused with what there is") {
    hold("choices", "ppo",
         {{{{"horizonn", 3}}, "horizonn: there is no such setting (did you mean 'horizon'?)"},
          {{{"ratio_bound", 2}}, "ratio_bound: there is no such setting (there is: ..."},
          {{{"reward_scale", 2}}, "reward_scale: there is no such setting (there is: ..."}});
    hold("choices", "a2c",
         {{{{"clip", 0.2}}, "clip: there is no such setting (there is: ..."},
          {{{"epochs", 2}}, "epochs: there is no such setting (there is: ..."}});
}
TEST_CASE("a wrong policy is refused by its path") {
    hold(
        "choices", "ppo",
        {{{{"policies", 3}}, "policies: expected an object"},
         {of("runner", Json::object()),
          "policies.runner: Choices has no such policy (there is: default)"},
         {all({{"hiden", {3}}}),
          "policies.default.hiden: there is no such setting (did you mean 'hidden'?)"},
         {all({{"hidden", {0}}}), "policies.default.hidden: a layer has 1 to 8192 neurons, not 0"},
         {all({{"hidden", {8, 8193}}}),
          "policies.default.hidden: a layer has 1 to 8192 neurons, not 8193"},
         {all({{"hidden", 64}}),
          "policies.default.hidden: expected a list of layers, such as [64, 64] or [64, "
          "{\"mingru\": 64}]"},
         {all({{"hidden", {"gru"}}}),
          "policies.default.hidden[0]: expected a layer (there is: a number of neurons, "
          "{\"mingru\": neurons}, {\"gru\": neurons}, {\"conv\": channels, \"size\": 3}, "
          "{\"one_hot\": codes})"},
         {all({{"hidden", {8, {{"lstm", 8}}}}}),
          "policies.default.hidden[1]: there is no layer 'lstm' (there is: a number of neurons, "
          "{\"mingru\": neurons}, {\"gru\": neurons}, {\"conv\": channels, \"size\": 3}, "
          "{\"one_hot\": codes})"},
         {all({{"hidden", {{{"gru", 0}}}}}),
          "policies.default.hidden: a layer has 1 to 8192 neurons, not 0"},
         {all({{"hidden", std::vector<Json>(16, Json{{"gru", 8192}})}}),
          "policies.default.hidden: its networks have at most 2147483647 parameters, not 6..."},
         {all({{"hidden", {{{"gru", "wide"}}}}}),
          "policies.default.hidden: expected a number of neurons"},
         {all({{"hidden", {{{"gru", 8}, {"size", 3}}}}}),
          "policies.default.hidden[0]: a layer that remembers has one setting, its neurons: "
          "{\"gru\": 64}"},
         {all({{"hidden", std::vector<int>(17, 1)}}),
          "policies.default.hidden: at most 16 hidden layers"},
         {all({{"activation", "sigmoid"}}),
          "policies.default.activation: there is no 'sigmoid' (there is: tanh, relu, gelu, silu)"},
         {all({{"trunk", "split"}}),
          "policies.default.trunk: there is no 'split' (there is: shared, separate)"},
         {all({{"train", "never"}}), "policies.default.train: expected true, false or \"random\""},
         {all({{"precision", "f16"}}),
          "policies.default.precision: there is no 'f16' (there is: auto, f32, bf16)"},
         {all({{"precision", "bf16"}}),
          "policies.default.precision: a CPU computes in f32; bf16 needs a GPU"},
         {all({{"execution", "staged"}}),
          "policies.default.execution: there is no 'staged' (there is: auto, fused, row_pass, "
          "streamed)"},
         {all({{"execution", "streamed"}}),
          "policies.default.execution: is a choice of kernels for GPUs; a CPU has one way"},
         {as_gpu({{"execution", "fused"}, {"hidden", {128, 128}}}),
          "policies.default.execution: these networks cannot be computed by one kernel in f32: an "
          "update needs this many bytes of a processor's shared memory: ..."},
         {as_gpu({{"execution", "row_pass"}, {"hidden", {64, 257}}}),
          "policies.default.execution: one kernel cannot take rows through these layers in f32: it "
          "has hidden layers, of at most 256 neurons behind ..."},
         {as_gpu({{"execution", "row_pass"}, {"hidden", {{{"gru", 4}}}}}),
          "policies.default.execution: one kernel cannot take rows through these layers in f32: a "
          "layer that remembers is none of its layers; \"streamed\" can"},
         {all({{"gains", {{"hiden", 1}}}}),
          "policies.default.gains.hiden: there is no such setting (did you mean 'hidden'?)"}});
    hold("relay", "ppo",
         {{of("runer", Json::object()),
           "policies.runer: Relay has no such policy (there is: default, keeper, runner)"},
          {of("keeper", {{"learner", {{"horizon", 4}}}}),
           "policies.keeper.learner.horizon: there is no such setting (there is: learning_rate, "
           "..."}});
}
TEST_CASE("a wrong convolution is refused by its place in the list") {
    const auto of_layers = [](const Json& layers) { return all({{"hidden", layers}}); };
    const Json good = {{"conv", 4}, {"size", 3}}, codes = {{"one_hot", 4}};
    const auto but = [&](const char* key, const Json& value) {
        Json layer = good;
        layer[key] = value;
        return of_layers(Json::array({layer}));
    };
    const char* const no_size =
        "policies.default.hidden[0].size: expected a whole number from 1 to 64, or two: [rows, "
        "columns]";
    hold("screen", "ppo",
         {{of_layers({{{"conv", 4}}}),
           "policies.default.hidden[0].size: is missing: {\"conv\": 16, \"size\": 3}, or \"size\": "
           "[rows, columns]"},
          {but("conv", 0), "policies.default.hidden[0].conv: expected a number from 1 to 512"},
          {but("size", 0), no_size},
          {but("size", {3}), no_size},
          {but("size", {3, 2.5}), no_size},
          {but("stride", 0), "policies.default.hidden[0].stride: expected a number from 1 to 64"},
          {but("padding", 3), "policies.default.hidden[0].padding: expected a number from 0 to 2"},
          {but("strid", 2),
           "policies.default.hidden[0].strid: there is no such setting (did you mean 'stride'?)"},
          {of_layers({8, good}),
           "policies.default.hidden[1]: convolutions come before all other layers"},
          {of_layers({good, codes}),
           "policies.default.hidden[1]: \"one_hot\" comes before all other layers"},
          {of_layers({{{"one_hot", 257}}, good}),
           "policies.default.hidden[0].one_hot: expected a number from 1 to 256"},
          {of_layers({codes, 8}),
           "policies.default.hidden: \"one_hot\" makes channels for a convolution; none follows"},
          {of_layers({8, "wide"}), "policies.default.hidden[1]: expected a layer (there is: ..."},
          {of_layers({{{"gru", 8}}, good}),
           "policies.default.hidden[1]: convolutions come before all other layers"},
          {of_layers(std::vector<Json>(9, {{"conv", 4}, {"size", 1}})),
           "policies.default.hidden: at most 8 convolutions"},
          {but("size", 7), "policies.default.hidden: convolution 1 has a kernel of 7 x 7, larger "
                           "than its image of 6 x 5 with padding"},
          {of_layers({good, {{"conv", 4}, {"size", {1, 6}}, {"padding", 0}}}),
           "policies.default.hidden: convolution 2 has a kernel of 1 x 6, larger than its image of "
           "4 x 3 with padding"},
          {as_gpu({{"hidden", {good}}, {"execution", "fused"}}),
           "policies.default.execution: a fused kernel has no convolutions; \"streamed\" has"},
          {as_gpu({{"hidden", {good}}, {"execution", "row_pass"}}),
           "policies.default.execution: a row pass has no convolutions; \"streamed\" has"},
          {as_gpu({{"hidden", {{{"one_hot", 256}}, {{"conv", 512}, {"size", 1}}}}}),
           "policies.default.hidden: convolution 1 in f32 needs 238080 bytes of a processor's "
           "shared memory for one sample, of 232448 that there are"}});
    hold("choices", "ppo",
         {{of_layers(Json::array({good})),
           "policies.default.hidden: a convolution needs an image, a "
           "nacelle::Array of two or three dimensions in Obs; Choices shows "
           "none"}});
    hold(
        "album", "ppo",
        {{of_layers(Json::array({good})),
          "policies.default.hidden: the image 'obs.small' has 3 x 4 pixels, another one has 4 x 4; "
          "a convolution takes images of one size, side by side as channels"},
         {of_layers({codes, good}), "policies.default.hidden: \"one_hot\" takes whole numbers; the "
                                    "image 'obs.large' has floats"}});
    hold("film", "ppo",
         {{of_layers(Json::array({good})),
           "policies.default.hidden: the image 'obs.frames' has 4 dimensions; a convolution takes "
           "[rows][columns] or [rows][columns][channels]"}});
}
TEST_CASE("pools of past policies are refused where there is nobody to play, in a sentence each") {
    const Json pool = all({{"opponents", {{"pool", 4}}}});
    const auto with = [](const Json& opponents) { return all({{"opponents", opponents}}); };
    hold(
        "duel", "ppo",
        {{with(7), "policies.default.opponents: expected {\"pool\": 32, \"every\": 20, "
                   "\"sample\": \"hard\"} or false"},
         {with({{"pool", 1}}), "policies.default.opponents.pool: expected a number from 2 to 4096"},
         {with({{"pool", 5000}}),
          "policies.default.opponents.pool: expected a number from 2 to 4096"},
         {with({{"every", 0}}), "policies.default.opponents.every: expected a number from 1 to..."},
         {with({{"sample", "best"}}), "policies.default.opponents.sample: there is no 'best' "
                                      "(there is: latest, uniform, hard)"},
         {with({{"size", 3}}), "policies.default.opponents.size: there is no such setting..."},
         {all({{"opponents", {{"pool", 4096}}}, {"hidden", {8192, 8192}}}),
          "policies.agent.opponents.pool: a pool of 4096 takes 1100719751168 bytes, and this..."}});
    Json stepwise = as_gpu({{"opponents", {{"pool", 4}}}});
    stepwise["rollout"] = "stepwise";
    hold("duel", "ppo",
         {{stepwise, "policies.agent.opponents: a GPU plays the past where all steps of a rollout "
                     "are one launch..."}});
    hold("choices", "ppo",
         {{pool, "policies.default.opponents: Choices is for one agent, who has nobody to play "
                 "against (a pool is for two agents of one policy, or for two policies)"}});
    hold("crowd", "ppo",
         {{pool, "policies.agent.opponents: Crowd has 3 agents of one policy, and does not say who "
                 "plays against whom (a pool is for two agents of one policy, or for two "
                 "policies)"}});
    Json fixed = pool, one = of("runner", {{"opponents", {{"pool", 4}}}});
    fixed["policies"]["keeper"]["train"] = false;
    hold(
        "relay", "ppo",
        {{fixed, "policies.runner.opponents: 'keeper' is not trained, and has no past to play "
                 "against (\"opponents\": false for both does without a pool)"},
         {one, "policies.keeper.opponents: 'runner' has a pool and needs one to play against; give "
               "one to all in policies.default"},
         {pool, "policies.runner.opponents: the two of Relay learn in different environments; "
                "expected an env.count of 128 or more"}});
    hold("choices", "random_search", {{pool, "policies: there is no such setting..."}});
}
TEST_CASE("deviations are for policies with continuous actions") {
    hold("choices", "ppo",
         {{all({{"deviation", "state"}}),
           "policies.default.deviation: Choices has no continuous actions; this would change "
           "nothing"},
          {all({{"squash", true}}),
           "policies.default.squash: Choices has no continuous actions; this would change nothing"},
          {all({{"noise_steps", 8}}),
           "policies.default.noise_steps: Choices has no continuous actions; this would change "
           "nothing"},
          {all({{"initial_deviation", 0.5}}),
           "policies.default.initial_deviation: Choices has no continuous actions; this would "
           "change nothing"}});
    hold("mixed", "ppo",
         {{all({{"deviation", "fixed"}}),
           "policies.default.deviation: there is no 'fixed' (there is: free, state)"},
          {all({{"initial_deviation", 0}}),
           "policies.default.initial_deviation: expected a number from 1e-04 to 7"}});
    hold("trades", "ppo",
         {{of("maker", {{"squash", true}}),
           "policies.maker.squash: 'maker' has no continuous actions; this would change nothing"}});
    // For all, it is for those that have some: what is wrong then is something else.
    Json fine = all({{"squash", true}});
    fine["nonsense"] = 1;
    hold("trades", "ppo", {{fine, "nonsense: there is no such setting..."}});
}
