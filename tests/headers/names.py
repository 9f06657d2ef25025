"""Which header declares a name, and which names a header uses: as far as can be read without a compiler."""
import re
from pathlib import Path

# Names of the standard library that headers here use, by the header that promises them.
STANDARD = {
    'algorithm': 'sort find find_if max min clamp copy fill any_of all_of none_of max_element min_element equal',
    'any': 'any', 'array': 'array', 'atomic': 'atomic atomic_flag', 'bit': 'bit_cast popcount bit_ceil endian',
    'charconv': 'to_chars from_chars', 'chrono': 'chrono', 'condition_variable': 'condition_variable', 'cmath': 'abs round sqrt isfinite', 'cstddef': 'byte max_align_t nullptr_t size_t', 'cstdint': 'uint64_t', 'ctime': 'time_t',
    'cstdio': 'snprintf printf fprintf',
    'cstring': 'memcpy memset memcmp strlen strerror', 'deque': 'deque', 'exception': 'exception_ptr exception current_exception',
    'filesystem': 'filesystem', 'fstream': 'ifstream ofstream', 'functional': 'function hash less', 'initializer_list': 'initializer_list', 'future': 'future shared_future future_status promise async',
    'iostream': 'cout cerr', 'limits': 'numeric_limits', 'list': 'list', 'map': 'map multimap',
    'memory': 'unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this', 'mutex': 'mutex lock_guard unique_lock',
    'numeric': 'accumulate iota', 'optional': 'optional nullopt', 'queue': 'queue', 'set': 'set', 'span': 'span as_bytes',
    'sstream': 'ostringstream istringstream stringstream', 'stdexcept': 'runtime_error logic_error', 'string': 'string to_string',
    'string_view': 'string_view', 'iterator': 'size back_inserter', 'system_error': 'error_code errc', 'thread': 'thread jthread', 'tuple': 'tuple tie',
    'type_traits': 'is_same_v is_integral_v is_signed_v add_pointer_t',
    'unordered_map': 'unordered_map', 'unordered_set': 'unordered_set', 'utility': 'pair move forward exchange swap', 'variant': 'variant visit',
    'vector': 'vector',
}
PROMISED = {name: header for header, names in STANDARD.items() for name in names.split()}
# What a header of the standard library must bring by its own definition.
BRINGS = {'string_view': {'iterator'}, 'vector': {'iterator'}, 'span': {'array', 'cstddef', 'iterator'}, 'string': {'string_view', 'iterator'}, 'map': {'utility'}, 'filesystem': {'string', 'chrono', 'system_error'}, 'memory': {'utility'},
          'unordered_map': {'utility'}, 'stdexcept': {'string', 'exception'}, 'iostream': {'string'}, 'sstream': {'string'}, 'fstream': {'string'},
          'functional': {'utility'}, 'algorithm': {'utility'}, 'tuple': {'utility'},
          'optional': {'utility'}, 'variant': {'utility'}, 'future': {'thread'}, 'nlohmann/json.hpp': {'string', 'vector', 'map', 'utility', 'cstddef'}}

TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
DEFINED = re.compile(r'\b(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:NACELLE_PUBLIC\s+)?([A-Z]\w+)(?:\s+final)?\s*(?::[^;{]*)?\{|\busing\s+([A-Z]\w+)\s*=')
DECLARED = re.compile(r'\b(?:class|struct|union|enum(?:\s+class)?)\s+([A-Z]\w+)\s*;')
PARAMETER = re.compile(r'\b(?:class|typename)(?:\s*\.\.\.)?\s+([A-Z]\w*)\s*(?=[,>=])')
FUNCTION = re.compile(r'^(?!return\b|else\b|using\b|namespace\b)[\w:<>,&* ]*[\w>&*] [&*]?(\w+)\(', re.MULTILINE)
CALL = re.compile(r'(?<![\w.:>~])([a-z]\w+)\(')
TYPE = re.compile(r'(?<![\w.>])([A-Z]\w+)\b')
STD = re.compile(r'\bstd::(\w+)')


class Header:
    def __init__(self, path, name):
        text = path.read_text()
        self.name = name
        self.includes = [include for _, include in INCLUDE.findall(text)]
        code = TOKENS.sub(' ', INCLUDE.sub('', text))
        self.defines = {a or b for a, b in DEFINED.findall(code)}
        self.declares = set(DECLARED.findall(code))
        self.parameters = set(PARAMETER.findall(code))
        self.uses = set(TYPE.findall(code))
        self.functions = set(FUNCTION.findall(code)) - {'bool'}        # `operator bool()`
        self.calls = set(CALL.findall(code))
        # Also functions of a class of its own, and variables: a call of one of these needs no other header.
        self.members = set(re.findall(r'(?<!return)(?<!else)(?<!throw)(?<=[\w>&*]) [&*]?(\w+)[({ ]', code))
        self.standard = set(STD.findall(code))


def read_headers(root, folders):
    """All headers of the folders by the names that they are included by."""
    found = {}
    for folder, base in folders:
        for path in sorted([*Path(root, folder).rglob('*.h'), *Path(root, folder).rglob('*.hpp')]):
            name = path.relative_to(Path(root, base)).as_posix()
            found[name] = Header(path, name)
    return found


def closure(headers, name):
    """What a header brings: the project's headers and the others', by their names."""
    own, others, waiting = set(), set(), [name]
    while waiting:
        one = waiting.pop()
        if one in own or one in others:
            continue
        if one in headers:
            own.add(one)
            waiting += headers[one].includes
        else:
            others.add(one)
            waiting += BRINGS.get(one, ())
    return own, others


def missing(headers):
    """What each header uses and nothing that it includes provides: its name, and a sentence each."""
    homes, functions = {}, {}
    for one in headers.values():
        for defined in one.defines:
            homes.setdefault(defined, set()).add(one.name)
        for declared in one.functions - {'sizeof', 'decltype', 'size_t'}:
            functions.setdefault(declared, set()).add(one.name)
    for name in headers:
        yield name, list(missing_in(headers, name, homes, functions))


def missing_in(headers, name, homes, functions):
    header = headers[name]
    own, others = closure(headers, name)
    for used in sorted(header.uses - header.defines - header.declares - header.parameters):
        declared = any(used in headers[one].declares for one in own)
        if used in homes and not homes[used] & own and not declared:
            yield f'{used}, which {" or ".join(sorted(homes[used]))} defines'
    for used in sorted(header.calls):
        # A name that several declare is most likely a member's.
        if len(functions.get(used, ())) == 1 and not functions[used] & own and used not in header.members:
            yield f'{used}(), which {" or ".join(functions[used])} declares'
    for used in sorted(header.standard):
        if used not in PROMISED:
            yield f'std::{used}, which tests/headers/names.py does not know'
        elif PROMISED[used] not in others:
            yield f'std::{used}, which <{PROMISED[used]}> has'
