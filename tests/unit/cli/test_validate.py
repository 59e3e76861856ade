"""`validate` names the file and the line of everything that is wrong, without a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.unit.cli.running import run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
HEAD = """\
apiVersion: convoy.kumodo.io/v1alpha1
kind: Release
metadata: {name: shop, namespace: team}
spec:
  clusterRef: {name: here}
  content: {manifests: {}}
"""


def written(folder: Path, text: str, name: str = "release.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def inline(**files: str) -> str:
    lines = "".join(
        f"        {name}.yaml: |\n{indent(dedent(text), ' ' * 10)}" for name, text in files.items()
    )
    return f"{HEAD}  source:\n    inline:\n      files:\n{lines}"


@pytest.mark.parametrize("example", ["shop-inline", "shop-git"])
def test_what_is_right_has_no_problems(example: str) -> None:
    told = run("validate", "-f", EXAMPLES / example)
    assert told.endswith("1 Release, 1 Cluster: no problems\n")


def test_a_field_that_there_is_not(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "  source: {inline: {files: {}}}\n  sincePolicy: {}\n")
    assert f"{path}:8: spec.sincePolicy: there is no such field\n" in run("validate", "-f", path, code=1)


def test_a_value_that_is_refused(tmp_path: Path) -> None:
    text = HEAD + "  source: {inline: {files: {}}}\n  syncPolicy:\n    automatic: true\n    interval: often\n"
    path = written(tmp_path, text)
    told = run("validate", "-f", path, code=1)
    assert told.startswith(f"{path}:10: spec.syncPolicy.interval: 'often' is no duration")


def test_a_choice_that_was_not_made(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "  source: {}\n")
    assert run("validate", "-f", path, code=1).startswith(f"{path}:7: spec.source: exactly one of git, oci")


def test_yaml_that_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "  source: [\n")
    assert run("validate", "-f", path, code=1).startswith(f"{path}:")


def test_each_file_inside_a_release_tells_its_problem_at_its_line_of_the_file_around(tmp_path: Path) -> None:
    good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n"
    twice = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: '1', k: '2'}\n"
    nameless = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"
    path = written(tmp_path, inline(good=good, twice=twice, nameless=nameless))
    lines = path.read_text().splitlines()
    first, second = run("validate", "-f", path, code=1).splitlines()
    assert first.startswith(
        f"{path}:{lines.index('          data: {k: ' + repr('1') + ', k: ' + repr('2') + '}') + 1}: "
    )
    assert "'k'" in first
    assert "metadata.name" in second


def test_a_field_that_the_render_refuses_is_told_at_its_line(tmp_path: Path) -> None:
    text = inline(a="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    mutations = """\
    mutations:
      - merge: {metadata: {labels: {team: shop}}}
      - target: {kind: ConfigMap}
        patch: [{op: remove, path: /data/none}]
    """
    path = written(tmp_path, text + dedent(mutations))
    line = path.read_text().splitlines().index("  - target: {kind: ConfigMap}") + 1
    assert f"{path}:{line}: mutations[1] on ConfigMap default/a" in run("validate", "-f", path, code=1)

    nowhere = HEAD.replace("{manifests: {}}", "{path: gone, manifests: {}}")
    path = written(tmp_path, nowhere + "  source: {inline: {files: {}}}\n")
    assert f"{path}:6: spec.content.path: the source has no folder" in run("validate", "-f", path, code=1)


def test_an_object_that_is_there_twice(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    path = written(tmp_path, inline(one=text, two=text))
    told = run("validate", "-f", path, code=1)
    assert "ConfigMap default/a is in the render twice" in told
    assert told.count("\n") == 1


def test_a_checkout_is_checked_with_its_own_files_and_lines(tmp_path: Path) -> None:
    head = HEAD.replace("{manifests: {}}", "{path: deploy, manifests: {}}")
    path = written(tmp_path, head + "  source: {git: {url: 'https://git.example.org/a.git'}}\n")
    assert "no problems" in run("validate", "-f", path)
    deploy = tmp_path / "checkout" / "deploy"
    deploy.mkdir(parents=True)
    bad = written(deploy, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\n", "a.yaml")
    told = run("validate", "-f", path, "--source", tmp_path / "checkout", code=1)
    assert told.startswith(f"{bad}:5: ")


def test_problems_as_data(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "  source: {}\n")
    (problem,) = json.loads(run("validate", "-f", path, "-o", "json", code=1))["problems"]
    assert (problem["file"], problem["line"]) == (str(path), 7)


def test_stdin_and_folders(tmp_path: Path) -> None:
    assert run("validate", "-f", "-", text=HEAD + "  source: {}\n", code=1).startswith("stdin:7: ")
    written(tmp_path, HEAD + "  source: {}\n", "a.yml")
    written(tmp_path, "no manifest: [", "README.md")
    assert run("validate", "-f", tmp_path, code=1).startswith(f"{tmp_path}/a.yml:7: ")


def test_a_file_that_is_not_there_is_an_error_and_no_problem(tmp_path: Path) -> None:
    told = run("validate", "-f", tmp_path / "none.yaml", code=2)
    assert told == f"error: {tmp_path}/none.yaml: No such file or directory\n"
