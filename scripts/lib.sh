# Sourced by scripts/run, scripts/test, scripts/check and scripts/lock, from the checkout's folder.

# find_python: sets PYTHON to an interpreter that LoCAL2 can use, or explains what is missing.
find_python() {
    found=''
    for candidate in ${LOCAL2_PYTHON:+"$LOCAL2_PYTHON"} python3.13 python3.12 python3.11 python3 python; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        found="$found $candidate is $version;"
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
                PYTHON=$candidate
                return 0
            fi
            found="$found but it lacks venv (Debian and Ubuntu: apt-get install python3-venv);"
        fi
    done
    echo "LoCAL2 needs Python 3.11 or newer.${found:+ Found:$found}" >&2
    echo "Install one (https://www.python.org, or your system's packages), then run this again." >&2
    echo "One that is not on the PATH can be named: LOCAL2_PYTHON=/path/to/python $0" >&2
    return 1
}
