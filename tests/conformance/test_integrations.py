"""What is run by CI services: the scripts in their files, run here as they would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conformance.helpers import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "docs/ci/perdure.gitlab-ci.yml").read_text("utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
EXPRESSION = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")
QUICK = "--only JRN-007 --depth quick"


def environment(folder: Path) -> dict[str, str]:
    """The environment, with `perdure` and `python` as they are here."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, words in {"python": "", "perdure": "-m perdure_conformance "}.items():
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        tool.chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def run_action(folder: Path, tools: Path | None = None, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Run the step that checks, with inputs, as the service fills them in."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    values = {name: given["default"] for name, given in ACTION["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    files = {name: folder / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for path in files.values():
        path.write_text("")
    variables = {name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in step["env"].items()}
    variables_here = environment(folder) if tools is None else {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**variables_here, **variables, **{name: str(path) for name, path in files.items()}},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr, {name: path.read_text() for name, path in files.items()}


def test_no_input_of_the_action_is_text_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    (check,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    named = {found for text in check["env"].values() for found in EXPRESSION.findall(text)}
    assert named | {"working-directory"} == set(ACTION["inputs"])


def test_the_action_gives_the_verdict_a_summary_and_annotations(tmp_path: Path) -> None:
    code, told, files = run_action(tmp_path, target="perdure_conformance.journal.mutants:KeepsTheLoser", depth="quick")
    assert code == 1
    assert "::error" in told
    assert "JRN-007" in files["GITHUB_STEP_SUMMARY"]
    assert files["GITHUB_OUTPUT"] == "outcome=not_conformant\n"


def test_no_input_of_the_action_is_taken_for_an_option(tmp_path: Path) -> None:
    code, told, files = run_action(tmp_path, profile="--help", target="memory")
    assert (code, files["GITHUB_OUTPUT"]) == (2, "")
    assert "There is no profile '--help'" in told


def test_the_action_takes_known_failures(tmp_path: Path) -> None:
    (tmp_path / "known failures.yaml").write_text("- {requirement: JRN-002, reason: it is known}\n")
    target = "perdure_conformance.journal.mutants:DropsNul"
    code, _, files = run_action(tmp_path, target=target, depth="quick", expected_failures="known failures.yaml")
    assert (code, files["GITHUB_OUTPUT"]) == (0, "outcome=as_expected\n")


def test_the_action_takes_a_command_with_its_words(tmp_path: Path) -> None:
    code, _, files = run_action(tmp_path, command=f"{sys.executable} -c \"print('no message')\"")
    assert (code, files["GITHUB_OUTPUT"]) == (3, "outcome=no_verdict\n")


def words_of(folder: Path, crash: str) -> tuple[int, list[str], int, list[str]]:
    """Run the action and the template with a `perdure` that keeps its words alone; return what each gives it."""
    tools, kept = folder / "tools", folder / "words"
    tools.mkdir(exist_ok=True)
    (tools / "perdure").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > words\n')
    (tools / "perdure").chmod(0o755)
    kept.write_text("")
    by_action, _, _ = run_action(folder, tools, target="memory", crash=crash)
    of_action = kept.read_text().splitlines()
    kept.write_text("")
    job = GITLAB[".perdure"]
    environ = {**os.environ, **job["variables"], "PERDURE_CRASH": crash, "PATH": f"{tools}:{os.environ['PATH']}"}
    script = "\n".join([job["before_script"][-1], *job["script"]])
    by_template = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environ, check=False)
    return by_action, of_action, by_template.returncode, kept.read_text().splitlines()


def test_the_action_and_the_template_judge_by_crashes_if_that_is_asked_for(tmp_path: Path) -> None:
    assert ACTION["inputs"]["crash"]["default"] == GITLAB[".perdure"]["variables"]["PERDURE_CRASH"] == "false"
    for crash, there in {"true": True, "false": False}.items():
        by_action, of_action, by_template, of_template = words_of(tmp_path, crash)
        assert (by_action, "--crash" in of_action) == (by_template, "--crash" in of_template) == (0, there)
        assert of_action[0] == of_template[0] == "check"
        assert of_action[-3:-1] == of_template[-2:] == ["--", "journal"]
    assert words_of(tmp_path, "yes") == (2, [], 2, [])


def test_the_action_tells_nothing_of_an_earlier_check(tmp_path: Path) -> None:
    (tmp_path / "perdure-report").mkdir()
    (tmp_path / "perdure-report" / "report.json").write_text('{"outcome": "conformant"}')
    code, _, files = run_action(tmp_path, target="oracle")
    assert (code, files["GITHUB_OUTPUT"], files["GITHUB_STEP_SUMMARY"]) == (2, "", "")


def test_where_nothing_is_named_nothing_is_judged(tmp_path: Path) -> None:
    code, told, files = run_action(tmp_path, depth="quick")
    assert (code, files["GITHUB_OUTPUT"]) == (2, "")
    assert "what is to be judged" in told
    job = GITLAB[".perdure"]
    (line,) = [line for line in job["before_script"] if "PERDURE_TARGET" in line]
    for named, code in ({}, 1), ({"PERDURE_TARGET": "memory"}, 0), ({"PERDURE_COMMAND": "./adapter"}, 0):
        environ = {**os.environ, **job["variables"], **named}
        done = subprocess.run(["bash", "-ec", line], env=environ, capture_output=True, text=True, check=False)
        assert min(done.returncode, 1) == code
        assert ("Say what to judge" in done.stderr) == bool(code)


def test_nothing_in_an_input_can_run(tmp_path: Path) -> None:
    code, _, _ = run_action(tmp_path, target='$(touch ran)"; touch ran; "', report="`touch ran`")
    assert code == 2
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("target", ["memory", "perdure_conformance.journal.mutants:KeepsTheLoser"])
def test_the_template_for_gitlab_gives_the_verdict_and_keeps_a_report_of_tests(tmp_path: Path, target: str) -> None:
    job = GITLAB[".perdure"]
    variables = job["variables"] | {"PERDURE_TARGET": target, "PERDURE_OPTIONS": QUICK}
    (line,) = job["script"]
    assert variables["PERDURE_PACKAGE"] == ""
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", line], cwd=tmp_path, env={**environment(tmp_path), **variables}, check=False
    )
    assert done.returncode == (0 if target == "memory" else 1)
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).is_file()


def test_the_hook_lints_what_it_is_given(tmp_path: Path) -> None:
    (hook,) = HOOKS
    pattern = re.compile(hook["files"])
    assert pattern.search("deploy/workflows/nightly.yaml")
    assert not pattern.search("docs/workflows.md")
    assert re.search(hook["exclude"], ".github/workflows/ci.yml")
    assert not re.search(hook["exclude"], "deploy/workflows/nightly.yaml")
    broken = ROOT / "docs/examples/broken.yaml"
    done = subprocess.run(
        [*hook["entry"].split(), str(broken)], cwd=tmp_path, env=environment(tmp_path), capture_output=True, check=False
    )
    assert done.returncode == 1
