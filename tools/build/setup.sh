# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by build.sh when a build folder is configured: finds or installs what the build needs.

python_folder=$data_folder/python

# step TITLE COMMAND...: one line with the time it took; the command's output only where it fails.
step() {
    title=$1 began=$(date +%s)
    shift
    printf 'nacelle: %s ... ' "$title" >&2
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        printf '%s s\n' "$(($(date +%s) - began))" >&2
        rm -f "$log"
    else
        printf 'failed\n' >&2
        cat "$log" >&2
        rm -f "$log"
        exit 1
    fi
}

has_command() { command -v "$1" >/dev/null 2>&1; }

compiler() {
    if [ -n "${CXX:-}" ]; then
        echo "$CXX"
    else
        for name in c++ g++ clang++; do
            ! has_command $name || { echo $name && return; }
        done
    fi
}

has_header() {
    # shellcheck disable=SC2046 # CXX may carry arguments
    printf '#include <%s>\n' "$1" | $(compiler) -std=c++20 -E -x c++ - >/dev/null 2>&1
}

# The Debian packages for whatever is missing, each behind the file or command that shows it.
missing_packages() {
    [ -n "$(compiler)" ] || echo g++
    has_command meson || echo meson
    has_command ninja || has_command ninja-build || echo ninja-build
    has_command pkg-config || has_command pkgconf || echo pkg-config
    has_header boost/version.hpp || echo libboost-dev
    has_header nlohmann/json.hpp || echo nlohmann-json3-dev
    has_header doctest/doctest.h || echo doctest-dev
    has_header CLI/CLI.hpp || echo libcli11-dev
    has_header zlib.h || echo zlib1g-dev
    has_header minizip/zip.h || echo libminizip-dev
    has_header agg2/agg_basics.h || echo libagg-dev
    has_header png.h || echo libpng-dev
    has_header gif_lib.h || echo libgif-dev
    if needs_python && ! python3 -I -c 'import ensurepip, venv' 2>/dev/null; then echo python3-venv; fi
}

# Whether apt-get can install here without a question; `as_root` is then what stands before it.
may_install() {
    as_root=''
    if [ "$(id -u)" != 0 ]; then
        has_command sudo && sudo -n true 2>/dev/null || return 1
        as_root='sudo -n'
    fi
    has_command apt-get
}

install_packages() {
    packages=$(missing_packages | tr '\n' ' ')
    packages=${packages% }
    [ -n "$packages" ] || return 0
    # The page's charts. It is no reason to stop, or to need a network, where all else is there.
    [ -f /usr/share/javascript/chart.js/chart.min.js ] || packages="$packages libjs-chart.js"
    if ! may_install; then
        say 'some packages are missing. On Debian and Ubuntu, run this, then try again:'
        echo "sudo apt-get update && sudo apt-get install -y $packages" >&2
        exit 1
    fi
    apt_install "$packages"
}

# What tests of the documentation's Python need: Meson runs them with the system's own. It is no reason to stop: without it
# they are skipped.
install_test_packages() {
    ! /usr/bin/python3 -I -c 'import numpy' 2>/dev/null || return 0
    if may_install && (apt_install python3-numpy); then return; fi
    say 'python3-numpy is missing: the tests that need it are skipped'
}

# What the tests of the Python package and of exported policies need: an environment of its own, the product's build
# does without. Where it cannot be had, the tests say that they are skipped.
test_python_folder=$data_folder/test-python

make_test_python() {
    python3 -I -m venv --clear "$test_python_folder" &&
        install_locked "$test_python_folder/bin/python" "$1" --retries 1 --timeout 15 &&
        cp "$locks/$1.txt" "$test_python_folder/lock.txt"
}

has_python_headers() {
    python3 -I -c 'import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
}

# Prints the Python that has all of it, or nothing.
test_python() {
    if ! python3 -I -c 'import ensurepip, venv' 2>/dev/null || ! has_python_headers; then
        if ! may_install || ! (apt_install 'python3-venv python3-dev') || ! has_python_headers; then
            say 'python3-venv and python3-dev are missing: tests in Python are skipped'
            return 0
        fi
    fi
    lock_data "$test_python_folder"
    lock=tests-$(python3 -I -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if ! cmp -s "$locks/$lock.txt" "$test_python_folder/lock.txt" &&
        ! (step "making a Python environment in $test_python_folder" make_test_python "$lock"); then
        say "PyPI gave not all packages of tools/build/locks/$lock.txt: tests that need them are skipped"
        rm -rf "$test_python_folder"
    else
        echo "$test_python_folder/bin/python"
    fi
    exec 8>&-
}

# apt_install "PACKAGES"
apt_install() {
    packages=$1
    # shellcheck disable=SC2086 # as_root and packages are lists of words
    step 'updating the list of packages' $as_root apt-get -o DPkg::Lock::Timeout=300 update -q
    # shellcheck disable=SC2086
    step "installing $packages" $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends $packages
}

# --- what comes from PyPI, into an environment of its own outside the repository ---

old_meson() {
    has_command meson || return 1
    case $(meson --version 2>/dev/null) in 0.*) return 0 ;; *) return 1 ;; esac
}

