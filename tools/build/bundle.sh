# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by tools/build/test.sh: packs the tests that need a GPU, for a machine that has one and builds nothing.

# The parts with cases marked by on_gpu(); each part is a program.
gpu_parts() { (cd "$root/tests" && grep -l 'on_gpu()' ./*/*.cpp | cut -d/ -f2 | grep -v '^support$' | sort -u | tr '\n' ' '); }

# A Python from 3.12 on, with headers: later versions load the extension, too.
stable_python() {
    for python in "${NACELLE_BUNDLE_PYTHON:-}" "$package_python" python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9].*/bin/python3; do
        if [ -n "$python" ] && "$python" -I -c 'import os, sys, sysconfig
raise SystemExit(sys.version_info < (3, 12) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null; then
            command -v "$python" && return
        fi
    done
}

# Builds the extension for the Python $1 and prints the path, in a second folder: $root/build has the extension for the
# tests' Python. The second folder borrows nanobind from there, and distutils: Meson 1.2 and older imports distutils, and
# Python 3.12 has dropped the module.
stable_extension() {
    folder=$root/build-binding
    borrowed=$("$package_python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    mkdir -p "$folder/borrowed"
    ln -sfn "$borrowed/nanobind" "$folder/borrowed/nanobind"
    ln -sfn "$borrowed/setuptools/_distutils" "$folder/borrowed/distutils"
    (
        package_python=''
        PYTHONPATH=$folder/borrowed
        export PYTHONPATH
        build "$folder" python/_engine.abi3.so -Dtests=false "-Dpython=$1"
    ) >&2 && echo "$folder/python/_engine.abi3.so"
}

bundle_command() {
    case ${1:-} in '' | -*) test_usage >&2 && exit 2 ;; esac
    [ $# -eq 1 ] || { test_usage >&2 && exit 2; }
    . "$root/tools/build/setup.sh"
    (with_torch "$root/build") || say 'the bundle has no learners on LibTorch'
    package_python=$(test_python)
    parts=$(gpu_parts)
    build "$root/build" build.ninja || exit 1
    # shellcheck disable=SC2086 # names are words
    targets=$(run_tests --targets "$root/build" $parts) || exit 1
    build "$root/build" "$targets product" || exit 1
    binding=''
    if [ -n "$package_python" ]; then
        python=$(stable_python)
        case $python in
            '')
                say "no Python from 3.12 on with headers is here, so that only the version of $package_python loads the extension; NACELLE_BUNDLE_PYTHON names a Python"
                python=$package_python ;;
        esac
        if [ "$python" != "$package_python" ]; then
            binding=$(stable_extension "$python") || exit 1
        else
            extension=python/_engine$("$python" -I -c 'import sys, sysconfig; print(".abi3.so" if sys.version_info >= (3, 12) else sysconfig.get_config_var("EXT_SUFFIX"))')
            build "$root/build" "$extension" || exit 1
            binding=$root/build/$extension
        fi
    fi
    # shellcheck disable=SC2086
    python3 -I -B "$root/tools/build/bundle.py" "$root" "$root/build" "$1" "$binding" $parts
}
