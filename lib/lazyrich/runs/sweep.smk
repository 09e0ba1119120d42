# The points of one sweep, in its folder: `python -m lazyrich sweep` writes the manifest and starts this.
# The command is the reader's own; it waits for another process at the same point and keeps a finished one.

import json
import sys

from lazyrich.runs.grids import words

with open("sweep.json", encoding="utf-8") as file:
    MANIFEST = json.load(file)


def arguments(wildcards):
    """What this point changes of the preset: a command that a reader could type."""
    point = MANIFEST["points"][wildcards.point]
    texts = MANIFEST["changes"] | words({name: point[name] for name in MANIFEST["grid"]})
    changes = [word for name, text in texts.items() for word in ("-p", f"{name}={text}")]
    memory = ["--memory", MANIFEST["memory"]] if MANIFEST["memory"] else []
    return [MANIFEST["notebook"], "--preset", MANIFEST["preset"], *changes, *memory]


rule points:
    input: expand("points/{point}/run.json", point=MANIFEST["points"])


rule point:
    message: "point {wildcards.point}"
    output: update("points/{point}/run.json")
    log: "logs/{point}.txt"
    params:
        arguments=arguments,
        python=sys.executable,
    shell:
        "{params.python:q} -m lazyrich run {params.arguments:q} --once "
        "--out points/{wildcards.point} > {log} 2>&1"
