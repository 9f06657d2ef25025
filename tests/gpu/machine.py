"""What the machine under the tests has: GPUs, NVRTC, LibTorch, NCCL, a Python that loads the extension."""
import ctypes
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path


def gpus():
    """How many GPUs the driver shows to this process, and why there is none."""
    try:
        driver = ctypes.CDLL('libcuda.so.1')
    except OSError as error:
        return 0, f'no GPU: {error}'
    count = ctypes.c_int()
    if (wrong := driver.cuInit(0)) or (wrong := driver.cuDeviceGetCount(ctypes.byref(count))):
        return 0, f'no GPU: the NVIDIA driver answers with error {wrong}'
    return count.value, '' if count.value else 'no GPU: the NVIDIA driver finds none'


def wheel_folders(pattern):
    """The folders of this Python's packages of NVIDIA that have a file of that name."""
    found = importlib.util.find_spec('nvidia')
    places = found.submodule_search_locations if found else []
    return sorted({str(path.parent) for place in places for path in Path(place).glob(f'*/lib/{pattern}')})


def nvrtc_folders():
    """The folders with NVRTC: a toolkit's, which the engine finds by itself, or else a wheel's."""
    roots = [os.environ.get('CUDA_HOME', ''), os.environ.get('CUDA_PATH', ''), '/usr/local/cuda', '/opt/cuda']
    toolkits = [Path(root) / lib for root in roots if root for lib in ('lib64', 'lib')]
    found = [str(folder) for folder in toolkits if any(folder.glob('libnvrtc.so*'))]
    return (found, []) if found else ([], wheel_folders('libnvrtc.so*'))


def torch_folder(wanted):
    """The folder of LibTorch in this Python, and why it cannot be used."""
    found = importlib.util.find_spec('torch')
    if not found or not found.submodule_search_locations:
        return None, f'python3 ({sys.executable}) has no torch'
    folder = Path(found.submodule_search_locations[0])
    done = subprocess.run([sys.executable, '-c', 'import torch; print(torch.__version__, torch.cuda.is_available())'], capture_output=True, text=True)
    version, gpu = done.stdout.split()[-2:] if done.returncode == 0 else ('', '')
    if not version:
        return None, f'torch of python3 cannot be imported: {last_line(done.stderr)}'
    if version.split('+')[0] != wanted:
        return None, f'python3 has torch {version}, and the learners on LibTorch of this archive were built for {wanted}'
    return (folder / 'lib', '') if gpu == 'True' else (None, f'torch {version} of python3 sees no GPU')


def last_line(text):
    return (text.strip().splitlines() or ['it says nothing'])[-1]


class Machine:
    """What tests are given of it, with a reason for what is missing."""

    def __init__(self, here):
        self.here = here
        self.bundle = json.loads((here / 'bundle.json').read_text())
        # Short: sockets have names of at most 108 bytes.
        self.folder = here / 'run'
        self.folder.mkdir(exist_ok=True)
        os.environ['TMPDIR'] = str(self.folder)
        self.gpus, self.no_gpu = gpus()
        self.toolkits, self.nvrtc_wheels = nvrtc_folders()
        self.torch, self.no_torch = torch_folder(self.bundle['torch']) if self.bundle['torch'] else (None, 'this archive was built without LibTorch')
        self.compiler = shutil.which('c++')
        self.environment = self.variables()
        self.no_python = self.binding_trouble()

    def variables(self):
        folders = [self.here / 'build' / name for name in ('plugins', 'plugins/torch', 'algorithms')]
        folders += [self.torch] if self.torch else []
        folders += self.nvrtc_wheels
        changes = {'NACELLE_TEST_SOURCES': str(self.here), 'NACELLE_TEST_BUILD': str(self.here / 'build'),
                   'LD_LIBRARY_PATH': ':'.join([*map(str, folders), *filter(None, [os.environ.get('LD_LIBRARY_PATH')])]),
                   'PYTHONPATH': f'{self.here / "build" / "python_tree"}:{self.here / "packages"}', 'PYTHONDONTWRITEBYTECODE': '1'}
        nccl = [Path(folder) / 'libnccl.so.2' for folder in wheel_folders('libnccl.so.2')]
        return {**changes, **({'NACELLE_NCCL': str(nccl[0])} if nccl and 'NACELLE_NCCL' not in os.environ else {})}

    def of_part(self, part):
        """The variables of a part's tests, as the build has them."""
        own = {name: value.replace('@root@', str(self.here)) for name, value in self.bundle['environments'][part].items()}
        if ' ' in str(self.here):    # the engine takes $CXX for words
            own.pop('CXX', None)
        return {**own, **self.environment}

    def binding_trouble(self):
        """Lays out the Python package, and says why this Python cannot import it."""
        build = self.here / 'build'
        subprocess.run([sys.executable, '-B', self.here / 'python' / 'tree.py', self.here, build, build / 'python_tree', self.folder / 'tree.stamp',
                        self.folder / 'tree.d'], check=True)
        done = subprocess.run([sys.executable, '-c', 'import nacelle'], env={**os.environ, **self.environment}, capture_output=True, text=True)
        if done.returncode == 0:
            return ''
        return (f'python3 is {platform.python_version()}, and the extension of this archive was built for {self.bundle["python"]}: '
                f'{last_line(done.stderr)}')

    def description(self):
        def told(what, found):
            return f'{what:<9} {found}'
        yield told('GPU', f'{self.gpus}' + (f' ({self.no_gpu})' if self.no_gpu else ''))
        yield told('NVRTC', ', '.join(self.toolkits or self.nvrtc_wheels) or 'neither in a toolkit nor in a wheel of python3')
        yield told('LibTorch', self.torch or self.no_torch)
        yield told('NCCL', self.environment.get('NACELLE_NCCL', os.environ.get('NACELLE_NCCL', 'the system\'s, where it has one')))
        yield told('Python', f'{platform.python_version()}, {self.no_python or "with the package nacelle"}')
        yield told('compiler', self.compiler or 'no c++: what runs on a CPU, too, cannot be compiled')
        yield told('archive', f'{self.bundle["revision"]}, unpacked to {self.here}')
