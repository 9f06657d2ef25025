"""Writes the lock files of tools/build/locks anew: the newest versions that fit, with the hashes of their wheels.

usage: ~/.local/share/nacelle/python/bin/python -I tools/build/lock.py [NAME...]

pip resolves the lists and installs nothing. The list of the tests has a file for each version of Python, since versions of packages
differ; each other list has one file. Adapters and notebooks are pinned without hashes."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / 'locks'
PYTHONS = ('3.10', '3.11', '3.12', '3.13', '3.14')
MACHINES = ('x86_64', 'aarch64')
TORCH = '2.11.0'        # as in torch.sh

# The requirements of each list. A name with `{}` is a list for each version of Python.
WANTED = {
    'meson': ['meson>=1.0'],
    'cuda12': ['nvidia-cuda-runtime-cu12', 'nvidia-cuda-nvrtc-cu12'],
    'cuda13': ['nvidia-cuda-runtime==13.0.*', 'nvidia-cuda-nvrtc==13.0.*'],
    'nccl12': ['nvidia-nccl-cu12'],
    'nccl13': ['nvidia-nccl-cu13'],
    'torch': [f'torch=={TORCH}'],
    # Needs of the libraries in LibTorch's wheel, on a CPU and on a GPU; its Python needs more.
    'torch-cpu': ['nvidia-cuda-cupti==13.*', 'nvidia-cuda-runtime==13.*'],
    'torch-gpu': ['cuda-toolkit[cublas,cudart,cufft,cufile,cupti,curand,cusolver,cusparse,nvjitlink,nvrtc]==13.0.2',
                  'nvidia-cudnn-cu13==9.19.0.56', 'nvidia-cusparselt-cu13==0.8.0', 'nvidia-nccl-cu13==2.28.9',
                  'nvidia-nvshmem-cu13==3.4.5'],
    'tests-{}': ['nanobind>=2.4', 'numpy>=1.26', 'gymnasium>=1.1', 'pettingzoo', 'optuna>=4', 'pandas', 'onnx', 'onnxruntime'],
    'adapters': [f'torch=={TORCH}', 'numpy>=1.26', 'gymnasium>=1.1', 'pettingzoo', 'wandb', 'mlflow-skinny', 'sqlalchemy', 'alembic',
                 'stable-baselines3', 'skrl', 'rl-games', 'rsl-rl-lib', 'torchrl', 'tensorboard', 'pandas', 'nbclient', 'ipykernel',
                 'optuna>=4'],
}
ALONE = ('torch', 'torch-cpu', 'nccl12', 'nccl13')      # without dependencies
UNHASHED = ('adapters',)


def platforms(machine):
    """The tags of wheels that run where glibc is that of Debian 12 or newer."""
    names = [f'manylinux_2_{minor}_{machine}' for minor in range(36, 4, -1)] + [f'manylinux2014_{machine}', f'linux_{machine}']
    return [word for name in names for word in ('--platform', name)]


def resolved(wanted, *options):
    """Name, version and source of each package that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.json'
        subprocess.run([sys.executable, '-I', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--dry-run',
                        '--ignore-installed', '--report', report, *options, *wanted], cwd=folder, check=True)
        found = json.loads(report.read_text())['install']
    for one in found:
        extras = f'[{",".join(one["requested_extras"])}]' if one.get('requested_extras') else ''
        told = one['metadata']
        yield told['name'].lower().replace('_', '-') + extras, told['version'], one['download_info']


def hashed(wanted, pythons, alone):
    """The lines of a lock file: each package once, with a hash for each kind of machine and, where its wheels differ, of Python."""
    lines, pins = {}, list(wanted)
    for python in pythons:
        for machine in MACHINES:
            options = ['--only-binary=:all:', '--python-version', python, *platforms(machine), '--target', 'none']
            for name, version, source in resolved(pins, *options, *(['--no-deps'] if alone else [])):
                lines.setdefault(f'{name}=={version}', {})[source['archive_info']['hashes']['sha256']] = None
            pins = list(lines)      # the same versions on the other machines
    for pin in sorted(lines):
        yield ' \\\n    '.join([pin, *(f'--hash=sha256:{one}' for one in sorted(lines[pin]))])


def pinned(wanted):
    """The lines of a list without hashes, for this Python and machine. Packages that have no wheel are named."""
    found = sorted(resolved(wanted))
    sources = [name for name, _, told in found if not told['url'].endswith('.whl')]
    yield '--only-binary :all:'
    if sources:
        yield f'--no-binary {",".join(sources)}'
    yield from (f'{name}=={version}' for name, version, _ in found)


def write(name, lines):
    head = f'# Made by tools/build/lock.py {name}\n'
    (FOLDER / f'{name}.txt').write_text(head + '\n'.join(lines) + '\n')
    print(f'{name}.txt', flush=True)


def main(names):
    unknown = [name for name in names if name not in WANTED]
    if unknown:
        raise SystemExit(f'lock.py: {unknown[0]}: there is no such list; there is: {", ".join(WANTED)}')
    for name in names or WANTED:
        if name in UNHASHED:
            write(name, pinned(WANTED[name]))
            continue
        rules = ['--require-hashes', '--only-binary :all:']
        if '{}' in name:
            for python in PYTHONS:
                write(name.format(python), [*rules, *hashed(WANTED[name], [python], name in ALONE)])
        else:
            # A wheel for one version of Python alone is LibTorch's.
            pythons = PYTHONS if name == 'torch' else PYTHONS[1:2]
            write(name, [*rules, *hashed(WANTED[name], pythons, name in ALONE)])


main(sys.argv[1:])
