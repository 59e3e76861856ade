"""D5: what a kustomization names lies in the source, and nothing in it runs code; the offending file is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from convoy.api.errors import Unsupported
from convoy.render.kustomize import kustomize_files
from tests.unit.render.rig import CONFIG_MAP, Rig, needs_program

OK = {"cm.yaml": CONFIG_MAP % "a"}
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "a base on GitHub": (
        {"app/kustomization.yaml": "resources: [github.com/a/b]"},
        "'github.com/a/b' is remote",
    ),
    "a base by URL": ({"app/kustomization.yaml": "resources: ['https://e.org/a?ref=1']"}, "is remote"),
    "a base by ssh": ({"app/kustomization.yaml": "bases: ['git@e.org:a/b']"}, "is remote"),
    "a component by URL": ({"app/kustomization.yaml": "components: ['ssh://e.org/a']"}, "is remote"),
    "a base of a base": (
        {
            "app/kustomization.yaml": "resources: [../base]",
            "base/kustomization.yaml": "resources: ['https://e.org/a']",
        },
        "base/kustomization.yaml: resources: 'https://e.org/a' is remote",
    ),
    "a patch by URL": ({"app/kustomization.yaml": "patches: [{path: 'http://e.org/p'}]"}, "patches: "),
    "a generated file by URL": (
        {"app/kustomization.yaml": "configMapGenerator: [{name: a, files: ['k=http://169.254.169.254/x']}]"},
        "configMapGenerator: 'http://169.254.169.254/x' is remote",
    ),
    "an absolute file": (
        {"app/kustomization.yaml": "secretGenerator: [{name: a, envs: [/etc/passwd]}]"},
        "'/etc/passwd' is an absolute path",
    ),
    "a base out of the source": (
        {"app/kustomization.yaml": "resources: [../../../outside]"},
        "'../../../outside' leads out of the source",
    ),
    "a missing file": ({"app/kustomization.yaml": "resources: [nope.yaml]"}, "the source has no 'nope.yaml'"),
    "a chart": ({"app/kustomization.yaml": "helmCharts: [{name: a}]"}, "helmCharts is not supported"),
    "a chart generator": (
        {
            "app/kustomization.yaml": "generators: [g.yaml]",
            "app/g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: a}\n",
        },
        "HelmChartInflationGenerator is not supported",
    ),
    "an exec plugin": (
        {
            "app/kustomization.yaml": "transformers: [t.yaml]",
            "app/t.yaml": "apiVersion: some.org/v1\nkind: Anything\nmetadata: {name: a}\n",
        },
        "transformers: Anything is a plugin",
    ),
    "a function": (
        {
            "app/kustomization.yaml": "generators:\n- |\n  apiVersion: builtin\n  kind: Anything\n"
            "  metadata:\n    name: a\n    annotations: {config.kubernetes.io/function: 'exec: {path: /bin/sh}'}\n",
        },
        "is a plugin",
    ),
    "a URL in a generator": (
        {
            "app/kustomization.yaml": "generators: [g.yaml]",
            "app/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: ['http://e.org']\n",
        },
        "is remote",
    ),
    "no kustomization": ({"app/x.yaml": ""}, "folder 'app' has no kustomization.yaml"),
    "two of them": (
        {"app/kustomization.yaml": "{}", "app/Kustomization": "{}"},
        "folder 'app' has more than one kustomization file",
    ),
    "broken YAML": ({"app/kustomization.yaml": "a: 1\nb: ["}, "app/kustomization.yaml, document 1, line 2"),
    "no mapping": (
        {"app/kustomization.yaml": "- a"},
        "app/kustomization.yaml, line 1: a mapping is expected",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_it_is_refused_by_name(rig: Rig, case: str) -> None:
    files, message = REFUSED[case]
    needs_program("kustomize")

    with pytest.raises(Unsupported) as caught:
        await rig.inline({**OK, **files}, path="app", kustomize={})

    assert message in caught.value.message
    assert str(rig.folder) not in caught.value.message


async def test_bases_and_patches_of_the_source_are_taken(rig: Rig) -> None:
    needs_program("kustomize")
    files = {
        "base/kustomization.yaml": "resources: [cm.yaml]\n",
        "base/cm.yaml": CONFIG_MAP % "a",
        "app/kustomization.yaml": """
resources: [../base]
namespace: shop
patches:
- path: p.yaml
  target: {kind: ConfigMap}
secretGenerator:
- {name: s, literals: [a=b], options: {disableNameSuffixHash: true}}
transformers:
- |
  apiVersion: builtin
  kind: PrefixTransformer
  metadata: {name: p}
  prefix: my-
  fieldSpecs: [{path: metadata/name}]
""",
        "app/p.yaml": "- {op: add, path: /data, value: {k: v}}\n",
    }

    render = await rig.inline(files, path="./app", kustomize={})

    assert sorted(str(each) for each in render.objects) == ["ConfigMap shop/my-a", "Secret shop/my-s"]


@pytest.mark.parametrize(
    "patch",
    [
        "- patch: |\n    data: {pw: hunter2}\n",
        "- target: {kind: Secret}\n  patch: |\n    - {op: nope, path: /data/pw, value: hunter2}\n",
        "- target: {kind: Secret}\n  patch: |\n    {kind: Secret, stringData: [hunter2]}\n",
        "- target: {kind: Secret}\n  patch: |\n    stringData:\n      pw: hunter2\n",
        "- target: {kind: Secret}\n  patch: |\n    stringData:\n      pw: 'a]`hunter2'\n",
        "- target: {kind: Secret}\n  patch: |\n    - op: nope\n      path: /data/pw\n      value: ']}hunter2'\n",
        "[]\nsecretGenerator: [{name: g, literals: ['pw:hunter2']}]\n",
        "[]\nsecretGenerator: [{name: g, literals: ['a, expected b', 'pw:hunter2, expected']}]\n",
        "[]\nsecretGenerator: [{name: g, literals: [hunter2]}]\n",
        "[]\nsecretGenerator: [{name: g, literals: ['a]: hunter2', '=hunter2']}]\n",
        "[]\nsecretGenerator: [{name: g, literals: [*hunter2]}]\n",
        "[]\nlabels: [{pairs: {a: b}, fields: [{path: stringData/pw, create: true}]}]\n",
        "[]\nsecretGenerator: [{name: g, envs: [a.env]}]\n",
        "[]\nsecretGenerator: [{name: g, files: ['=hunter2']}]\n",
    ],
)
async def test_a_failed_build_quotes_no_input(rig: Rig, patch: str) -> None:
    needs_program("kustomize")
    files = {
        "kustomization.yaml": f"resources: [s.yaml]\npatches:\n{patch}",
        "s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {pw: hunter2}\n",
        "a.env": "PW=first line\nhunter2 second line\n",
    }

    with pytest.raises(Unsupported) as caught:
        await rig.inline(files, kustomize={})

    assert "hunter2" not in caught.value.message
    assert str(rig.folder) not in caught.value.message


async def test_a_symlink_out_of_the_source_is_not_followed(rig: Rig, tmp_path: Path) -> None:
    needs_program("kustomize")
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "outside.yaml").write_text(CONFIG_MAP % "a")
    (source / "kustomization.yaml").write_text("resources: [in.yaml]\n")
    (source / "in.yaml").symlink_to("../outside.yaml")

    with pytest.raises(Unsupported, match=r"'in\.yaml' leads out of the source"):
        await kustomize_files(source, ".", kustomize="kustomize", home=tmp_path)
