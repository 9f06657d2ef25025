"""Lays the package out in a build folder by links, so that tests import it without an installation:
tree.py SOURCE BUILD FOLDER STAMP DEPFILE. The tree is laid out anew where a module is added or taken away."""
import shutil
import sys
from pathlib import Path


def lay(source, build, folder):
    package = folder / "nacelle"
    shutil.rmtree(package, ignore_errors=True)
    (package / "plugins").mkdir(parents=True)
    (package / "bin").mkdir()
    links = {path.name: path for path in (source / "python" / "nacelle").iterdir() if path.name != "__pycache__"}
    links |= {path.name: path for path in (build / "python").glob("_engine*.so")}
    links |= {f"plugins/{path.name}": path for name in ("algorithms", "plugins") for path in (build / name).glob("*.so")}
    links |= {"env_sources": source / "env_sources", "bin/nacelle": build / "tools" / "nacelle"}
    for name, target in links.items():
        (package / name).symlink_to(target)


lay(*(Path(name).resolve() for name in sys.argv[1:4]))
stamp, depfile = map(Path, sys.argv[4:6])
stamp.touch()
depfile.write_text(f"{stamp}: {Path(sys.argv[1]).resolve() / 'python' / 'nacelle'}\n")
