# shellcheck shell=sh disable=SC2154 # variables are shared with the files that source this one
# Sourced by tools/nacelle: installs the build.

install_usage() {
    cat <<'END'
usage: tools/nacelle install [FOLDER]

Builds what changed and installs it below a folder, /usr/local unless one is named, by `meson install`.
A folder of your own needs no root: tools/nacelle install ~/.local
The installed tree may be moved. `ninja -C build uninstall` removes it from where it was installed.
END
}

# The folder itself, or the one nearest to it that is there.
nearest_folder() {
    near=$1
    while [ ! -e "$near" ]; do near=${near%/*} near=${near:-/}; done
    echo "$near"
}

install_command() {
    case ${1:-} in
        -h | --help) install_usage && return ;;
        -*) install_usage >&2 && exit 2 ;;
    esac
    [ $# -le 1 ] || { install_usage >&2 && exit 2; }
    prefix=${1:-/usr/local}
    case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
    near=$(nearest_folder "${DESTDIR:-}$prefix")
    if [ ! -d "$near" ] || [ ! -w "$near" ]; then
        say "$prefix cannot be written: $near is no folder of yours; name one that is: tools/nacelle install ~/.local"
        exit 1
    fi
    build "$root/build" build.ninja || exit 1
    . "$root/tools/build/setup.sh"
    step "setting the folder to $prefix" run_meson configure "$root/build" -Dprefix="$prefix"
    build "$root/build" product || exit 1
    step "installing into $prefix" "$(meson_command)" install -C "$root/build" --no-rebuild
    # So that the loader finds libnacelle.so in a folder of the system's.
    if [ "$(id -u)" = 0 ] && [ -z "${DESTDIR:-}" ] && has_command ldconfig; then ldconfig; fi
    say "$prefix/bin/nacelle is there; 'ninja -C $root/build uninstall' removes it"
    case ":$PATH:" in *":$prefix/bin:"*) ;; *) say "$prefix/bin is not on PATH" ;; esac
}