meson_command() { if old_meson; then echo "$python_folder/bin/meson"; else echo meson; fi; }
run_meson() { (cd -- "$root" && privately "$(meson_command)" "$@") 9<&-; }

# The folder of a CUDA toolkit that this machine has.
toolkit() {
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda /usr/lib/cuda /usr; do
        if [ -n "$folder" ] && [ -f "$folder/include/cuda.h" ] && [ -f "$folder/include/nvrtc.h" ]; then
            echo "$folder" && return
        fi
    done
}

needs_python() { [ "${wants_python:-}" = yes ] || old_meson || [ -z "$(toolkit)" ]; }

# install_locked PYTHON LIST [options of pip]: installs wheels of PyPI, with the versions and hashes of a list in tools/build/locks.
locks=$root/tools/build/locks
install_locked() {
    installer=$1 lock=$2
    shift 2
    "$installer" -I -m pip install --disable-pip-version-check "$@" -r "$locks/$lock.txt"
}

# Whether this machine has a GPU, also one that runs Windows around it.
has_gpu() { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }

# install_wheels CHECK FOLDER FILL NAME TEXT: unless CHECK says that it is there, has FILL put a wheel of PyPI into a folder. That
# one gets its name last: a folder that holds half of it would be taken for one that holds it.
install_wheels() {
    ! "$1" || return 0
    wants_python=yes
    install_packages
    install_python
    lock_data "$2"
    if ! "$1"; then    # nobody else has installed it meanwhile
        say "installing $4 from PyPI: $5 in $2"
        began=$(date +%s)
        rm -rf "$2.part"
        if ! "$3" "$2.part" >&2; then
            rm -rf "$2.part"
            say "${4%% *} could not be installed"
            exec 8>&-
            return 1
        fi
        rm -rf "$2"
        mv "$2.part" "$2"
        say "installed in $(($(date +%s) - began)) s"
    fi
    exec 8>&-    # or the command that runs next would hold it
}

# A driver loads what was made for its own major version of CUDA, or an older one.
has_driver_12() { case $(nvidia-smi 2>/dev/null || :) in *'CUDA Version: 12.'*) ;; *) return 1 ;; esac; }

install_python() {
    needs_python || return 0
    lock_data "$python_folder"
    [ -x "$python_folder/bin/pip" ] || step "making a Python environment in $python_folder" python3 -I -m venv --clear "$python_folder"
    if old_meson && [ ! -x "$python_folder/bin/meson" ]; then
        step 'installing Meson from PyPI' install_locked "$python_folder/bin/python" meson
    fi
    if [ -z "$(toolkit)" ] && [ -z "$(wheel_folders 'include/nvrtc.h')" ]; then
        if has_driver_12; then cuda=cuda12; else cuda=cuda13; fi
        step 'installing NVRTC and the headers of CUDA from PyPI' install_locked "$python_folder/bin/python" $cuda
    fi
    exec 8>&-
}

# The folders, joined by colons, of the installed wheels' files that match: include/cuda.h, lib/libnvrtc.so*.
wheel_folders() {
    joined=''
    # shellcheck disable=SC2231 # the argument is a pattern
    for path in "$python_folder"/lib/python3*/site-packages/nvidia/*/$1; do
        folder=${path%/*}
        case ":$joined:" in
            *":$folder:"*) ;;
            *) [ ! -f "$path" ] || joined=$joined${joined:+:}$folder ;;
        esac
    done
    echo "$joined"
}

# The folders, joined by colons, that have the headers of CUDA.
cuda_headers() {
    found=$(toolkit)
    if [ -n "$found" ]; then echo "$found/include"; else echo "$(wheel_folders include/cuda.h):$(wheel_folders include/nvrtc.h)"; fi
}

# configure FOLDER [meson options]
configure() {
    folder=$1
    shift
    install_packages
    install_python
    found=$(toolkit)
    if [ -n "$found" ]; then libraries=$found/lib64:$found/lib; else libraries=$(wheel_folders 'lib/libnvrtc.so*'); fi
    wipe=''
    [ ! -f "$folder/meson-private/coredata.dat" ] || wipe=--wipe
    # shellcheck disable=SC2086 # empty or one word
    step "configuring ${folder##*/}" run_meson setup $wipe "$folder" "$root" \
        -Dtoolkit_headers="$(cuda_headers)" -Dnvrtc_paths="$libraries" -Dpython= "$@"
    # For editors: the database covers the environments too.
    if [ "$folder" = "$root/build" ]; then ln -sf build/env_sources/compile_commands.json "$root/compile_commands.json"; fi
}
