"""Networks of your own on LibTorch: modules of plugins, and files of TorchScript; and what is said of wrong ones."""
import os
import shlex
import subprocess
import sys
import zipfile

from parity import needs_libtorch  # first: it says where the others are
from bench import CPU, case, main, setting  # noqa: I001
from training import goes_on_to_the_same_bytes

SMALL = {'learner__name': 'torch_ppo', 'env__count': 16, 'learner__horizon': 16, 'run__evaluate_every': 0, 'solved__return': 'null',
         'run__total_steps': 1024}
# Modules in one plugin: one that learns and remembers, and others that are wrong.
MODELS = r"""
#include <nacelle/plugin/config.h>
#include <nacelle/torch/model.h>
#include <torch/nn/modules/linear.h>
#include <torch/script.h>

using nacelle::torch_models::Model;
using nacelle::torch_models::Sizes;

struct Averages : Model {    // remembers a mean of what it saw, for some steps
    static constexpr const char* name = "averages";
    Averages(const Sizes& sizes, std::string_view settings) {
        nacelle::plugin::Config config(settings);
        width = config.integer("width", 8, 1, 64);
        config.finish();
        in = register_module("in", torch::nn::Linear(sizes.seen, width));
        out = register_module("out", torch::nn::Linear(width, sizes.outputs + 1));
    }
    int64_t memory() const override { return width; }
    at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) override {
        memory = 0.9 * memory + 0.1 * in(rows).tanh();
        return out(memory);
    }
    int64_t width;
    torch::nn::Linear in{nullptr}, out{nullptr};
};
template <class T> struct Linear : Model {
    Linear(const Sizes& sizes, std::string_view) { layer = register_module("layer", torch::nn::Linear(sizes.seen, sizes.outputs + T::more)); }
    at::Tensor forward(const at::Tensor& rows, at::Tensor&) override { return T::change(layer(rows)); }
    torch::nn::Linear layer{nullptr};
};
struct Short : Linear<Short> {
    static constexpr const char* name = "short";
    static constexpr int more = 0;
    static at::Tensor change(const at::Tensor& x) { return x; }
    using Linear::Linear;
};
struct Doubles : Linear<Doubles> {
    static constexpr const char* name = "doubles";
    static constexpr int more = 1;
    static at::Tensor change(const at::Tensor& x) { return x.to(at::kDouble); }
    using Linear::Linear;
};
struct Infinite : Linear<Infinite> {
    static constexpr const char* name = "infinite";
    static constexpr int more = 1;
    static at::Tensor change(const at::Tensor& x) { return x / 0.0; }
    using Linear::Linear;
};
struct Fails : Linear<Fails> {
    static constexpr const char* name = "fails";
    static constexpr int more = 1;
    static at::Tensor change(const at::Tensor& x) { return x.view({-1, 1000}); }
    using Linear::Linear;
};
struct Empty : Model {
    static constexpr const char* name = "empty";
    Empty(const Sizes& sizes, std::string_view) : outputs(sizes.outputs) {}
    at::Tensor forward(const at::Tensor& rows, at::Tensor&) override { return at::zeros({rows.size(0), outputs + 1}); }
    int64_t outputs;
};
// As another version of LibTorch would offer it.
struct Old {
    static constexpr const char *kind = "torch_model/1", *name = "old";
    static const void* table() {
        static constexpr nacelle::torch_models::Table its{sizeof its, "2.3.4", nullptr};
        return &its;
    }
};
template <class T> using Offer = nacelle::torch_models::Offer<T>;
NACELLE_PLUGIN("test.models", "1.0.0", "Models", Offer<Averages>, Offer<Short>, Offer<Doubles>, Offer<Infinite>, Offer<Fails>, Offer<Empty>, Old)
// Files of TorchScript, in the folder in which this is called.
extern "C" __attribute__((visibility("default"))) void save_scripts() {
    torch::jit::Module net("Net");
    net.register_parameter("weight", 0.1 * torch::randn({3, 4}), false);
    net.register_buffer("order", torch::tensor({3, 1, 2, 0}));    // places stay whole numbers
    net.define("def forward(self, rows):\n    return torch.tanh(torch.index_select(rows, 1, self.order)) @ self.weight.t()\n");
    net.save("net.pt");
    torch::jit::Module keeps("Keeps");
    keeps.register_parameter("weight", 0.1 * torch::randn({3, 4}), false);
    keeps.register_attribute("memory", torch::jit::IntType::get(), int64_t(4));
    keeps.define("def forward(self, rows, memory):\n    memory = 0.5 * memory + rows\n    return memory @ self.weight.t(), memory\n");
    keeps.save("keeps.pt");
}
"""


def models(bench):
    """The folder of the plugin, which is compiled once."""
    needs_libtorch(bench)
    target = bench.folder / 'models' / 'models.so'
    if not target.exists():
        target.parent.mkdir()
        flags = subprocess.run([bench.root / 'tools' / 'nacelle', 'torch', '--flags'], capture_output=True, text=True, check=True).stdout
        subprocess.run(['c++', '-std=c++20', '-O0', '-fPIC', '-shared', '-fvisibility=hidden', bench.write('models.cpp', MODELS), '-o', target,
                        *shlex.split(flags)], cwd=bench.folder, check=True)
    return '--plugins', target.parent


def with_model(text, **more):
    return setting(**{**SMALL, 'policies__default__model': text, **more})


