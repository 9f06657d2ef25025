"""What each layer may include: the table that keeps the tree's parts apart."""

# A layer may include itself, the layers named here, and what those may include.
LAYERS = {
    'sdk': [],
    'engine/base': ['sdk'],
    'engine/config': ['engine/base', 'sdk'],
    'engine/device': ['engine/base'],
    'engine/jit': ['engine/base', 'engine/device'],
    'engine/arrays': ['engine/base', 'engine/device', 'sdk'],
    'engine/compile': ['engine/arrays', 'engine/jit', 'sdk'],
    'engine/env': ['engine/compile', 'engine/config', 'sdk'],
    'engine/supervised': ['engine/base', 'engine/config'],
    'engine/check': ['engine/env', 'engine/jit', 'engine/supervised'],
    'engine/view': ['engine/env'],
    'engine/recording': ['engine/env', 'engine/view'],
    'engine/plugins': ['engine/base', 'engine/config', 'engine/arrays', 'engine/env', 'sdk'],
    'engine/run': ['engine/env', 'engine/plugins', 'engine/recording'],
    'engine/policy': ['engine/run'],
    'engine/export': ['engine/policy'],
    'engine/match': ['engine/policy'],
    'engine/web': ['engine/base'],
    'engine/watch': ['engine/run', 'engine/view', 'engine/check', 'engine/supervised', 'engine/web'],
    'engine': ['engine/run', 'engine/policy', 'engine/export'],    # the face for host applications, in the folder itself
    'algorithms': ['sdk'],
    'plugins': ['sdk'],
    'plugins/torch': ['algorithms', 'sdk'],
    'plugins/torch_gpu': ['plugins/torch', 'sdk'],
    'tools': ['engine', 'engine/check', 'engine/export', 'engine/match', 'engine/supervised', 'engine/view', 'engine/watch', 'engine/web'],
    'python': ['engine', 'engine/match', 'engine/view', 'engine/policy', 'tools'],    # the door for Python
    'env_sources': ['sdk'],
}

# The library that a header belongs to, by how its name begins.
LIBRARIES = {
    'nlohmann/': 'json',
    'boost/': 'boost',
    'CLI/': 'command line',
    'doctest/': 'doctest',
    'torch/': 'torch', 'ATen/': 'torch', 'c10/': 'torch', 'caffe2/': 'torch',
    'nvrtc': 'nvrtc',
    'cuda': 'cuda',
    'nanobind/': 'nanobind',
    'zlib': 'zlib',
    'minizip/': 'zip archives',
    'agg_': 'pixels', 'png': 'pixels', 'gif_lib': 'pixels',
}

# Where a library may be included: a folder, or a file without its suffix.
PLACES = {
    'json': ['engine/config', 'engine/env', 'engine/recording', 'engine/plugins', 'engine/policy', 'engine/export', 'engine/run', 'engine/match',
             'engine/nacelle',
             'tools'],
    'boost': ['engine/base/shared_library', 'engine/web/server'],
    'command line': ['tools'],
    'doctest': [],
    'torch': ['plugins/torch', 'plugins/torch_gpu', 'plugins/gloo'],
    'nvrtc': ['engine/jit'],
    'cuda': ['engine/device', 'plugins/torch_gpu'],
    'zlib': ['engine/recording/block', 'tools/play_archive'],
    'zip archives': ['tools/play_archive'],
    'nanobind': ['python/binding'],
    'pixels': ['tools/play_raster', 'tools/play_pictures'],
}

# What only some files may say, and what there is instead. Text of others goes through here, and none of it may throw,
# overflow a stack or nest without end.
WORDS = {
    r'\.dump\(|<<\s*Json\b|<<\s*json\b': (['engine/config/json.cpp'], 'json_text() of engine/config/config.h, or print_json()'),
    r'\b[Jj]son::(sax_)?parse\(': (['engine/config/json.cpp'], 'parse_json() or try_parse_json()'),
    r'std::s?regex|#include <regex>': ([], 'find() and std::from_chars()'),
}

# Further plain files of the system; a name with no dot and no slash is the standard library's.
SYSTEM_FOLDERS = ['sys/', 'linux/', 'netinet/', 'arpa/', 'net/']
SYSTEM_FILES = ['cxxabi.h', 'dirent.h', 'dlfcn.h', 'elf.h', 'errno.h', 'fcntl.h', 'fnmatch.h', 'glob.h', 'immintrin.h',
                'arm_neon.h', 'limits.h', 'link.h', 'math.h', 'netdb.h', 'poll.h', 'pthread.h', 'pwd.h', 'sched.h',
                'signal.h', 'spawn.h', 'stddef.h', 'stdint.h', 'stdio.h', 'stdlib.h', 'string.h', 'termios.h',
                'time.h', 'ucontext.h', 'unistd.h']
