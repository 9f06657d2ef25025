#include "algorithms/policy_gradient/plan/kernels.h"

#include "algorithms/policy_gradient/plan/headers.h"
#include "algorithms/policy_gradient/settings/encoder.h"

#include <stdexcept>

namespace learn {
namespace {

std::string spec_of(size_t number, const PolicySettings& policy, const PolicyPlan& plan,
                    bool clips) {
    static const char* const kinds[] = {"trained", "fixed", "random"};
    static const char* const pasts[] = {"none", "sides", "roles"};
    std::string hidden, cells;
    for (size_t l = 0; l < policy.hidden.size(); ++l) {
        hidden += (l ? ", " : "") + std::to_string(policy.hidden[l]);
        cells += (l ? ", " : "") + std::to_string(int(policy.cells[l]));
    }
    // Of a network that is none of layers kernels need to know whether rows remember.
    if (policy.own.there()) {
        hidden = policy.remembers() ? "1" : "";
        cells = policy.remembers() ? std::to_string(int(Cell::gru)) : "";
    }
    const CriticSettings& sees = policy.critic;
    const std::string values = policy.is_critic() ? "alone" : sees.there ? "elsewhere" : "own";
    const auto word = [](bool value) { return std::string(value ? "true" : "false"); };
    const bool streamed = policy.streamed() || policy.wide_on_cpu;
    return "template <> struct Spec<" + std::to_string(number) + "> {\n" +
           "    static constexpr int group = " + std::to_string(policy.group) + ";\n" +
           "    static constexpr Kind kind = Kind::" + kinds[int(policy.role)] + ";\n" +
           "    static constexpr Against past = Against::" + pasts[int(policy.past.form)] + ";\n" +
           "    static constexpr bool shared = " + word(policy.shared) +
           ", squashed = " + word(policy.squashed) + ";\n" +
           "    static constexpr int planes = " + std::to_string(policy.planes) + ";\n" +
           "    static constexpr bool streamed = " + word(streamed) + ";\n" +
           "    static constexpr bool sums_seen = " + word(plan.sums_seen()) + ";\n" +
           "    static constexpr Activation activation = Activation::" + policy.activation + ";\n" +
           "    static constexpr Deviation deviation = Deviation::" +
           (policy.deviation == "free" ? "free" : "from_state") + ";\n" +
           "    static constexpr int noise_steps = " + std::to_string(policy.noise_steps) + ";\n" +
           "    static constexpr Loss loss = Loss::" + (clips ? "clipped" : "plain") + ";\n" +
           "    static constexpr Encoder encoder = " + encoder_text(plan.encoder) + ";\n" +
           "    static constexpr int shots = " + std::to_string(plan.shots) + ";\n" +
           "    static constexpr Values values = Values::" + values + ";\n" +
           "    static constexpr Sees sees = {" +
           (policy.is_critic()
                ? std::to_string(sees.numbers) + ", " +
                      std::to_string(sees.team ? policy.agents : 0) + ", " + word(sees.own)
                : "") +
           "};\n" + "    using Hidden = nacelle::detail::Ints<" + hidden + ">;\n" +
           "    using Cells = nacelle::detail::Ints<" + cells + ">;\n};\n";
}

// The number of owners of a form's kernels, and one of these owners.
size_t count_of(const Plan& plan, Form form) {
    if (is_of_run(form)) return 1;
    if (form == Form::group) return plan.groups.size();
    return is_of_convolution(form) ? plan.convolutions.size() : plan.policies.size();
}
Place place_of(const Plan& plan, Form form, size_t number) {
    Place place{.run = plan.run};
    if (is_of_run(form)) return place;
    if (form == Form::group) {
        place.group = &plan.groups[number];
        return place;
    }
    if (is_of_convolution(form)) place.convolution = &plan.convolutions[number];
    place.policy = &plan.policies[place.convolution ? place.convolution->policy : number];
    return place;
}
// Of a CPU, or of an emulation, programs are fewer. A CPU's choices ask who follows which policy, which is the author's to
// say.
Program compiled_in(Program program, const RunPlan& run) {
    if (run.learning_apart) return program;
    if (program == Program::steps) return run.on_gpu ? Program::rest : Program::rollout;
    return program == Program::learning ? Program::rest : program;
}
// fn(kernel, program, owner, number of the owner) for every kernel of a plan.
template <class Fn> void each_kernel(const Plan& plan, Fn&& fn) {
    for (const Kernel& kernel : kernel_table)
        for (size_t n = 0; n < count_of(plan, kernel.form); ++n)
            if (const Place place = place_of(plan, kernel.form, n); kernel.where.holds(place))
                fn(kernel, size_t(compiled_in(kernel.program, plan.run)), place, n);
}
std::string symbol_of(const Kernel& kernel, size_t number) {
    return std::string(kernel.name) + (is_of_run(kernel.form) ? "" : "_" + std::to_string(number));
}
// Threads of a block, how many blocks a multiprocessor has at once, and the shared memory of each.
struct Blocks {
    uint32_t threads = block_threads, resident = 1, shared_bytes = 0;
};
// The least of a CPU's items that are worth a thread where rows go through networks: those of 16 rows.
uint32_t network_share(const Kernel& kernel, const Place& place) {
    return uint32_t(std::max<uint64_t>(1, 16 * kernel.items(place, 0) / place.policy->rows));
}
bool is_of_networks(const Kernel& kernel) {
    return kernel.items == items::choosing || kernel.items == items::standing ||
           kernel.items == items::standing_and_cut;
}
Blocks conv_blocks(const ConvBlock& block) { return {conv_threads, 2, block.bytes}; }
Blocks blocks_for(const Kernel& kernel, const Place& place) {
    const RunPlan& run = place.run;
    const PolicyPlan* const policy = place.policy;
    if (!run.on_gpu && is_of_networks(kernel)) return {network_share(kernel, place)};
    switch (kernel.form) {
        case Form::shares: return {run.share};
        case Form::warps: return {.threads = rollout_threads};
        case Form::resident:
        case Form::resident_teams:
        case Form::remembering: return {.threads = run.threads, .shared_bytes = run.shared_bytes};
        case Form::residents:
            return {.threads = resident_threads, .shared_bytes = policy->resident_bytes};
        case Form::choosers: return {.resident = policy->sums_seen() ? choosers_at_once : 1};
        case Form::fused_update:
            return {policy->fit.threads, policy->fit.resident, policy->fit.shared_bytes};
        case Form::pass: return {pass_threads, 1, policy->pass_bytes};
        case Form::narrow:
        case Form::wide: {
            const uint32_t columns = kernel.form == Form::narrow ? 64 : 128;
            return {product_threads, product_resident(policy->planes, columns),
                    product_bytes(policy->planes, columns)};
        }
        case Form::last_layer:
            return {last_layer_threads, last_layer_resident(policy->last_width, policy->planes),
                    last_layer_bytes(policy->last_width, policy->planes)};
        case Form::clusters: return {cluster_threads(run.learning_apart), 1, cluster_bytes};
        case Form::cell_64:
        case Form::cell_128: {
            const uint32_t room = kernel.form == Form::cell_64 ? 64 : 128;
            return {gru_threads(room), 1,
                    std::max(gru_ahead_bytes(policy->planes, room),
                             gru_back_bytes(policy->planes, room))};
        }
        case Form::cell: return {.resident = 4};
        case Form::conv_forward: return conv_blocks(place.convolution->forward);
        case Form::conv_backward: return conv_blocks(place.convolution->backward);
        case Form::conv_weights: return conv_blocks(place.convolution->weights);
        default: return {.resident = kernel.resident};
    }
}
std::string kernel_text(const Kernel& kernel, const Place& place, size_t number) {
    const std::string symbol = symbol_of(kernel, number);
    if (kernel.form == Form::environments) return "LEARN_ENV_KERNEL(" + symbol + ")\n";
    if (kernel.form == Form::resident_teams) return "LEARN_RESIDENT_TEAM_KERNEL(" + symbol + ")\n";
    if (kernel.form == Form::teams) return "LEARN_TEAM_KERNEL(" + symbol + ")\n";
    std::string function(kernel.name), arguments = "Arguments", parameters = "E";
    const bool overview = place.group && place.group->is_overview;
    if (is_of_convolution(kernel.form)) {
        arguments = "ConvPass";
        parameters += ", " + std::to_string(place.convolution->policy) + ", " +
                      std::to_string(place.convolution->layer);
    } else if (kernel.form == Form::warps) parameters += ", " + std::to_string(place.run.warp_envs);
    else if (overview) parameters += ", overview_rows";
    else if (!is_of_run(kernel.form)) parameters += ", " + std::to_string(number);
    if (kernel.form == Form::stream) arguments = "StreamArguments";
    if (kernel.form == Form::pass) arguments = "PassArguments, 2";    // blocks of a cluster
    if (kernel.form == Form::last_layer) arguments = "LastLayerArguments";
    if (kernel.form == Form::cell) arguments = "CellArguments";
    if (kernel.form == Form::layer) arguments = "LayerArguments";
    const bool product = kernel.form == Form::narrow || kernel.form == Form::wide;
    if (kernel.form == Form::cell_64 || kernel.form == Form::cell_128 || product) {
        const size_t end = function.rfind('_');
        arguments = product ? "Products" : "CellArguments";
        parameters += ", " + function.substr(end + 1);
        function = function.substr(0, end) + (product ? "_product" : "");
    }
    if (kernel.form == Form::clusters) arguments = "Products, " + std::to_string(cluster_blocks);
    const Blocks blocks = blocks_for(kernel, place);
    const bool together = kernel.form == Form::clusters || kernel.form == Form::pass;
    return std::string(together ? "LEARN_CLUSTER_KERNEL(" : "LEARN_KERNEL(") + symbol + ", " +
           arguments + ", " + std::to_string(blocks.threads) + ", " +
           std::to_string(blocks.resident) + ", " + function + "<" + parameters + ">)\n";
}

}

ProgramTexts program_texts(const Settings& settings, const Plan& plan,
                           const std::optional<Plan>& of_draft, bool drafts_run) {
    const std::string in_full = "#include <learn/kernels.h>\n",
                      either = "#if defined(NACELLE_DRAFT)\n#include <learn/steps.h>\n#else\n" +
                               in_full + "#endif\n";
    std::string specs = "namespace learn {\n";
    for (size_t p = 0; p < settings.policies.size(); ++p)
        specs += spec_of(p, settings.policies[p], plan.policies[p], settings.clips);
    specs += "}\nNACELLE_PROGRAM()\n";
    ProgramTexts texts, drafts;
    each_kernel(plan, [&](const Kernel& kernel, size_t program, const Place& place, size_t n) {
        texts[program] += kernel_text(kernel, place, n);
    });
    if (of_draft)
        each_kernel(
            *of_draft, [&](const Kernel& kernel, size_t program, const Place& place, size_t n) {
                if (has_author(kernel.program) || (kernel.program == Program::steps && drafts_run))
                    drafts[program] += kernel_text(kernel, place, n);
            });
    for (size_t i = 0; i < texts.size(); ++i) {
        if (!of_draft || !has_author(Program(i))) texts[i] += drafts[i];
        else if (!texts[i].empty())
            texts[i] =
                "#if !defined(NACELLE_DRAFT)\n" + texts[i] + "#else\n" + drafts[i] + "#endif\n";
        if (texts[i].empty()) continue;
        texts[i] = (of_draft && has_author(Program(i)) ? either : in_full) + specs + texts[i];
    }
    return texts;
}

std::vector<std::string> program_defines(const Settings& settings) {
    std::vector<std::string> defines;
    if (settings.emulates) defines.push_back("NACELLE_EMULATE");
    if (const size_t critics = settings.policies.size() - settings.acting())
        defines.push_back("LEARN_CRITICS=" + std::to_string(critics));
    if (settings.overview) defines.push_back("LEARN_OVERVIEW=" + std::to_string(settings.overview));
    if (settings.keeps_pairs) defines.push_back("LEARN_KEPT_PAIRS=1");
    if (settings.ranks > 1) defines.push_back("LEARN_RANKS=" + std::to_string(settings.ranks));
    if (settings.gathers) defines.push_back("LEARN_GATHERS=1");
    if (settings.peers) defines.push_back("LEARN_PEERS=1");
    if (settings.shards > 1)
        defines.push_back("LEARN_SHARDS=" + std::to_string(settings.shards) + "u");
    return defines;
}

Kernels::Kernels(nacelle::plugin::Host host, const Settings& settings,
                 const std::vector<NetworkShape>& shapes, const nacelle_environment& environment)
    : host_(host),
      plan_(settings, shapes, environment),
      of_draft_(Plan::of_draft(settings, shapes, environment)) {
    const std::vector<std::string> defines = program_defines(settings);
    const ProgramTexts texts = program_texts(settings, plan_, of_draft_, environment.drafts != 0);
    for (size_t i = 0; i < texts.size(); ++i)
        if (!texts[i].empty())
            programs_[i] = has_author(Program(i))
                               ? host_.program(texts[i], kernel_headers(), defines)
                               : host_.program_of_sizes(texts[i], kernel_headers(), defines);
    found_ = look_up(plan_, [](Program) { return true; });
}
template <class Wanted> Kernels::Found Kernels::look_up(const Plan& plan, Wanted&& wanted) const {
    Found found;
    for (size_t row = 0; row < found.size(); ++row)
        found[row].resize(count_of(plan, kernel_table[row].form));
    each_kernel(plan, [&](const Kernel& kernel, size_t program, const Place&, size_t n) {
        if (wanted(kernel.program))
            found[size_t(&kernel - kernel_table)][n] =
                host_.kernel(programs_[program], "learn_" + symbol_of(kernel, n));
    });
    return found;
}

void Kernels::look_again() {
    if (!of_draft_) return;
    const auto look = [&](Program program, const char* in_full) {
        drafted_[size_t(program)] = !host_.kernel(programs_[size_t(program)], in_full).function;
    };
    if (plan_.run.rollout == Rollout::warps) {
        look(Program::rollout, "learn_rollout_warps");
        look(Program::play, "learn_play_warps");
    } else look(Program::rollout, "learn_rollout_teams");
    drafted_[size_t(Program::steps)] = is_drafted(Program::rollout);
    found_in_draft_ = look_up(*of_draft_, [&](Program program) { return is_drafted(program); });
}

void Kernels::missing(const Kernel& kernel) {
    throw std::logic_error("the learner's kernel " + std::string(kernel.name) +
                           " was not compiled");
}
nacelle_launch Kernels::shape_of(const Kernel& kernel, size_t number, uint64_t count) const {
    const Place place = place_of(plan_of(kernel.program), kernel.form, number);
    const Blocks blocks = blocks_for(kernel, place);
    nacelle_launch shape{};
    shape.threads = blocks.threads;
    shape.items = kernel.items(place, count);
    shape.shared_bytes = blocks.shared_bytes;
    return shape;
}

}
