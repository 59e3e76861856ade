"""`render` of charts and kustomizations, as a worker renders them: the same programs, the same order of values."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.unit.cli.running import run
from tests.unit.cli.test_validate import HEAD, written
from tests.unit.render.charts import CHART
from tests.unit.render.rig import needs_program
from tests.unit.sources.archives import packed_files

TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  from: {{ .Values.from | quote }}
  kept: {{ .Values.kept | quote }}
"""
HELM = HEAD.replace(
    "{manifests: {}}",
    """
    path: chart
    helm:
      namespace: shop
      values: {from: values}
      valuesFrom: [{configMapRef: {name: more}, key: values.yaml}]""",
)
MORE = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: more, namespace: team}
data:
  values.yaml: "{from: configmap, kept: configmap}"
"""


@pytest.fixture(autouse=True)
def _programs() -> None:
    needs_program("helm")
    needs_program("kustomize")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a chart, and a kustomization over a file."""
    files = {
        "chart/Chart.yaml": CHART,
        "chart/values.yaml": "from: chart\nkept: chart\n",
        "chart/templates/a.yaml": TEMPLATE,
        "base/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        "kustomized/kustomization.yaml": "resources: [../base/a.yaml]\n",
        "overlay/kustomization.yaml": "resources: [../base]\nnamePrefix: x-\nnamespace: shop\n",
        "base/kustomization.yaml": "resources: [a.yaml]\n",
    }
    for name, text in files.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


GIT = "  source: {git: {url: 'https://git.example.org/a.git'}}\n"


def test_a_chart_with_its_values_in_their_order(tmp_path: Path, checkout: Path) -> None:
    release = written(tmp_path, HELM + "\n" + GIT + MORE)
    (found,) = yaml.safe_load_all(run("render", "-f", release, "--source", checkout))
    assert found["metadata"] == {"name": "shop", "namespace": "shop"}
    assert found["data"] == {"from": "values", "kept": "configmap"}


def test_a_chart_with_a_packed_one_in_it(tmp_path: Path, checkout: Path) -> None:
    below = {
        "dep/Chart.yaml": CHART.replace("shop", "dep"),
        "dep/templates/b.yaml": TEMPLATE.replace("}}", "}}-dep", 1),
    }
    packed = checkout / "chart" / "charts" / "dep-1.2.3.tgz"
    packed.parent.mkdir()
    packed.write_bytes(packed_files(below))
    (checkout / "chart" / "Chart.yaml").write_text(CHART + "dependencies: [{name: dep, version: 1.2.3}]\n")
    release = written(tmp_path, HELM + "\n" + GIT + MORE)
    told = run("render", "-f", release, "--source", checkout, "-o", "name")
    assert sorted(told.splitlines()) == ["ConfigMap shop/shop", "ConfigMap shop/shop-dep"]


def test_hooks_of_a_chart_are_told_and_are_no_objects(tmp_path: Path, checkout: Path) -> None:
    hook = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}\n"
    (checkout / "chart" / "templates" / "hook.yaml").write_text(hook)
    release = written(tmp_path, HELM + "\n" + GIT + MORE)
    told = run("render", "-f", release, "--source", checkout, "-o", "name").splitlines()
    assert told[0] == "ConfigMap shop/shop"
    assert told[1].endswith(": Job.batch shop/migrate is a hook of the chart and no object of the Release")


def test_a_kustomization_over_a_base(tmp_path: Path, checkout: Path) -> None:
    release = written(tmp_path, HEAD.replace("{manifests: {}}", "{path: overlay, kustomize: {}}") + GIT)
    assert run("render", "-f", release, "--source", checkout, "-o", "name") == "ConfigMap shop/x-a\n"


def test_a_chart_that_does_not_render_is_one_line_that_names_its_template(
    tmp_path: Path, checkout: Path
) -> None:
    (checkout / "chart" / "templates" / "a.yaml").write_text('a: {{ fail "no" }}\n')
    release = written(tmp_path, HELM + "\n" + GIT + MORE)
    said = run("render", "-f", release, "--source", checkout, code=1)
    assert said.startswith("error: ")
    assert "templates/a.yaml:1:" in said
    assert str(checkout) not in said
    told = run("validate", "-f", release, "--source", checkout, code=1)
    assert told.startswith(f"{release}:13: ")
    assert "templates/a.yaml:1:" in told