@case
def a_module_that_remembers_learns_and_goes_on_to_the_same_bytes(bench):
    plugins = models(bench)
    goes_on_to_the_same_bytes(bench, 'cartpole', {
        **SMALL, 'policies__default__model': '{"name": "averages", "width": 6}', 'learner__sequence': 8, 'run__total_steps': 256 * 40,
        'run__checkpoint_every': 256 * 5}, plugins=plugins)
    result = bench.run('export', 'broken', '--to', 'onnx')
    assert result.status == 1 and 'does not say how its policies act' in result.err, result


@case
def files_of_torchscript_learn(bench):
    library = models(bench)[1] / 'models.so'
    subprocess.run([sys.executable, '-c', f'import ctypes; ctypes.CDLL({str(library)!r}).save_scripts()'], cwd=bench.folder, check=True)
    for name, more in (('net', {}), ('keeps', {'learner__sequence': 4})):
        bench.good('train', 'cartpole', *CPU, '--quiet', '--episodes', '8', '--out', name, *with_model(f'{{"script": "{name}.pt"}}', **more))
        bench.refused(rf'{name}/config\.json: policies\.default\.model: is code in the file {name}\.pt, which a run.s folder alone does not load '
                      rf'\(--model {name}\.pt loads it\)', 'eval', name, *CPU, '--episodes', '8')
        bench.good('eval', name, *CPU, '--episodes', '8', '--model', f'{name}.pt')
    script = bench.folder / 'net.pt'
    for words in (('resume', 'net'), ('watch', 'cartpole', '--policy', 'net', '--steps', '1'), ('train', 'net/config.json')):
        result = bench.run(*words, *CPU)
        assert result.status == 1 and 'which a run\'s folder alone does not load' in result.err, result
    bench.good('watch', 'cartpole', '--policy', 'net', '--steps', '1', '--pace', '0', '--model', 'default=net.pt', *CPU)
    script.write_bytes(script.read_bytes() + b'more')
    bench.refused(r'net\.pt: is another file than the run had: its hash is \w+, and was \w+ \(put it back, or --model net\.pt takes it\)',
                  'eval', 'net', *CPU, '--episodes', '8', '--plugins', '.')
    script.write_bytes(script.read_bytes()[:-4])


@case
def a_package_that_cannot_be_loaded_leaves_nothing_behind(bench):
    needs_libtorch(bench)
    (bench.folder / 'place').mkdir()
    with zipfile.ZipFile(bench.folder / 'bad.pt2', 'w') as package:
        for name, text in (('data/aotinductor/model/x.wrapper.so', 'no library'), ('data/aotinductor/model/x.wrapper_metadata.json', '{}'),
                           ('.data/version', '3\n'), ('byteorder', 'little')):
            package.writestr(f'bad/{name}', text)
    bench.write('cut.pt2', (bench.folder / 'bad.pt2').read_bytes()[:300])
    before = set(os.listdir('/tmp'))
    for name in ('bad', 'cut'):
        result = bench.run('train', 'tag_gridworld', *CPU, '--quiet', *setting(
            learner__name='torch_ppo', env__count=16, policies__runner__train='false', policies__runner__model=f'{{"package": "{name}.pt2"}}'),
            TMPDIR=str(bench.folder / 'place'))
        assert result.status == 1 and f'torch_ppo: {name}.pt2 cannot be read: ' in result.err, result
    assert not os.listdir(bench.folder / 'place')
    assert not [name for name in set(os.listdir('/tmp')) - before if len(name) == 6], 'LibTorch left a folder in /tmp'


@case
def wrong_models_are_refused_in_a_sentence(bench):
    plugins = models(bench)
    bench.write('bad.pt', 'no module')
    where = '--set policies.default.model: torch_ppo: '
    for text, why in (
            ('{"name": "short"}', r'it makes \[2, 2\] of Float of two rows; expected \[2, 3\] of Float: what actions are chosen by, and the '
                                  'value behind it'),
            ('{"name": "doubles"}', r'it makes \[2, 3\] of Double of two rows; expected \[2, 3\] of Float: .*'),
            ('{"name": "infinite"}', 'it makes numbers that are not finite'),
            ('{"name": "fails"}', r'it fails on 2 rows of 4 zeros: .*invalid for input of size 6.*'),
            ('{"name": "empty"}', 'it has no parameters, so that there is nothing to learn'),
            ('{"name": "old"}', r"'old' was built with LibTorch 2\.3\.4; this is 2\.11\.0"),
            ('{"name": "averages", "widht": 3}', r"widht: there is no such setting \(did you mean 'width'\?\)"),
            ('{"name": "avarages"}', r"avarages: there is no such torch_model \(did you mean 'averages'\?\)"),
            ('{"script": "none.pt"}', 'there is no file none.pt'),
            ('{"script": "bad.pt"}', 'bad.pt cannot be read: .*'),
            ('{"package": "bad.pt"}', 'a package of AOTInductor is computed as it is and does not learn; "train": false plays by it, and a '
                                      '"script" learns'),
            ('{}', r'expected {"name": ...} of a plugin, {"script": ...} or {"package": ...}')):
        bench.refused(where + why, 'train', 'cartpole', *CPU, *plugins, *with_model(text))
    bench.refused("--set policies.default.model: ppo: 'ppo' has layers alone; 'torch_ppo' and 'torch_a2c' take models", 'train', 'cartpole', *CPU,
                  *with_model('{"name": "short"}', learner__name='ppo'))
    bench.refused(r'--set policies.default.hidden: torch_ppo: the policy has a "model" and no layers beside it', 'train', 'cartpole', *CPU, *plugins,
                  *with_model('{"name": "averages"}', policies__default__hidden='[8]'))


raise SystemExit(main())
