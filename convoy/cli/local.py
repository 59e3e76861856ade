"""Commands without a cluster, for the CI of repositories with Releases: render and validate."""

from __future__ import annotations

from pathlib import Path

import click

from convoy.cli.arguments import OneOf, data_output
from convoy.cli.output import Data, ObjectFormat, note, print_tree, say

PROBLEMS = 1

_files = click.option(
    "--filename",
    "-f",
    "files",
    metavar="FILE",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="File, or folder with .yaml, .yml and .json files; - is stdin. Can be given several times.",
)
_source = click.option(
    "--source",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take the files of spec.source from this folder, such as a checkout, instead of fetching them.",
)


@click.command()
@_files
@_source
@click.option(
    "--output", "-o", type=OneOf(ObjectFormat), default="yaml", show_default=True, help="Output format."
)
def render(files: tuple[Path, ...], source: Path | None, output: ObjectFormat) -> None:
    """Render Releases without a cluster.

    Reads the source of each Release in the files and prints the objects in the order of apply. A ConfigMap or Secret
    that a Release refers to is taken from the files too. A kind that Kubernetes does not have itself keeps the
    namespace that is written. Secret values are printed as they are.
    """
    from convoy.cli.local_files import read_resources
    from convoy.cli.local_render import render_release

    resources = read_resources(files)
    manifests = []
    for release in resources.releases():
        rendered = render_release(release, resources, source=source)
        for warning in rendered.warnings:
            note(f"warning: {release.metadata.name}: {warning}")
        for hook in rendered.hooks:
            note(f"note: {release.metadata.name}: {hook} is a hook of the chart and no object of the Release")
        for wave, objects in rendered.waves():
            for each in objects:
                manifests.append(each.manifest)
                if output is ObjectFormat.NAME:
                    say(str(each))
                elif output is ObjectFormat.YAML:
                    say(f"---\n# wave {wave}, {each.origin}")
                    print_tree(each.manifest, Data.YAML)
    if output is ObjectFormat.JSON:
        print_tree({"apiVersion": "v1", "kind": "List", "items": manifests}, Data.JSON)


@click.command()
@_files
@_source
@data_output
def validate(files: tuple[Path, ...], source: Path | None, output: Data | None) -> int:
    """Check Releases and Clusters in files.

    The manifests that a Release holds, or that --source gives, are checked too; git is not fetched. Prints each
    problem with file and line. Ends with 0 if there is none, with 1 if there is one, above 1 if a file cannot be
    opened.
    """
    from convoy.cli.validation import validate_files

    report = validate_files(files, source=source)
    if output is not None:
        print_tree({"problems": [each.tree() for each in report.problems]}, output)
    else:
        for each in report.problems:
            say(str(each))
        if not report.problems:
            say(report.summary)
    return PROBLEMS if report.problems else 0


COMMANDS = (render, validate)
