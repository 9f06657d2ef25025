"""Packs the tests for a GPU into an archive that runs without a build: bundle.py ROOT BUILD ARCHIVE EXTENSION PART...

The archive has the layout of the repository, since programs and tests find files relative to their own folder."""
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NAME = 'nacelle-gpu-tests'
MOST = 45_000_000      # bytes of an archive
# Imports of the package in Python. NumPy comes with torch.
PACKAGES = ('gymnasium', 'cloudpickle', 'farama_notifications', 'typing_extensions.py')
# Tests of a GPU in Python, as jobs.py names them, and a test of the build with the same variables.
LIKE = {'runs': 'runs', 'torch': 'torch_learners', 'python': 'python', 'ranks': 'ranks_sums'}


def copy_sources(root, folder):
    for name in ('env_sources', 'sdk', 'tests', 'python/nacelle'):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns('__pycache__'))
    for name in ('python/tree.py', 'tools/build/run_tests.py', 'LICENSE'):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
    shutil.copy2(root / 'tests' / 'gpu' / 'test_gpu.py', folder / 'test-gpu')
    (folder / 'test-gpu').chmod(0o755)


def copy_build(build, folder, binding, parts):
    """Programs and libraries, stripped."""
    files = [build / 'tools' / 'nacelle', *(build / 'tests' / f'test_{part}' for part in parts)]
    for pattern in ('algorithms/*.so', 'plugins/*.so', 'plugins/torch/*.so', 'tests/*/*.so'):
        files += build.glob(pattern)
    copies = {file: folder / file.relative_to(build) for file in files}
    if binding:
        copies[binding] = folder / 'python' / binding.name
    for file, copy in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['strip', '--strip-unneeded', '-o', copy, file], check=True)
    (folder / 'meson-info').mkdir()
    shutil.copy2(build / 'meson-info' / 'intro-buildoptions.json', folder / 'meson-info')


def copy_packages(python, folder):
    """Packages without compiled parts, for any version of Python."""
    folder.mkdir()
    found = subprocess.run([python, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], capture_output=True, text=True, check=True)
    for path in (Path(found.stdout.strip()) / name for name in PACKAGES):
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns('__pycache__'))
        elif path.exists():
            shutil.copy2(path, folder)


def option(build, name):
    options = json.loads((build / 'meson-info' / 'intro-buildoptions.json').read_text())
    return next((one['value'] for one in options if one['name'] == name), '')


def environments(root, build, parts):
    """The environment variables of each part, with @root@ for the folder of the sources."""
    tests = {test['name']: test['env'] for test in json.loads((build / 'meson-info' / 'intro-tests.json').read_text())}
    kept = {}
    for name, like in ({part: part for part in parts} | LIKE).items():
        kept[name] = {key: value.replace(str(root), '@root@') for key, value in tests[like].items()
                      if key not in ('LD_LIBRARY_PATH', 'PYTHONPATH')}
    return kept


def torch_version(build):
    folder = option(build, 'torch')
    if not folder:
        return ''
    text = (Path(folder) / 'version.py').read_text()
    return text.split("__version__ = '")[1].split("'")[0].split('+')[0]


def revision(root):
    done = subprocess.run(['git', '-C', root, 'describe', '--always', '--dirty'], capture_output=True, text=True)
    return done.stdout.strip() or 'no revision'


def pack(root, build, archive, binding, parts):
    with tempfile.TemporaryDirectory(prefix='nacelle-bundle-') as place:
        folder = Path(place) / NAME
        folder.mkdir()
        copy_sources(root, folder)
        copy_build(build, folder / 'build', binding, parts)
        if python := option(build, 'python'):
            copy_packages(python, folder / 'packages')
        about = {'parts': parts, 'environments': environments(root, build, parts), 'torch': torch_version(build), 'revision': revision(root),
                 'python': 'none' if not binding else 'Python 3.12 and later' if '.abi3.' in binding.name else binding.suffixes[0][1:]}
        (folder / 'bundle.json').write_text(json.dumps(about, indent=1))
        archive.parent.mkdir(parents=True, exist_ok=True)
        half = archive.with_name(archive.name + '.part')
        with tarfile.open(half, 'w:xz') as packed:
            packed.add(folder, NAME, filter=by_root)
        size = half.stat().st_size
        if size > MOST:
            half.unlink()
            raise SystemExit(f'{archive}: has {size / 1e6:.1f} MB, and may have {MOST / 1e6:g}')
        half.replace(archive)
    print(f'{archive}: {size / 1e6:.1f} MB. On a machine with a GPU: tar xf {archive.name} && {NAME}/test-gpu')


def by_root(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ''
    return entry


if __name__ == '__main__':
    root, build, archive = (Path(word).resolve() for word in sys.argv[1:4])
    pack(root, build, archive, Path(sys.argv[4]) if sys.argv[4] else None, sys.argv[5:])
