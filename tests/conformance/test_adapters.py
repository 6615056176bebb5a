"""The adapter kit: each skeleton is what it says, and passes unmodified, wherever its toolchain is.

`PERDURE_TOOLCHAINS=1`, as `.ci/full` sets it, judges at depth `normal` too, and lets a missing toolchain be a failure.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NoReturn, get_args

import pytest
from jsonschema import Draft202012Validator
from tests.conformance.helpers import perdure, perdure_here

from perdure_conformance import data
from perdure_conformance.adapters.new import LANGUAGES, LanguageName, NotWritten, skeleton, write
from perdure_conformance.requirements import requirements

ALL_TOOLCHAINS: Final = os.environ.get("PERDURE_TOOLCHAINS") == "1"
DEBIAN_CRATES: Final = Path("/usr/share/cargo/registry")
DEBIAN_GSON: Final = Path("/usr/share/java/gson.jar")
COMMENT: Final = re.compile(r'^ *(""".*?"""|/\*.*?\*/|//.*?|# .*?)$', re.DOTALL | re.MULTILINE)
MANIFESTS: Final = {".json", ".mod", ".toml"}
DEPTHS: Final = ("quick", "normal") if ALL_TOOLCHAINS else ("quick",)


def not_covered(why: str) -> NoReturn:
    if ALL_TOOLCHAINS:
        pytest.fail(why)
    pytest.skip(why)


def tool(name: str, of: str) -> str:
    found = shutil.which(name)
    return found if found is not None else not_covered(f"{name} is not installed: the skeleton in {of} is not covered")


def run(*words: str, cwd: Path) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_python(folder: Path) -> str:
    run(sys.executable, "-m", "mypy", "--strict", ".", cwd=folder)
    return LANGUAGES["python"].run


def build_typescript(folder: Path) -> str:
    version = run(tool("node", "TypeScript"), "--version", cwd=folder)
    major, minor = (int(number) for number in version.removeprefix("v").split(".")[:2])
    compiler = shutil.which("tsc")
    if compiler is not None and (packages := Path(compiler).resolve().parents[2] / "@types/node").is_dir():
        run(compiler, "--typeRoots", str(packages.parent), cwd=folder)
    elif ALL_TOOLCHAINS:
        not_covered("tsc and @types/node are not installed: the types of the skeleton in TypeScript are not covered")
    if (major, minor) >= (22, 18):
        return LANGUAGES["typescript"].run
    if not (folder / "build").is_dir():
        not_covered(f"Node.js {version.strip()} runs no TypeScript, and there is no tsc: that skeleton is not covered")
    return "node build/adapter.js"


def build_go(folder: Path) -> str:
    tool("go", "Go")
    assert run("gofmt", "-l", ".", cwd=folder) == ""
    run("go", "vet", ".", cwd=folder)
    run(*LANGUAGES["go"].build.split(), cwd=folder)
    return LANGUAGES["go"].run


def build_rust(folder: Path) -> str:
    cargo = tool("cargo", "Rust")
    if not all(list(DEBIAN_CRATES.glob(f"{name}-*")) for name in ("serde_derive", "serde_json")):
        not_covered("Debian's serde_derive and serde_json are not installed: the skeleton in Rust is not covered")
    if shutil.which("rustfmt") is not None:
        run("rustfmt", "--check", "--edition", "2021", "src/main.rs", cwd=folder)
    offline = ("--offline", "--config", "source.crates-io.replace-with='debian'")
    run(cargo, "build", "--release", *offline, "--config", f"source.debian.directory='{DEBIAN_CRATES}'", cwd=folder)
    return LANGUAGES["rust"].run


def build_java(folder: Path) -> str:
    compiler = tool("javac", "Java")
    if not DEBIAN_GSON.is_file():
        not_covered("libgoogle-gson-java is not installed: the skeleton in Java is not covered")
    (folder / "gson.jar").symlink_to(DEBIAN_GSON)
    sources = sorted(path.name for path in folder.glob("*.java"))
    run(compiler, "-Xlint:all", "-Werror", "-cp", "gson.jar", "-d", "build", *sources, cwd=folder)
    return LANGUAGES["java"].run


BUILD: Final = {
    "python": build_python,
    "typescript": build_typescript,
    "go": build_go,
    "rust": build_rust,
    "java": build_java,
}


@pytest.mark.parametrize("language", get_args(LanguageName))
def test_a_skeleton_passes_unmodified(language: LanguageName, tmp_path: Path) -> None:
    perdure("adapter", "new", "--lang", language, "--folder", ".", cwd=tmp_path)
    command = BUILD[language](tmp_path)
    for depth in DEPTHS:
        done = perdure("check", "journal", "--command", command, "--depth", depth, "--json", cwd=tmp_path)
        report = json.loads(done.stdout)
        assert done.returncode == 0, done.stdout
        assert report["level"] == "Workflow journal"
        assert {row["verdict"] for row in report["requirements"]} == {"pass", "not_claimed"}


@pytest.mark.parametrize("language", get_args(LanguageName))
def test_a_skeleton_is_complete_and_names_requirements_that_exist(language: LanguageName) -> None:
    folder = skeleton(language)
    junk = {"__pycache__", ".mypy_cache"}
    paths = [path for path in folder.rglob("*") if path.is_file() and not junk & set(path.parts)]
    assert {str(path.relative_to(folder)) for path in paths} == set(LANGUAGES[language].files)
    text = "".join(path.read_text("utf-8") for path in paths)
    named = set(re.findall(r"JRN-\d{3}", text))
    assert named <= set(requirements())
    assert {f"JRN-{number:03}" for number in (3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 17, 21, 22, 26)} <= named
    assert LANGUAGES[language].run.split()[-1] in text.replace("build/adapter.js", "")
    assert all(words in text for words in LANGUAGES[language].build.split(" && "))


@pytest.mark.parametrize("language", get_args(LanguageName))
def test_a_skeleton_has_at_most_120_lines_of_code(language: LanguageName) -> None:
    paths = [skeleton(language) / name for name in LANGUAGES[language].files]
    text = "\n".join(path.read_text("utf-8") for path in paths if path.suffix not in MANIFESTS)
    assert 50 <= sum(1 for line in COMMENT.sub("", text).splitlines() if line.strip()) <= 120


def test_a_skeleton_is_written_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/journal.go").write_text("mine", "utf-8")
    done = perdure_here("adapter", "new", "--lang", "go", "--folder", "there", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "perdure: there/journal.go is there already, and nothing was written. Name another folder with --folder.\n"
    )
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["journal.go"]
    (tmp_path / "file").write_text("", "utf-8")
    done = perdure_here("adapter", "new", "--lang", "go", "--folder", "file/below", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "file/below cannot be written to" in done.stderr


def test_a_skeleton_is_written_into_its_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/src").symlink_to("../outside")
    done = perdure_here("adapter", "new", "--lang", "rust", "--folder", "linked", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "perdure: linked/src is a link, which is not followed, and nothing was written. "
        "Name another folder with --folder.\n"
    )
    assert [path.name for path in (tmp_path / "linked").iterdir()] == ["src"]
    (tmp_path / "link").symlink_to("outside")
    assert perdure_here("adapter", "new", "--lang", "rust", "--folder", "link/", cwd=tmp_path).returncode == 0
    assert (tmp_path / "outside/src/main.rs").is_file()


def test_no_half_of_a_skeleton_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/src").write_text("mine", "utf-8")
    done = perdure_here("adapter", "new", "--lang", "rust", "--folder", "there", cwd=tmp_path)
    assert done.returncode == 2
    assert "there/src is no folder, and nothing was written." in done.stderr
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["src"]


def test_what_was_written_before_a_failure_is_removed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    smallest = (skeleton("rust") / "Cargo.toml").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (smallest, limits[1]))
    try:
        with pytest.raises(NotWritten, match="File too large"):
            write("rust", tmp_path / "mine/new/below")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("a" * 5_000, f"{'a' * 200}… (4,800 more characters are left out) cannot be written to: File name too long."),
        ("a\nNext:", r"'a\nNext:' has a control character in it."),
        ("\x1b[2Ja", r"'\x1b[2Ja' has a control character in it."),
    ],
    ids=["too long", "a line feed", "an escape"],
)
def test_a_name_that_no_folder_should_have_is_refused_in_one_sentence(folder: str, said: str, tmp_path: Path) -> None:
    done = perdure_here("adapter", "new", "--lang", "go", "--folder", folder, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"perdure: {said} Name another folder with --folder.\n"
    assert list(tmp_path.iterdir()) == []


def test_what_comes_next_is_said(tmp_path: Path) -> None:
    done = perdure_here("adapter", "new", "--lang", "go", "--folder", "my folder", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith(
        "\nNext:\n  cd 'my folder' && go build -o adapter .\n  perdure adapter smoke --command ./adapter\n"
    )
    done = perdure_here("adapter", "new", "--lang", "python", "--folder=-rf", cwd=tmp_path)
    assert "\n  cd ./-rf\n" in done.stdout
    told = json.loads(perdure_here("adapter", "new", "--lang", "java", "--folder", "a", "--json", cwd=tmp_path).stdout)
    schema = Draft202012Validator(json.loads((data.schemas() / "skeleton-1.json").read_text("utf-8")))
    schema.validate(told)
    assert not schema.is_valid({**told, "language": "cobol"})
    assert not schema.is_valid({**told, "files": []})
    assert told["files"] == ["a/Adapter.java", "a/FileJournal.java"]
    assert told["command"] == "java -cp build:gson.jar Adapter"
    assert told["next"] == [
        "cd a && javac -cp gson.jar -d build *.java",
        "perdure adapter smoke --command 'java -cp build:gson.jar Adapter'",
    ]


def test_help_has_examples_and_exit_codes(tmp_path: Path) -> None:
    assert "new" in perdure_here("adapter", "--help", cwd=tmp_path).stdout
    for command in ("new", "smoke", "transcript"):
        shown = perdure_here("adapter", command, "--help", cwd=tmp_path).stdout
        assert "Examples:" in shown
        assert "Exit codes:" in shown
