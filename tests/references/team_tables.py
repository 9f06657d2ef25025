"""How the references of teams write their numbers down (see README.md)."""
import json
import struct
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def float32(x):
    """The float64 of the float32 nearest to x."""
    return struct.unpack("f", struct.pack("f", x))[0]


def short(x):
    """The same of x in four decimals, which is short to write."""
    return float32(round(x, 4))


def plain(text):
    """The number of a decimal text, without the .0 of a whole one."""
    x = float(text)
    return int(x) if x == int(x) else x


def exact(x):
    """The shortest decimal that gives the same float32."""
    for count in range(1, 10):
        text = f"{x:.{count}g}"
        if float32(float(text)) == float32(x):
            return plain(text)
    raise ValueError(x)


def digits(x, count=7):
    return plain(f"{x:.{count}g}")


def rows(numbers, count=6):
    """Rows of observations; what is None is not compared."""
    return [None if row is None else [digits(x, count) for x in row] for row in numbers]


def brief(value):
    """One number for a list of nothing but that number."""
    same = isinstance(value, list) and len(value) > 1 and not isinstance(value[0], list)
    return value[0] if same and all(v == value[0] for v in value) else value


class Columns(dict):
    """Lists under the engine's names of arrays, one entry per environment or step."""

    def add(self, **columns):
        for name, value in columns.items():
            self.add_named({name.replace("__", "."): value})

    def add_named(self, columns):
        for name, value in columns.items():
            self.setdefault(name, []).append(brief(value))


def text(value, indent=""):
    """JSON with one column per line."""
    if isinstance(value, dict):
        lines = [f"{indent}  {json.dumps(k)}: {text(v, indent + '  ')}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[" + ", ".join(text(v, indent) for v in value) + "]"
    return json.dumps(value, separators=(",", ":"))


def write(name, script, cases):
    path = FOLDER / f"{name}.json"
    table = {"environment": name, "script": Path(script).name, "cases": cases}
    path.write_text(text(table) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes, {len(cases)} cases")
